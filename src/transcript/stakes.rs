//! What was at stake in a session: signs by which it is judged worth a reflection.
//!
//! Only counts leave this file, no text. Commands are read as a shell reads them, far enough
//! to tell `rm -rf build` from a commit message that speaks of it.

use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::facts::Facts;

/// How much of a prompt is looked at; what follows is pasted.
const LOOKED_AT: usize = 2_000;
/// How much of a command is looked at.
const MAX_COMMAND: usize = 8_000;
/// How many prompts make the beginning, and the end, of a session.
const ENDS: usize = 3;
/// Fewer different words at the end say nothing of where a session went.
const FEWEST_WORDS: usize = 10;
/// Shorter words are in every prompt.
const SHORTEST_WORD: usize = 3;
/// How deep a command in a command is read.
const MAX_DEPTH: usize = 3;

/// Tools whose input is a command.
const COMMAND_TOOLS: &[&str] = &["Bash", "PowerShell"];

/// Words by which the user calls something critical.
const CRITICAL: &[&str] = &[
    "critical",
    "critically",
    "production",
    "must not",
    "mustn't",
    "must never",
    "irreversible",
    "data loss",
    "outage",
];

/// What cannot be taken back: a program, and words that must stand with it. A word like
/// `-rf` asks for these letters among the short flags.
const DESTRUCTIVE: &[(&str, &[&str])] = &[
    ("rm", &["-rf"]),
    ("rm", &["-Rf"]),
    ("rm", &["--recursive"]),
    ("git", &["push", "-f"]),
    ("git", &["push", "--force"]),
    ("git", &["push", "--force-with-lease"]),
    ("git", &["push", "--delete"]),
    ("git", &["push", "--mirror"]),
    ("git", &["reset", "--hard"]),
    ("git", &["clean", "-f"]),
    ("git", &["branch", "-D"]),
    ("git", &["stash", "clear"]),
    ("git", &["stash", "drop"]),
    ("git", &["filter-branch"]),
    ("git", &["filter-repo"]),
    ("gh", &["repo", "delete"]),
    ("npm", &["unpublish"]),
    ("cargo", &["yank"]),
    ("find", &["-delete"]),
    ("find", &["-exec", "rm"]),
    ("chmod", &["-R", "777"]),
    ("terraform", &["destroy"]),
    ("tofu", &["destroy"]),
    ("pulumi", &["destroy"]),
    ("kubectl", &["delete"]),
    ("helm", &["uninstall"]),
    ("helm", &["delete"]),
    ("docker", &["prune"]),
    ("docker", &["volume", "rm"]),
    ("podman", &["prune"]),
    ("aws", &["s3", "rm", "--recursive"]),
    ("aws", &["s3", "rb"]),
    ("gcloud", &["delete"]),
    ("az", &["delete"]),
    ("redis-cli", &["flushall"]),
    ("redis-cli", &["flushdb"]),
    ("dropdb", &[]),
    ("shred", &[]),
    ("wipefs", &[]),
    ("mkfs", &[]),
    ("shutdown", &[]),
    ("reboot", &[]),
];
/// Programs that are given SQL.
const SQL_CLIENTS: &[&str] = &[
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "sqlcmd",
    "duckdb",
    "clickhouse-client",
    "cockroach",
];
/// SQL that cannot be taken back; `delete from` only without `where`.
const DESTRUCTIVE_SQL: &[&str] = &[
    "drop table",
    "drop database",
    "drop schema",
    "truncate ",
    "delete from",
];
/// Programs that start the one that counts.
const STARTERS: &[&str] = &[
    "sudo", "doas", "env", "time", "nohup", "nice", "xargs", "command", "exec", "timeout",
];
/// Programs whose `-c` holds a command.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];
/// Programs that record a step for good.
const RECORDERS: &[&str] = &["git", "jj", "hg", "svn"];

/// Signs that a session matters beyond its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stakes {
    /// Commands that ran and cannot be taken back.
    pub destructive: u64,
    /// Commits that were made.
    pub commits: u64,
    /// Prompts that call something critical or say how things are always to be done.
    pub critical: u64,
    /// The share of the words of the last three prompts that the first three did not have; 0
    /// while that says nothing.
    pub drift: f64,
}

/// Collects [`Stakes`] from prompts and calls.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    stakes: Stakes,
    prompts: usize,
    first: HashSet<String>,
    last: VecDeque<HashSet<String>>,
}

impl Watch {
    /// Takes a prompt; `instructs` when it says how things are to be done from now on.
    pub(crate) fn prompt(&mut self, text: &str, instructs: bool) {
        let text = start_of(text, LOOKED_AT).to_lowercase();
        self.stakes.critical += u64::from(instructs || CRITICAL.iter().any(|w| says(&text, w)));
        let words: HashSet<String> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() >= SHORTEST_WORD)
            .map(str::to_owned)
            .collect();
        if self.prompts < ENDS {
            self.first.extend(words.iter().cloned());
        }
        self.prompts += 1;
        if self.last.len() == ENDS {
            self.last.pop_front();
        }
        self.last.push_back(words);
    }

    /// Takes a call that ran, and whether it ended without an error.
    pub(crate) fn ran(&mut self, tool: &str, input: &str, went_well: bool) {
        if !COMMAND_TOOLS.contains(&tool) {
            return;
        }
        for step in steps(start_of(input, MAX_COMMAND), MAX_DEPTH) {
            self.stakes.destructive += u64::from(is_destructive(&step));
            self.stakes.commits += u64::from(went_well && is_commit(&step));
        }
    }

    /// Puts what was seen into the facts.
    pub(crate) fn finish(self, facts: &mut Facts) {
        facts.stakes = Stakes {
            drift: self.drift(),
            ..self.stakes
        };
    }

    // Prompts are a few thousand words: an f64 holds their number exactly.
    #[allow(clippy::cast_precision_loss)]
    fn drift(&self) -> f64 {
        let last: HashSet<&String> = self.last.iter().flatten().collect();
        if self.prompts <= ENDS || last.len() < FEWEST_WORDS {
            return 0.0;
        }
        let new = last.iter().filter(|word| !self.first.contains(**word));
        new.count() as f64 / last.len() as f64
    }
}

/// Tells whether a text holds a phrase as whole words.
fn says(text: &str, phrase: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric();
    text.match_indices(phrase).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + phrase.len()..].starts_with(is_word)
    })
}

fn start_of(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn is_destructive(step: &[String]) -> bool {
    let Some(at) = program(step) else {
        return false;
    };
    let name = base_name(&step[at]);
    let arguments = &step[at + 1..];
    if SQL_CLIENTS.contains(&name) {
        let text = arguments.join(" ").to_lowercase();
        return DESTRUCTIVE_SQL
            .iter()
            .any(|sql| text.contains(sql) && (*sql != "delete from" || !text.contains(" where ")));
    }
    if name == "dd" {
        return arguments.iter().any(|word| word.starts_with("of=/dev/"));
    }
    let name = if name.starts_with("mkfs.") {
        "mkfs"
    } else {
        name
    };
    DESTRUCTIVE
        .iter()
        .filter(|(program, _)| *program == name)
        .any(|(_, words)| words.iter().all(|word| stands_in(word, arguments)))
}

/// Where in a step the program stands that counts.
fn program(step: &[String]) -> Option<usize> {
    let is_setting = |word: &String| word.contains('=') && !word.starts_with('-');
    let first = step.iter().position(|word| !is_setting(word))?;
    if !STARTERS.contains(&base_name(&step[first])) {
        return Some(first);
    }
    let known = |word: &String| {
        let name = base_name(word);
        name.starts_with("mkfs.")
            || ["dd", "psql", "mysql", "git"].contains(&name)
            || DESTRUCTIVE.iter().any(|(program, _)| *program == name)
    };
    step.iter()
        .skip(first + 1)
        .position(known)
        .map(|at| first + 1 + at)
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn stands_in(wanted: &str, arguments: &[String]) -> bool {
    let short = wanted
        .strip_prefix('-')
        .filter(|flags| flags.len() <= 2 && !flags.starts_with('-'));
    if let Some(flags) = short {
        let given = arguments
            .iter()
            .filter_map(|word| word.strip_prefix('-'))
            .filter(|word| !word.starts_with('-'));
        let given: String = given.flat_map(str::chars).collect();
        return flags.chars().all(|flag| given.contains(flag));
    }
    arguments
        .iter()
        .any(|word| word.eq_ignore_ascii_case(wanted))
}

fn is_commit(step: &[String]) -> bool {
    let Some(at) = program(step) else {
        return false;
    };
    let mut arguments = step[at + 1..].iter();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "-C" | "-c" => _ = arguments.next(),
            flag if flag.starts_with('-') => {}
            word => return word == "commit" && RECORDERS.contains(&base_name(&step[at])),
        }
    }
    false
}

/// The single commands of a command line, each as its words without their quotes.
fn steps(line: &str, depth: usize) -> Vec<Vec<String>> {
    let mut steps = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                let next = chars.next().filter(|next| *next != '\n');
                word.get_or_insert_default().extend(next);
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ';' | '&' | '|' | '\n' | '(' | ')' | '{' | '}' | '`') => {
                push(&mut steps, word.take());
                steps.push(Vec::new());
            }
            (None, c) if c.is_whitespace() => push(&mut steps, word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    push(&mut steps, word);
    steps.retain(|step| !step.is_empty());
    if depth > 0 {
        let inner: Vec<_> = steps
            .iter()
            .filter_map(|step| inner_command(step))
            .flat_map(|line| self::steps(line, depth - 1))
            .collect();
        steps.extend(inner);
    }
    steps
}

fn push(steps: &mut [Vec<String>], word: Option<String>) {
    if let (Some(step), Some(word)) = (steps.last_mut(), word) {
        step.push(word);
    }
}

/// The command that a shell is given: `bash -c '…'`.
fn inner_command(step: &[String]) -> Option<&str> {
    let shell = step
        .iter()
        .position(|word| SHELLS.contains(&base_name(word)))?;
    let is_command_flag =
        |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let flag = step.iter().skip(shell).position(is_command_flag)?;
    step.get(shell + flag + 1).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn after(tool: &str, command: &str) -> Stakes {
        let mut watch = Watch::default();
        watch.ran(tool, command, true);
        let mut facts = Facts::default();
        watch.finish(&mut facts);
        facts.stakes
    }

    #[rstest]
    #[case("rm -rf build")]
    #[case("rm -r -f build")]
    #[case("cd x && sudo rm -fr ./y")]
    #[case("/bin/rm --recursive x")]
    #[case("FOO=1 git push origin main --force")]
    #[case("git push -uf origin main")]
    #[case("git -C sub reset --hard HEAD~3")]
    #[case("git branch -D old")]
    #[case("git clean -xdf")]
    #[case("psql -c 'DROP TABLE users'")]
    #[case("sudo -u postgres psql app -c \"delete from users\"")]
    #[case("bash -lc \"cd /srv; terraform destroy -auto-approve\"")]
    #[case("find . -name '*.bak' -delete")]
    #[case("ls | xargs rm -rf")]
    #[case("dd if=image of=/dev/sda")]
    #[case("mkfs.ext4 /dev/sdb1")]
    #[case("kubectl delete pod x")]
    fn what_cannot_be_taken_back_is_known(#[case] command: &str) {
        assert_eq!(after("Bash", command).destructive, 1, "{command}");
    }

    #[rstest]
    #[case("rm file.txt")]
    #[case("rm -f file.txt")]
    #[case("git push origin main")]
    #[case("git commit -m 'never rm -rf again'")]
    #[case("echo \"git reset --hard\"")]
    #[case("git branch -d merged")]
    #[case("psql -c 'delete from users where id = 1'")]
    #[case("grep -rn 'DROP TABLE' migrations")]
    #[case("kubectl get pods")]
    #[case("dd if=a of=b")]
    #[case("")]
    fn what_only_looks_like_it_is_not(#[case] command: &str) {
        assert_eq!(after("Bash", command).destructive, 0, "{command}");
    }

    #[test]
    fn only_commands_count() {
        assert_eq!(after("Write", "rm -rf build").destructive, 0);
    }

    #[rstest]
    #[case("git add -A && git commit -m 'x: y'", 1)]
    #[case("git -C sub -c user.name=x commit --amend", 1)]
    #[case("git log --grep commit", 0)]
    #[case("git show commit", 0)]
    #[case("echo git commit", 0)]
    fn commits_are_counted(#[case] command: &str, #[case] commits: u64) {
        assert_eq!(after("Bash", command).commits, commits, "{command}");
    }

    #[test]
    fn a_failed_commit_is_none() {
        let mut watch = Watch::default();
        watch.ran("Bash", "git commit -m x", false);
        assert_eq!(watch.stakes.commits, 0);
    }

    #[rstest]
    #[case("This is CRITICAL: keep the ids", false, 1)]
    #[case("it runs in production", false, 1)]
    #[case("the script must not delete users", false, 1)]
    #[case("use tabs", true, 1)]
    #[case("reproduction of the bug", false, 0)]
    #[case("hello", false, 0)]
    fn the_users_words_call_something_critical(
        #[case] text: &str,
        #[case] instructs: bool,
        #[case] count: u64,
    ) {
        let mut watch = Watch::default();
        watch.prompt(text, instructs);
        assert_eq!(watch.stakes.critical, count, "{text}");
    }

    #[rstest]
    #[case::too_short(&["add types to the parser module", "now the tests"], false)]
    #[case::the_same_thing(&[
        "write the parser for the settings file and its errors",
        "the parser should tell the line of errors in the settings file",
        "write tests for the parser and the errors",
        "parser tests: settings file with errors in the first line, write that",
    ], false)]
    #[case::something_else(&[
        "write the parser for the settings file",
        "tell the line of errors",
        "write tests",
        "deploy website onto fresh server with nginx certificates",
        "logo colours look strange inside header, please brighten",
        "book flights from berlin towards lisbon tomorrow morning",
    ], true)]
    #[case::a_few_words(&["write the parser", "and tests", "good", "yes", "go on", "thanks"], false)]
    fn a_session_that_went_elsewhere_has_drifted(#[case] prompts: &[&str], #[case] drifted: bool) {
        let mut watch = Watch::default();
        for prompt in prompts {
            watch.prompt(prompt, false);
        }
        assert_eq!(watch.drift() > 0.9, drifted, "{}", watch.drift());
    }

    proptest::proptest! {
        #[test]
        fn any_command_is_read(line in "[a-z\"'\\\\;|&(){}` \n-]{0,200}") {
            let mut watch = Watch::default();
            watch.ran("Bash", &line, true);
            watch.prompt(&line, false);
        }
    }
}
