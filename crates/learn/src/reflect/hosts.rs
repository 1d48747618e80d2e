//! The hosts and URLs that a text names.
//!
//! A note may name only those that the user or a call of the agent named. Thus no page can direct a
//! model to a host that the session never used.

use std::sync::LazyLock;

use regex::Regex;

/// Matches an address with a scheme, an SSH address, a name under a common top-level domain, or an
/// IPv4 address. File names such as `run.sh` are no hosts.
static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?xi)
        \b [a-z][a-z0-9+.-]{1,15} :// [^\s<>"'`)\]}]+
        | \b [\w.-]+ @ [a-z0-9-]+ (?: \. [a-z0-9-]+ )+ (?: : [^\s<>"'`)\]}]+ )?
        | \b (?: [a-z0-9-]+ \. )+
          (?: com | org | net | io | dev | app | xyz | info | ai | ru | cn | co | cloud | example |
              internal | local | onion )
          \b (?: / [^\s<>"'`)\]}]* )?
        | \b \d{1,3} (?: \. \d{1,3} ){3} \b (?: : \d+ )?
        "#,
    )
    .ok()
});

/// The local machine, which every session may name.
const OWN: [&str; 4] = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];

/// Returns the hosts and URLs of a text in lower case, each once, in their order.
pub(super) fn hosts(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let Some(address) = &*ADDRESS else {
        return found;
    };
    for one in address.find_iter(text) {
        let one = one
            .as_str()
            .trim_end_matches(['.', ',', ';', ':', '!', '?', '/']);
        let one = one.to_lowercase();
        let place = one
            .split_once("://")
            .map_or(one.as_str(), |(_, place)| place);
        let is_own = OWN.iter().any(|own| place.starts_with(own));
        if !is_own && !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// Returns the first host or URL of `text` that none of the allowed texts has as a whole.
pub(super) fn foreign_host(text: &str, allowed: &[&str]) -> Option<String> {
    let is_allowed = |host: &String| allowed.iter().any(|text| contains_host(host, text));
    hosts(text).into_iter().find(|host| !is_allowed(host))
}

/// Returns `true` if a text has the host without a longer name around it.
fn contains_host(host: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    let continues_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.match_indices(host).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + host.len()..].chars();
        let follows = after.next();
        let is_longer = follows == Some('.') && after.next().is_some_and(char::is_alphanumeric);
        !before.is_some_and(|c| continues_name(c) || c == '.')
            && !follows.is_some_and(continues_name)
            && !is_longer
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::url("See https://docs.example.com/a/b.", &["https://docs.example.com/a/b"])]
    #[case::bare("ask evil.io or 10.2.3.4:80", &["evil.io", "10.2.3.4:80"])]
    #[case::ssh("git clone git@github.com:me/x.git", &["git@github.com:me/x.git"])]
    #[case::own_machine("curl http://localhost:3000/x and 127.0.0.1", &[])]
    #[case::files("run setup.sh, main.rs, index.js, a.b.py and v1.2.3", &[])]
    fn addresses_are_found_and_file_names_are_not(#[case] text: &str, #[case] found: &[&str]) {
        assert_eq!(hosts(text), found);
    }

    #[rstest]
    #[case::named("from https://a.dev/x", "get https://a.dev/x now", None)]
    #[case::another_page(
        "from https://a.dev/y",
        "get https://a.dev/x now",
        Some("https://a.dev/y")
    )]
    #[case::part_of_a_longer_name("ask a.dev", "we use a.dev.evil.ru", Some("a.dev"))]
    #[case::below_another("ask a.dev", "we use b.a.dev", Some("a.dev"))]
    #[case::none("nothing", "", None)]
    fn a_host_must_stand_whole_in_what_is_allowed(
        #[case] text: &str,
        #[case] allowed: &str,
        #[case] foreign: Option<&str>,
    ) {
        assert_eq!(foreign_host(text, &[allowed]).as_deref(), foreign);
    }
}
