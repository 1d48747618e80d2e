//! Files whose content is never to be seen: `.env`, `*.pem`, whatever the settings add.

/// Patterns of paths; `*` stands for anything but a slash.
///
/// A pattern without a slash is about the file's name, one with a slash about the end of
/// the path. Letters count alike in either case.
#[derive(Debug, Clone, Default)]
pub struct NeverRead(Vec<String>);

impl NeverRead {
    /// Takes patterns as the settings have them.
    pub fn new(patterns: &[String]) -> Self {
        Self(patterns.iter().map(|p| p.to_lowercase()).collect())
    }

    /// Tells whether a path is one of them.
    pub fn has(&self, path: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let path = path.trim_end_matches('/').to_lowercase();
        let parts: Vec<&str> = path.split('/').collect();
        self.0.iter().any(|pattern| {
            let wanted: Vec<&str> = pattern.trim_start_matches('/').split('/').collect();
            wanted.len() <= parts.len()
                && wanted
                    .iter()
                    .rev()
                    .zip(parts.iter().rev())
                    .all(|(wanted, part)| matches(wanted.as_bytes(), part.as_bytes()))
        })
    }

    /// Tells whether a command names one of them.
    pub fn is_named_in(&self, command: &str) -> bool {
        let ends = |c: char| c.is_whitespace() || "\"'`=;|&<>(){},:@".contains(c);
        !self.0.is_empty()
            && command
                .split(ends)
                .any(|word| !word.is_empty() && self.has(word))
    }
}

/// Tells whether a name matches a pattern with `*`, in time of their product at most.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p) == Some(&name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (p, n) = (at + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|b| *b == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn usual() -> NeverRead {
        let patterns = [".env", ".env.*", "*.pem", ".aws/credentials"];
        NeverRead::new(&patterns.map(str::to_owned))
    }

    #[rstest]
    #[case::name("/a/b/.env", true)]
    #[case::alone(".env", true)]
    #[case::ending("/a/.env.production", true)]
    #[case::any_name("key.PEM", true)]
    #[case::tail("/home/u/.aws/credentials", true)]
    #[case::other_folder("/home/u/credentials", false)]
    #[case::inside_a_word("/a/my.env", false)]
    #[case::code("src/env.rs", false)]
    fn paths_are_known_by_name_or_tail(#[case] path: &str, #[case] known: bool) {
        assert_eq!(usual().has(path), known);
    }

    #[rstest]
    #[case::cat("cat .env", true)]
    #[case::quoted("grep x \"/a/.env\"|wc", true)]
    #[case::redirect("wc <config/key.pem", true)]
    #[case::plain("cargo test --features env", false)]
    fn a_command_that_names_one_is_known(#[case] command: &str, #[case] known: bool) {
        assert_eq!(usual().is_named_in(command), known);
    }
}
