//! Which commands cannot be taken back, and which record a step for good.

use super::shell::Command;
use super::steps::Step;

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
/// Programs that record a step for good.
const RECORDERS: &[&str] = &["git", "jj", "hg", "svn"];

/// How many commands of a line cannot be taken back.
pub(crate) fn destructive(command: &Command) -> u64 {
    command.steps().filter(|step| is_destructive(step)).count() as u64
}

/// How many commands of a line record a step for good.
pub(crate) fn commits(command: &Command) -> u64 {
    command.steps().filter(|step| is_commit(step)).count() as u64
}

fn is_destructive(step: &Step) -> bool {
    let Some((name, arguments)) = step.program() else {
        return false;
    };
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

fn is_commit(step: &Step) -> bool {
    let Some((name, arguments)) = step.program() else {
        return false;
    };
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "-C" | "-c" => _ = arguments.next(),
            flag if flag.starts_with('-') => {}
            word => return word == "commit" && RECORDERS.contains(&name),
        }
    }
    false
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
    #[case("sudo apt-get remove x; sudo rm -rf /opt/x")]
    #[case("find . -name x | xargs -I {} rm -rf {}")]
    #[case("bash <<'END'\nrm -rf build\nEND")]
    fn what_cannot_be_taken_back_is_known(#[case] command: &str) {
        assert_eq!(destructive(&Command::read(command)), 1, "{command}");
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
    #[case("cat > notes.md <<'END'\nrm -rf build\nEND")]
    #[case("# rm -rf build\nmake")]
    #[case("")]
    fn what_only_looks_like_it_is_not(#[case] command: &str) {
        assert_eq!(destructive(&Command::read(command)), 0, "{command}");
    }

    #[rstest]
    #[case("git add -A && git commit -m 'x: y'", 1)]
    #[case("git -C sub -c user.name=x commit --amend", 1)]
    #[case("git log --grep commit", 0)]
    #[case("git show commit", 0)]
    #[case("echo git commit", 0)]
    fn commits_are_counted(#[case] command: &str, #[case] count: u64) {
        assert_eq!(commits(&Command::read(command)), count, "{command}");
    }
}
