//! The commands, paths, flags and hosts that a text names, and whether another text has them.
//!
//! A name is what stands in backticks, and in prose what looks like a path, a file, a flag, a
//! host or a command that fetches or runs something. Placeholders in it (`<file>`, `*`, `NAME`)
//! stand for anything, and so does what is left open (`hooks_..._handlers.go`).

use std::sync::LazyLock;

use regex::Regex;

use crate::transcript::english::pattern;
use crate::transcript::words::ENDS_A_COMMAND;

/// A command in prose: what fetches or runs, and what it is told.
static COMMAND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?x)\b(?: (?:npx|bunx|uvx|curl|wget|ssh|scp|sudo)
        | (?:npm|pnpm|yarn|bun|deno|pip3?|pipx|uv|poetry|cargo|go|rustup|brew|apt|apt-get|dnf|yum|apk|
             pacman|choco|winget|gem|composer|dotnet|helm|git|gh|docker|podman|kubectl|terraform)
          \ (?:i|ci|install|add|get|run|exec|dlx|x|apply|pull|push|clone|remote|config|publish|
             require|tap|update|upgrade|tool|-[A-Za-z-]+) )
        (?:\ [^\s,;()`]+)+",
    )
});

/// Ends of hosts, which are known as such in any case.
const TOP_DOMAINS: [&str; 18] = [
    "com", "org", "net", "io", "dev", "sh", "co", "ru", "cn", "app", "xyz", "info", "me", "ai",
    "example", "test", "local", "internal",
];

/// After such a word stands what is run.
const RUNS: [&str; 9] = [
    "run", "runs", "running", "execute", "launch", "invoke", "start", "install", "via",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameInText {
    pub(crate) text: String,
    /// Its words in lower case, without placeholders.
    words: Vec<String>,
    /// Whether it is an identifier of code: a function, a type, a key.
    pub(crate) is_identifier: bool,
}

impl NameInText {
    fn of(text: &str) -> Option<Self> {
        Self::read(text, false)
    }

    /// Reads a name; what is run is no identifier and stands for nothing else.
    fn read(text: &str, is_run: bool) -> Option<Self> {
        let words = without_brackets(text);
        let words = words.split_whitespace();
        let words = words.filter(|word| is_run || !is_capitals(word));
        let words = words.flat_map(|word| word.split("..."));
        let words = words.flat_map(|word| word.split(['*', '…']));
        let bare = words.map(|word| {
            word.trim_matches(|c| "/\"'`,;:()".contains(c))
                .to_lowercase()
        });
        let words: Vec<String> = bare
            .filter(|word| word.contains(char::is_alphanumeric))
            .collect();
        (!words.is_empty()).then(|| Self {
            text: text.to_owned(),
            is_identifier: !is_run && is_identifier(text),
            words,
        })
    }

    /// Tells whether `text`, in lower case, has its words in their order, each as a whole.
    pub(crate) fn stands_in(&self, text: &str) -> bool {
        let mut rest = text;
        self.words.iter().all(|word| match find_whole(rest, word) {
            Some(end) => {
                rest = &rest[end..];
                true
            }
            None => false,
        })
    }
}

/// Returns the names in a text, in the order of their kinds.
pub(crate) fn names(text: &str) -> Vec<NameInText> {
    let parts: Vec<&str> = text.split('`').collect();
    let is_code = |at: usize| at % 2 == 1 && at + 1 < parts.len();
    let (mut code, mut prose) = (Vec::new(), String::new());
    for (at, part) in parts.iter().enumerate() {
        if is_code(at) {
            let before = parts[at - 1].trim_end().rsplit([' ', '\n']).next();
            let before = before.unwrap_or_default().to_lowercase();
            code.extend(NameInText::read(part, RUNS.contains(&before.as_str())));
            prose.push_str(" , ");
        } else {
            prose.push_str(part);
        }
    }
    let between = |c: char| c.is_whitespace() || ",;|()[]".contains(c);
    let words = prose
        .split(between)
        .filter_map(named)
        .filter_map(NameInText::of);
    let commands = commands(&prose);
    let commands = commands.iter();
    let commands = commands.filter_map(|told| NameInText::of(told));
    code.into_iter().chain(words).chain(commands).collect()
}

/// The commands in prose; one ends where the next may begin.
fn commands(prose: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut rest = prose;
    while let Some(found) = COMMAND.as_ref().and_then(|pattern| pattern.find(rest)) {
        let told = found.as_str().split(' ');
        let told = told.take_while(|word| !ENDS_A_COMMAND.has(&word.to_lowercase()));
        let told = told.collect::<Vec<_>>().join(" ");
        let end = found.start() + told.len().max(1);
        rest = rest.get(end..).unwrap_or_default();
        commands.push(told.trim_end_matches(['.', ':', '!', '?']).to_owned());
    }
    commands
}

/// What of a word in prose is a name, if anything is.
fn named(word: &str) -> Option<&str> {
    let word = word.trim_start_matches(|c| "\"'“‘([{<:,;".contains(c));
    let word = word.trim_end_matches(|c| "\"'”’)]}>.,:;!?".contains(c));
    // `*.acme.dev` is a host, `*.rs` any file.
    let word = match word.strip_prefix("*.") {
        Some(host) if host.contains('.') => host,
        _ => word,
    };
    let is_flag = || {
        let bare = word.trim_start_matches(['-', '–', '—']);
        bare.len() < word.len() && bare.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    if let Some((_, address)) = word.split_once("://") {
        return Some(address);
    }
    let is_name = is_flag() || is_path(word) || is_dotted(word) || is_set(word) || is_host(word);
    is_name.then_some(word)
}

/// Tells what is set to a value: `host=acme.dev`, `NODE_ENV=test`.
fn is_set(word: &str) -> bool {
    let is_key = |key: &str| key.starts_with(|c: char| c.is_alphabetic()) && key.len() > 1;
    word.split_once('=')
        .is_some_and(|(key, value)| is_key(key) && value.starts_with(char::is_alphanumeric))
}

/// Tells a host with a port, a tag or a scheme, and an address of numbers: `acme.dev:latest`,
/// `mailto:me@acme.dev`, `2001:db8::9`; a time (`10:30`) is none.
fn is_host(word: &str) -> bool {
    let Some((before, after)) = word.split_once(':') else {
        return false;
    };
    let is_hex = |c: char| c.is_ascii_hexdigit() || c == ':';
    let is_numbers = word.matches(':').count() > 1 && word.chars().all(is_hex);
    let is_part = |part: &str| is_dotted(part) || part.contains('@');
    is_numbers && word.contains("::") || is_part(before) || is_part(after)
}

/// Tells a path from two words with a slash between them: `and/or`, `CI/CD`.
fn is_path(word: &str) -> bool {
    let Some((first, rest)) = word.split_once('/') else {
        return false;
    };
    let bare = |part: &'_ str| {
        part.trim_matches(['"', '\'', '“', '”', '‘', '’'])
            .to_owned()
    };
    let is_plain = |part: &str| bare(part).chars().all(char::is_alphabetic);
    let is_number = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    let is_pair = |is: &dyn Fn(&str) -> bool| is(first) && is(rest);
    first.is_empty() || rest.is_empty() || !(is_pair(&is_plain) || is_pair(&is_number))
}

/// Tells a file, a host or an address from the end of a sentence and from `e.g.`.
fn is_dotted(word: &str) -> bool {
    let (name, port) = word.split_once(':').unwrap_or((word, ""));
    if !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) {
        return name.contains(|c: char| c.is_alphabetic()) || name.contains('.');
    }
    let Some((first, last)) = word.trim_start_matches('.').rsplit_once('.') else {
        // `.env`
        return word.len() > 2 && word.starts_with('.') && !word.starts_with("..");
    };
    let is_part = |c: char| c.is_alphanumeric() || "._-@".contains(c);
    let is_address =
        || word.chars().all(|c| c.is_ascii_digit() || c == '.') && word.matches('.').count() == 3;
    // `Node.js` is a name that all know.
    let is_product = last == "js" && first.starts_with(char::is_uppercase);
    let is_top = TOP_DOMAINS.contains(&last.to_lowercase().as_str());
    let is_one_case = last.chars().all(char::is_lowercase)
        || last.chars().all(char::is_uppercase)
        || first.contains('.')
        || is_top;
    let is_name =
        (first.len() > 1 || is_top) && last.len() > 1 && last.chars().all(char::is_alphanumeric);
    is_address()
        || (word.chars().all(is_part)
            && is_name
            && is_one_case
            && first.contains(char::is_alphabetic)
            && last.contains(char::is_alphabetic)
            && !is_product)
}

/// Tells whether a word stands for anything, or is a variable: `NAME`, `NODE_ENV`.
fn is_capitals(word: &str) -> bool {
    word.len() > 1
        && word
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Tells whether a text is code that is no command, path, flag or host: an identifier, the name
/// of a header or a trailer (`Entire-Checkpoint`), or a key with its value (`"local_dev": true`).
fn is_identifier(text: &str) -> bool {
    let bare = |word: &'_ str| word.trim_matches(|c| "\"',:{}[]".contains(c)).to_owned();
    let words: Vec<String> = text.split_whitespace().map(bare).collect();
    let is_value = |word: &str| {
        matches!(word, "true" | "false" | "null") || word.chars().all(|c| c.is_ascii_digit())
    };
    match words.as_slice() {
        [] => false,
        [one] => is_word_of_code(one),
        [key, values @ ..] => is_word_of_code(key) && values.iter().all(|word| is_value(word)),
    }
}

fn is_word_of_code(text: &str) -> bool {
    // A dot alone may be a host's or a file's; a call of a function is none.
    let is_call = text.split_once('(').is_some_and(|(called, given)| {
        let given = given.split(')').next().unwrap_or_default();
        !called.is_empty() && !given.split(',').any(|one| is_dotted(one.trim()))
    });
    // `strategy.SessionState`
    let is_member = text.rsplit_once('.').is_some_and(|(package, member)| {
        let is_top = TOP_DOMAINS.contains(&member.to_lowercase().as_str());
        !is_top && !package.contains(['.', '/']) && member.starts_with(|c: char| c.is_uppercase())
    });
    let is_dot = |c: char| (is_call || is_member) && c == '.';
    let is_part = |c: char| c.is_alphanumeric() || "_:()".contains(c) || is_dot(c);
    let has_hump = |text: &str| {
        text.chars()
            .zip(text.chars().skip(1))
            .any(|(a, b)| a.is_lowercase() && b.is_uppercase())
    };
    let is_header = || {
        let mut parts = text.split('-');
        let is_capitalized = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_uppercase())
                && part.chars().all(|c| c.is_ascii_alphanumeric())
        };
        text.contains('-') && parts.all(is_capitalized)
    };
    let is_plain = !is_host(text)
        && text.chars().all(is_part)
        && (is_member
            || text.contains('_')
            || text.contains("::")
            || text.contains('(')
            || has_hump(text));
    is_plain || is_header()
}

/// Returns a text without `<what stands in pointed brackets>`, but for addresses.
fn without_brackets(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once('<') {
        out.push_str(before);
        out.push(' ');
        let (inside, after) = inner.split_once('>').unwrap_or((inner, ""));
        if inside.contains([':', '@']) {
            out.push_str(inside);
        }
        rest = if inner.contains('>') { after } else { inner };
    }
    out + rest
}

/// Returns where a word ends in a text in which it stands as a whole.
fn find_whole(text: &str, word: &str) -> Option<usize> {
    // A part of a host is another host; a file in a folder is in the folder.
    let is_dotted = word.contains('.');
    let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).find_map(|(at, _)| {
        let end = at + word.len();
        let (before, after) = (&text[..at], &text[end..]);
        // What followed a placeholder goes on with any word: `*.rs`, `*_test.go`.
        let opens = word.starts_with(['.', '_'])
            || !before.ends_with(|c: char| goes_on(c) || (is_dotted && c == '.'));
        let dot = after
            .strip_prefix('.')
            .is_some_and(|next| next.starts_with(goes_on));
        let is_open = word.ends_with(['_', '-']);
        let is_longer = !is_open && after.starts_with(goes_on) || (is_dotted && dot);
        (opens && !is_longer).then_some(end)
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::code("Run `make proto` before `cargo build`.", &["make proto", "cargo build"])]
    #[case::flag("Pass --no-cache and -x.", &["--no-cache", "-x"])]
    #[case::paths("Edit src/queue.rs, ./x and ~/.ssh/config.", &["src/queue.rs", "./x", "~/.ssh/config"])]
    #[case::files("The settings are in Cargo.toml and .env", &["Cargo.toml", ".env"])]
    #[case::hosts("See https://docs.acme.dev/v2, db.acme.dev or 10.0.0.7 and localhost:3000.", &["docs.acme.dev/v2", "db.acme.dev", "10.0.0.7", "localhost:3000"])]
    #[case::odd_hosts("See 10.0.0.7:8080, x.co, evil.Com, acme.рф, acme.dev:latest and 2001:db8::9", &["10.0.0.7:8080", "x.co", "evil.Com", "acme.рф", "acme.dev:latest", "2001:db8::9"])]
    #[case::in_signs("Ask [us](acme.dev),mailto:me@acme.dev,host=acme.dev,NODE_ENV=test", &["acme.dev", "mailto:me@acme.dev", "host=acme.dev", "NODE_ENV=test"])]
    #[case::dashes("Push with –no-verify at 10:30", &["–no-verify"])]
    #[case::other_managers("Then pipx install left, npm i padx or go get acme", &["pipx install left", "npm i padx", "go get acme"])]
    #[case::an_address_in_brackets("`logs <https://acme.dev/up>`", &["logs <https://acme.dev/up>"])]
    #[case::command("Always npm install left-padx before the tests", &["npm install left-padx"])]
    #[case::pairs_in_quotes("Never \"on\"/\"off\": a git add failing on it was no answer", &["git add"])]
    #[case::none("Use Node.js and/or TCP/IP, e.g. for the CI/CD of v1.2 (24/7); keep e-mail well-formed.", &[])]
    #[case::placeholder("`NODE_ENV` and `<file>` stand for anything", &[])]
    fn a_text_names_what_can_be_run_opened_or_reached(#[case] text: &str, #[case] want: &[&str]) {
        let found = names(text);
        let found: Vec<&str> = found.iter().map(|name| name.text.as_str()).collect();
        assert_eq!(found, want);
    }

    #[rstest]
    #[case::function("`read_file`", true)]
    #[case::what_is_run("run `read_file`", false)]
    #[case::host_in_a_call("`send(acme.dev)`", false)]
    #[case::address("`2001:db8::9`", false)]
    #[case::call("`os.Getwd()`", true)]
    #[case::call_of_its_value("`time.Now().Format`", true)]
    #[case::member("`strategy.SessionState`", true)]
    #[case::host_with_a_capital("`logs.Evil.Example`", false)]
    #[case::host("`evil.test`", false)]
    #[case::substitution("`$(curl evil.test)`", false)]
    #[case::trailer("`Entire-Checkpoint`", true)]
    #[case::key_and_value("`\"local_dev\": true`", true)]
    #[case::command("`cargo test`", false)]
    #[case::command_with_an_identifier("`run_all now`", false)]
    #[case::tool("`left-padx`", false)]
    fn code_is_told_from_what_is_run(#[case] text: &str, #[case] want: bool) {
        assert_eq!(names(text)[0].is_identifier, want);
    }

    #[rstest]
    #[case::with_more(
        "`cargo test --workspace`",
        "cd x && cargo test --no-run --workspace 2>&1",
        true
    )]
    #[case::placeholder("`cargo test -p NAME`", "cargo test -p learn", true)]
    #[case::folder("crates/learn/", "ls crates/learn/src", true)]
    #[case::glob("`src/*.rs`", "wc -l src/a.rs", true)]
    #[case::left_open("`hooks_..._handlers.go`", "cat hooks_gemini_handlers.go", true)]
    #[case::glob_in_a_word("`*_test.go`", "cat cmd/resume_test.go", true)]
    #[case::part_of_a_word("`make test`", "make testing", false)]
    #[case::flag_in_a_word("`cc -all`", "cc install-all", false)]
    #[case::part_of_a_host("acme.dev", "curl evil.acme.dev.test", false)]
    #[case::other_order("`test cargo`", "cargo test", false)]
    #[case::another("`cargo bench`", "cargo test", false)]
    fn a_name_stands_in_a_text_as_a_whole(
        #[case] text: &str,
        #[case] said: &str,
        #[case] want: bool,
    ) {
        assert_eq!(names(text)[0].stands_in(said), want);
    }
}
