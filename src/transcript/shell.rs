//! Commands, read as a shell reads them: far enough to tell `rm -rf build` from a commit
//! message that speaks of it, and what a line runs from what it only looks at.

use super::steps::{self, Step};
use crate::clip::head;

/// How much of a command is looked at.
const MAX_COMMAND: usize = 8_000;
/// Programs whose `-c` holds a command.
pub(crate) const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];
const MAX_DEPTH: usize = 3;

/// Words of which one stands in the name of every tool that is given a command.
const TOOL_WORDS: &[&str] = &["bash", "shell", "powershell", "terminal", "command"];
/// Programs that look around, or set up nothing but the shell itself.
const LOOKING: &[&str] = &[
    "ls",
    "lsd",
    "cat",
    "bat",
    "head",
    "tail",
    "grep",
    "rg",
    "find",
    "fd",
    "echo",
    "printf",
    "pwd",
    "cd",
    "pushd",
    "popd",
    "which",
    "type",
    "whereis",
    "test",
    "[",
    "[[",
    "stat",
    "file",
    "wc",
    "tree",
    "diff",
    "cmp",
    "sleep",
    "ps",
    "env",
    "printenv",
    "date",
    "id",
    "whoami",
    "uname",
    "du",
    "df",
    "sort",
    "uniq",
    "cut",
    "less",
    "more",
    "man",
    "true",
    "false",
    "sed",
    "awk",
    "jq",
    "tr",
    "column",
    "nl",
    "tac",
    "xxd",
    "hexdump",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "read",
    "export",
    "unset",
    "set",
    "source",
    ".",
    "exit",
    "wait",
    "journalctl",
];
/// What of programs that do more only looks around.
const LOOKING_PARTS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "status",
            "log",
            "diff",
            "show",
            "blame",
            "rev-parse",
            "ls-files",
            "ls-remote",
            "ls-tree",
            "describe",
            "reflog",
            "shortlog",
            "grep",
            "cat-file",
            "merge-base",
            "rev-list",
        ],
    ),
    (
        "gh",
        &["view", "list", "status", "diff", "checks", "search"],
    ),
    (
        "docker",
        &["ps", "logs", "images", "inspect", "info", "stats"],
    ),
    (
        "podman",
        &["ps", "logs", "images", "inspect", "info", "stats"],
    ),
    ("kubectl", &["get", "describe", "logs", "top", "explain"]),
    ("systemctl", &["status", "list-units"]),
    ("cargo", &["tree", "metadata", "search"]),
    ("npm", &["ls", "list", "view", "outdated", "why", "search"]),
    ("pnpm", &["ls", "list", "view", "outdated", "why"]),
    ("pip", &["list", "show", "freeze"]),
    ("go", &["list", "env", "doc"]),
];
/// Arguments with which any program only speaks of itself.
const ABOUT_ITSELF: &[&str] = &["--version", "-V", "--help", "-h", "version", "help"];
/// Programs that start the one that counts.
const STARTERS: &[&str] = &[
    "sudo", "doas", "env", "time", "nohup", "nice", "xargs", "command", "exec", "timeout", "do",
    "then", "else", "if", "elif", "while", "until", "!",
];
/// Options of those whose value is a word of its own.
const STARTER_VALUES: &[&str] = &["-u", "-g", "-n", "-I", "-k", "-s", "-P", "-L", "-d"];
/// Words that begin or end what runs other commands.
const BRACKETS: &[&str] = &["for", "done", "fi", "case", "esac", "function"];

pub(crate) fn runs_commands(tool: &str) -> bool {
    matches!(tool, "Bash" | "PowerShell")
        || tool.split(['_', '-', '.']).any(|part| {
            TOOL_WORDS
                .iter()
                .any(|word| part.eq_ignore_ascii_case(word))
        })
}

#[derive(Debug)]
pub(crate) struct Command(Vec<Step>);

impl Command {
    pub(crate) fn read(line: &str) -> Self {
        let line = head(line, MAX_COMMAND);
        Self(steps::read(line, MAX_DEPTH))
    }

    /// The single commands, in order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter()
    }
}

impl Step {
    /// The name of the program that counts, and its arguments.
    pub(crate) fn program(&self) -> Option<(&str, &[String])> {
        let is_setting = |word: &str| word.contains('=') && !word.starts_with('-');
        let mut at = 0;
        loop {
            let word = self.words.get(at)?;
            let name = base_name(word);
            at += 1;
            if BRACKETS.contains(&name) {
                return None;
            }
            if is_setting(word) {
                continue;
            }
            if !STARTERS.contains(&name) {
                return Some((name, &self.words[at..]));
            }
            while let Some(option) = self.words.get(at) {
                if name == "command" && option.eq_ignore_ascii_case("-v") {
                    return None;
                }
                let is_value = option.starts_with(|c: char| c.is_ascii_digit());
                if !option.starts_with('-') && !is_value && !is_setting(option) {
                    break;
                }
                at += 1 + usize::from(STARTER_VALUES.contains(&option.as_str()));
            }
        }
    }

    /// Tells whether it changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        let Some((name, arguments)) = self.program() else {
            return !self.writes;
        };
        let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(&&**word));
        let of_part = LOOKING_PARTS
            .iter()
            .find(|(program, _)| *program == name)
            .is_some_and(|(_, parts)| {
                let plain = arguments.iter().filter(|word| !word.starts_with('-'));
                plain.take(2).any(|word| parts.contains(&&**word))
            });
        let of_itself =
            arguments.len() == 1 && arguments.iter().all(|word| ABOUT_ITSELF.contains(&&**word));
        let edits = match name {
            "find" | "fd" => has(&["-delete", "-exec", "-execdir", "-x", "-X"]),
            "sed" => arguments.iter().any(|word| word.starts_with("-i")),
            _ => false,
        };
        !self.writes && !edits && (of_part || of_itself || LOOKING.contains(&name))
    }
}

pub(crate) fn base_name(word: &str) -> &str {
    let name = word.trim_end_matches('/').rsplit('/').next();
    let name = name.filter(|name| !name.is_empty()).unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn only_looks(line: &str) -> bool {
        let command = Command::read(line);
        let mut steps = command.steps().peekable();
        steps.peek().is_some() && steps.all(Step::only_looks)
    }

    #[rstest]
    #[case("git status")]
    #[case("cd x && git -C y log --oneline | head -3")]
    #[case("sudo cat x; wc -l < y")]
    #[case("sed -n 1,5p a.rs # then edit")]
    #[case("for f in *.rs; do head -1 \"$f\"; done")]
    #[case("grep -n 'a > b' x")]
    fn what_only_looks_is_known(#[case] line: &str) {
        assert!(only_looks(line), "{line}");
    }

    #[rstest]
    #[case("git push")]
    #[case("env A=1 timeout 60 ./x")]
    #[case("sed -i s/a/b/ x")]
    #[case("echo a > b")]
    #[case("cat > b <<'END'\nx\nEND")]
    #[case("find . -name x -delete")]
    #[case("for f in *.rs; do ./x \"$f\"; done")]
    #[case("")]
    fn what_may_change_something_is_known(#[case] line: &str) {
        assert!(!only_looks(line), "{line}");
    }

    #[rstest]
    #[case("Bash", true)]
    #[case("mcp__term__run_command", true)]
    #[case("SlashCommand", false)]
    #[case("Read", false)]
    fn tools_that_run_commands_are_known(#[case] tool: &str, #[case] want: bool) {
        assert_eq!(runs_commands(tool), want);
    }
}
