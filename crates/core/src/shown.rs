//! Values formatted for the user, from any source.

use std::borrow::Cow;

/// Makes text from outside safe to print: on one line, without control or bidi characters.
pub fn plain(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| !c.is_control() && !is_bidi(*c))
        .collect()
}

/// Makes one line from outside safe to print; blanks and tabs stay.
pub fn one_line(line: &str) -> String {
    line.chars()
        .filter(|c| *c == '\t' || !c.is_control() && !is_bidi(*c))
        .collect()
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

/// These are Unicode's default ignorables, except variation selectors, and a blank that programs do
/// not treat as white space.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Removes also terminal escapes, bidi controls and invisible characters, but no newlines and tabs.
pub fn without_controls(text: &str) -> Cow<'_, str> {
    let bad = |c: char| match c {
        '\n' | '\t' => false,
        '\u{200B}'
        | '\u{200E}'
        | '\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2066}'..='\u{2069}'
        | '\u{FEFF}'
        | '\u{E0000}'..='\u{E007F}' => true,
        c => c.is_control(),
    };
    // Only these bytes can start one of them.
    let may_be_bad = |b: u8| {
        (b < b' ' && b != b'\n' && b != b'\t') || matches!(b, 0x7F | 0xC2 | 0xE2 | 0xEF | 0xF3)
    };
    let mut may_be = (0..).zip(text.bytes()).filter(|(_, b)| may_be_bad(*b));
    if !may_be.any(|(at, _)| text[at..].starts_with(bad)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            chars.next_if(|c| matches!(c, '@'..='~'));
        } else if !bad(c) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns for example `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns for example `1 key point` and `2 key points`.
pub fn counted(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_several() {
        let told = [0, 1, 2].map(|number| counted(number, "job"));
        assert_eq!(told, ["0 jobs", "1 job", "2 jobs"]);
    }

    #[test]
    fn thousands_are_set_apart() {
        let numbers = [0, 999, 1_000, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
    }
}
