//! Commands, read as a shell reads them: far enough to tell `rm -rf build` from a commit
//! message that speaks of it.

use super::cut::boundary_before;

/// How much of a command is looked at.
const MAX_COMMAND: usize = 8_000;
/// How deep a command in a command is read.
const MAX_DEPTH: usize = 3;

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
/// Programs that look around and change nothing.
const LOOKING: &[&str] = &[
    "ls", "cat", "bat", "head", "tail", "grep", "rg", "find", "fd", "echo", "printf", "pwd", "cd",
    "which", "type", "whereis", "test", "[", "stat", "file", "wc", "tree", "diff", "cmp", "sleep",
    "ps", "env", "printenv", "date", "id", "whoami", "uname", "du", "df", "sort", "uniq", "cut",
    "less", "more", "man", "true", "false",
];
/// Programs that start the one that counts.
const STARTERS: &[&str] = &[
    "sudo", "doas", "env", "time", "nohup", "nice", "xargs", "command", "exec", "timeout",
];
/// Programs whose `-c` holds a command.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];
/// Programs that record a step for good.
const RECORDERS: &[&str] = &["git", "jj", "hg", "svn"];

/// A command line as its single commands.
pub(crate) struct Command(Vec<Vec<String>>);

impl Command {
    /// Reads the start of a command line.
    pub(crate) fn read(line: &str) -> Self {
        Self(steps(
            &line[..boundary_before(line, MAX_COMMAND)],
            MAX_DEPTH,
        ))
    }

    /// How many of its commands cannot be taken back.
    pub(crate) fn destructive(&self) -> u64 {
        self.0.iter().filter(|step| is_destructive(step)).count() as u64
    }

    /// How many of its commands record a step for good.
    pub(crate) fn commits(&self) -> u64 {
        self.0.iter().filter(|step| is_commit(step)).count() as u64
    }
}

/// Tells whether a command line only looks around: nothing it runs changes anything.
pub(crate) fn only_looks(line: &str) -> bool {
    let quiet = line.replace("2>&1", "").replace("2>/dev/null", "");
    let Command(steps) = Command::read(&quiet);
    let looks = |step: &Vec<String>| {
        let name = program(step).map(|at| base_name(&step[at]));
        name.is_none_or(|name| LOOKING.contains(&name))
            && !step.iter().any(|word| word == "-delete" || word == "-exec")
    };
    !quiet.contains('>') && !steps.is_empty() && steps.iter().all(looks)
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
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ';' | '&' | '|' | '\n' | '(' | ')' | '{' | '}' | '`') => {
                push(&mut steps, word.take());
                steps.push(Vec::new());
            }
            (None, c) if c.is_whitespace() => push(&mut steps, word.take()),
            (_, c) => word.get_or_insert_default().push(c),
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
        assert_eq!(Command::read(command).destructive(), 1, "{command}");
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
        assert_eq!(Command::read(command).destructive(), 0, "{command}");
    }

    #[rstest]
    #[case("git add -A && git commit -m 'x: y'", 1)]
    #[case("git -C sub -c user.name=x commit --amend", 1)]
    #[case("git log --grep commit", 0)]
    #[case("git show commit", 0)]
    #[case("echo git commit", 0)]
    fn commits_are_counted(#[case] command: &str, #[case] commits: u64) {
        assert_eq!(Command::read(command).commits(), commits, "{command}");
    }
}
