//! Knows the files that are never read: `.env`, `*.pem` and those of the settings.

/// Patterns of paths, in which `*` matches anything but a slash.
///
/// A pattern without a slash is about the file's name, one with a slash about the end of
/// the path. Letters count alike in either case.
#[derive(Debug, Clone, Default)]
pub struct NeverRead(Vec<PathPattern>);

/// The parts of a pattern between its slashes, last first, in lower case.
type PathPattern = Vec<String>;

impl NeverRead {
    /// Reads the patterns of the settings.
    pub fn new(patterns: &[String]) -> Self {
        let parts = |pattern: &String| {
            let pattern = pattern.trim_start_matches('/').to_lowercase();
            pattern.rsplit('/').map(str::to_owned).collect()
        };
        Self(patterns.iter().map(parts).collect())
    }

    /// Returns true if a path matches one of them.
    pub fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.0.iter().any(|pattern| {
            let mut parts = path.rsplit('/');
            let mut wanted = pattern.iter();
            wanted.all(|wanted| parts.next().is_some_and(|part| matches(wanted, part)))
        })
    }

    /// Returns true if a command names one of them.
    pub fn is_named_in(&self, command: &str) -> bool {
        let ends = |c: char| c.is_whitespace() || "\"'`=;|&<>(){},:@".contains(c);
        !self.0.is_empty()
            && command
                .split(ends)
                .any(|word| !word.is_empty() && self.has(word))
    }
}

/// Returns true if a name in any case matches a pattern with `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            return false;
        };
        rest = behind;
    }
    rest.ends_with(last)
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
