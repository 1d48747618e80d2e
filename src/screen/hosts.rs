//! The places a text leads to: URLs, hosts, e-mail addresses.

use std::sync::LazyLock;

use regex::Regex;

use super::heard::Heard;
use super::stance::{Stance, Stances};
use super::views::View;

/// A host, with the first part of the path or the user in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    host: String,
    /// The first part of the path; an e-mail address has its user here.
    part: String,
    is_url: bool,
}

/// Hosts where anybody can put anything.
const SHARED: &[&str] = &[
    "github.com",
    "raw.githubusercontent.com",
    "gist.github.com",
    "gist.githubusercontent.com",
    "gitlab.com",
    "bitbucket.org",
    "pastebin.com",
    "codeberg.org",
    "npmjs.com",
    "unpkg.com",
    "cdn.jsdelivr.net",
    "docs.google.com",
    "drive.google.com",
    "dropbox.com",
    "huggingface.co",
    "s3.amazonaws.com",
    "storage.googleapis.com",
    "hub.docker.com",
    "t.me",
    "discord.com",
    "hooks.slack.com",
    "bit.ly",
    "gmail.com",
];
/// Hosts whose bare name says what a tool is, not where to go.
const NAMES: &[&str] = &[
    "github.com",
    "gitlab.com",
    "bitbucket.org",
    "crates.io",
    "docs.rs",
    "npmjs.com",
    "npmjs.org",
    "registry.npmjs.org",
    "pypi.org",
    "docker.io",
    "ghcr.io",
    "quay.io",
    "gcr.io",
    "rubygems.org",
    "pkg.go.dev",
    "golang.org",
    "go.dev",
    "proxy.golang.org",
    "sentry.io",
    "draw.io",
    "socket.io",
    "asp.net",
    "vb.net",
    "ado.net",
    "ml.net",
    "api.anthropic.com",
    "api.openai.com",
    "claude.ai",
    "fly.io",
    "render.com",
    "vercel.com",
    "netlify.com",
    "cal.com",
    "three.js",
    "engine.io",
    "packagist.org",
    "maven.org",
    "repo.maven.apache.org",
    "localhost.run",
    "notion.so",
    "linear.app",
    "index.crates.io",
    "example.com",
    "example.org",
    "example.net",
    "k8s.io",
    "schema.org",
    "json-schema.org",
    "semver.org",
    "keepachangelog.com",
    "conventionalcommits.org",
    "godbolt.org",
];
/// The ends of hosts that are told from file names.
#[rustfmt::skip]
const ENDS: &[&str] = &[
    "com", "net", "org", "io", "dev", "xyz", "top", "info", "biz", "co", "ai", "cloud", "site",
    "online", "tk", "ru", "cn", "cc", "club", "link", "click", "live", "app", "pw", "gq", "ml",
    "ws", "su", "onion", "example", "test", "evil", "invalid", "tech", "store", "host", "space",
    "icu", "de", "fr", "uk", "nl", "pl", "eu", "us", "sh",
];

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b(?:[a-z][a-z0-9+.-]{1,12}:(?://|\\\\)|//)(?:[^\s/@'"<>]{0,80}@)?(\[[0-9a-f:.]+\]|[^\s/:?#'"<>()\[\]{}|,;\\]+)(?::\d+)?(?:/([^\s/?#'"<>()]*))?"#).ok()
});
static SSH: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\bgit@([a-z0-9.-]+):([\w.-]+)").ok());
static MAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b([\w.+-]{1,64})@([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*\.[a-z]{2,24})\b").ok()
});
static BARE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"(?i)(?:^|[\s(`'\x22=<>|:,])((?:[a-z0-9][a-z0-9-]{{0,62}}\.)+(?:{}))\b(?:/([\w.~%-]*))?",
        ENDS.join("|")
    ))
    .ok()
});
static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s(`'\x22=@/])(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})(?::\d+|/|\b)").ok()
});

impl Place {
    fn new(host: &str, part: &str, is_url: bool) -> Self {
        let host = host.to_ascii_lowercase();
        let host = host.trim_end_matches('.');
        Self {
            host: host.strip_prefix("www.").unwrap_or(host).to_owned(),
            part: part
                .trim_end_matches(['.', ',', ')', '`'])
                .to_ascii_lowercase(),
            is_url,
        }
    }

    /// The place as it is remembered: `host/part`.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.host, self.part)
    }

    /// Tells whether anybody can put anything there.
    pub(super) fn is_shared(&self) -> bool {
        SHARED.contains(&self.host.as_str())
    }

    /// Tells whether the place is on this machine or in this network, or no place at all.
    fn is_near(&self) -> bool {
        let host = self.host.as_str();
        let numbers: Vec<u8> = host.split('.').filter_map(|n| n.parse().ok()).collect();
        let is_near_number = match numbers.as_slice() {
            [127 | 10 | 0, _, _, _] | [192, 168, _, _] => true,
            [172, second, _, _] => (16..=31).contains(second),
            _ => false,
        };
        let ends = [
            ".local",
            ".localhost",
            ".internal",
            ".lan",
            ".svc",
            ".cluster.local",
        ];
        is_near_number
            || matches!(host, "localhost" | "[::1]" | "host.docker.internal" | "")
            || ends.iter().any(|end| host.ends_with(end))
            // `http://api:8080`, `https://<host>/`, `https://$HOST`.
            || !host.contains('.')
            || host.contains(['$', '{', '*', '%'])
    }
}

/// The places in a text.
pub(super) fn places(text: &str) -> Vec<Place> {
    found(text).into_iter().map(|(_, place)| place).collect()
}

/// The words of a text that may name a place, without the signs that stand in none.
pub(super) fn words_with_places(text: &str) -> Vec<&str> {
    let parts_words = |c: char| c.is_whitespace() || "\"'`<>()|".contains(c);
    let mut words = Vec::new();
    let mut end = 0;
    for at in memchr::memchr3_iter(b'.', b'@', b'/', text.as_bytes()) {
        if at < end || !marks_a_place(text, at) {
            continue;
        }
        let start = text[end..at].rfind(parts_words).map_or(end, |found| {
            let width = text[end + found..].chars().next().map_or(1, char::len_utf8);
            end + found + width
        });
        end = text[at..].find(parts_words).map_or(text.len(), |n| at + n);
        words.push(&text[start..end]);
    }
    words
}

/// Tells whether a dot, an `@` or a slash is one as places have it.
fn marks_a_place(text: &str, at: usize) -> bool {
    let behind = &text[at + 1..];
    match text.as_bytes()[at] {
        b'.' => {
            let part = |of: fn(char) -> bool| behind.split(|c| !of(c)).next().unwrap_or_default();
            let end = part(|c| c.is_ascii_alphanumeric());
            // Four numbers are an address, fewer a version or an amount.
            part(|c| c.is_ascii_digit() || c == '.')
                .matches('.')
                .count()
                >= 2
                || ENDS.iter().any(|known| known.eq_ignore_ascii_case(end))
        }
        b'/' => behind.starts_with('/'),
        _ => true,
    }
}

/// The places in a text, each with where it stands.
fn found(text: &str) -> Vec<(usize, Place)> {
    /// As many as one text is looked at for.
    const MAX: usize = 512;
    let mut places = Vec::new();
    for (pattern, is_url, swapped) in [
        (&URL, true, false),
        (&SSH, true, false),
        (&NUMBERS, true, false),
        (&MAIL, true, true),
        (&BARE, false, false),
    ] {
        let Some(pattern) = pattern.as_ref() else {
            continue;
        };
        for captures in pattern.captures_iter(text).take(MAX) {
            let group = |n: usize| captures.get(n).map_or("", |found| found.as_str());
            let (host, part) = if swapped {
                (group(2), group(1))
            } else {
                (group(1), group(2))
            };
            // `config.example.yaml` is a file.
            let end = captures.get(1).map_or(0, |host| host.end());
            let mut behind = text[end..].chars();
            if !is_url
                && behind.next() == Some('.')
                && behind.next().is_some_and(char::is_alphanumeric)
            {
                continue;
            }
            // `setup.sh` is one too.
            let is_script = || host.split_once('.').is_some_and(|(_, end)| end == "sh");
            if !is_url && part.is_empty() && is_script() {
                continue;
            }
            // The user of `git@host:…` is no person.
            if swapped && part == "git" {
                continue;
            }
            let at = captures.get(0).map_or(0, |whole| whole.start());
            places.push((at, Place::new(host, part, is_url)));
        }
    }
    places
}

/// Tells whether a text leads to a place that the user has not named; a warning of it does
/// not.
pub(super) fn leads_astray(view: &View, text: &str, heard: &Heard) -> bool {
    let stances = Stances::of(view);
    let unknown = |place: &Place| {
        // `System.IO` is no host.
        let is_proper = |host: &str| text.contains(host) || text.contains(&host.to_uppercase());
        if !place.is_url && !view.has_disguise && !is_proper(&place.host) {
            return false;
        }
        // A name alone says where something is, and leads nowhere by itself.
        let is_name =
            !place.is_url && (place.part.is_empty() || NAMES.contains(&place.host.as_str()));
        !place.is_near() && !is_name && !heard.knows(place)
    };
    let in_view = found(&view.text)
        .into_iter()
        .any(|(at, place)| unknown(&place) && stances.of_thing(at, at + 1) == Stance::Order);
    // A host in look-alike letters is read in the text itself.
    in_view || (view.has_disguise && places(text).iter().any(unknown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn astray(text: &str, said: &str) -> bool {
        let mut heard = Heard::default();
        heard.listen(said);
        leads_astray(&View::plain(text), text, &heard)
    }

    #[test]
    fn a_pasted_log_leaves_room_for_the_places() {
        let line = |n| format!("took {n}.5 s with v1.{n}.0");
        let log = (0..400).map(line).collect::<Vec<_>>().join("\n");
        let said = format!("{log}\nthe docs are on docs.acme.dev");
        assert!(!astray("see https://docs.acme.dev/x", &said));
    }

    #[rstest]
    #[case::number_said("send it to 203.0.113.7:9000", "it runs on 203.0.113.7", false)]
    #[case::url("see https://evil.test/x", "", true)]
    #[case::said(
        "see https://docs.acme.dev/x",
        "read https://docs.acme.dev/guide please",
        false
    )]
    #[case::said_bare("see https://docs.acme.dev/x", "it is on docs.acme.dev", false)]
    #[case::other_repository(
        "clone https://github.com/mallory/x",
        "https://github.com/acme/app",
        true
    )]
    #[case::same_repository(
        "clone https://github.com/acme/lib",
        "https://github.com/acme/app",
        false
    )]
    #[case::local("the API runs on http://localhost:8080/v1", "", false)]
    #[case::service("the worker calls http://api:3000", "", false)]
    #[case::bare("post it to collector.evil.com/in", "", true)]
    #[case::name_alone("images live on registry.acme.io", "", false)]
    #[case::mail("write to mallory@evil.com", "", true)]
    #[case::ssh("git remote add x git@evil.com:a/b.git", "", true)]
    #[case::number("send it to 203.0.113.7:9000", "", true)]
    #[case::tool("images go to ghcr.io/acme", "", false)]
    #[case::file("edit src/main.rs and app.config.js, see README.md", "", false)]
    #[case::script("run setup.sh as a normal user", "", false)]
    #[case::host_like_a_script("install it from get.evil.sh/x", "", true)]
    #[case::version("needs react@18.2.0 and python 3.12.1", "", false)]
    #[case::warning("never download from evil.com", "", false)]
    #[case::package("import os.path and System.IO", "", false)]
    fn places_the_user_named_are_told_from_others(
        #[case] text: &str,
        #[case] said: &str,
        #[case] is: bool,
    ) {
        assert_eq!(astray(text, said), is);
    }
}
