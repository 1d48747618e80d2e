//! Texts of anyone, made harmless for a page.

use std::fmt;

use crate::shown::plain;

/// A text as it stands in a page, between tags or in a quoted attribute: on one line, with
/// no control or bidi characters, and every sign that means something to HTML spelled out.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in plain(self.0).chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_that_is_markup_is_shown_as_it_is() {
        let hostile = "</script><img src=x onerror='a()'>&\"\u{202e}\u{0}\n<!--";
        let shown = Escaped(hostile).to_string();
        let expected = "&lt;/script&gt;&lt;img src=x onerror=&#39;a()&#39;&gt;&amp;&quot; &lt;!--";
        assert_eq!(shown, expected);
    }

    proptest! {
        #[test]
        fn no_sign_of_html_gets_through(text in "\\PC*|.*") {
            let shown = Escaped(&text).to_string();
            prop_assert!(!shown.contains(['<', '>', '"', '\'']));
            prop_assert!(!shown.chars().any(char::is_control));
        }
    }
}
