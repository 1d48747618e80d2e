//! Commands that cannot be undone.

use super::shell::{Program, SimpleCommand, base_name};

/// A program, its subcommand, and the options that make it destructive; without options it always
/// is. A single letter also matches inside `-fr`.
type Row = (&'static str, &'static str, &'static [&'static str]);

const DESTRUCTIVE: &[Row] = &[
    ("rm", "", &["r", "R", "--recursive"]),
    ("Remove-Item", "", &["-Recurse"]),
    ("find", "", &["-delete"]),
    ("git", "push", &["f", "--force", "--mirror"]),
    ("git", "reset", &["--hard"]),
    ("git", "clean", &["f", "--force"]),
    ("terraform", "destroy", &[]),
    ("terraform", "apply", &["-destroy", "--destroy"]),
    ("tofu", "destroy", &[]),
    ("tofu", "apply", &["-destroy", "--destroy"]),
    ("pulumi", "destroy", &[]),
    ("kubectl", "delete", &[]),
    ("helm", "uninstall", &[]),
    ("helm", "delete", &[]),
    ("dropdb", "", &[]),
    ("mysqladmin", "drop", &[]),
    ("redis-cli", "flushall", &[]),
    ("redis-cli", "FLUSHALL", &[]),
    ("redis-cli", "flushdb", &[]),
    ("redis-cli", "FLUSHDB", &[]),
    ("shred", "", &[]),
    ("wipefs", "", &["a", "--all"]),
    ("blkdiscard", "", &[]),
];
/// Programs that take SQL, without their version suffixes.
const SQL_CLIENTS: &[&str] = &["psql", "mysql", "mariadb", "sqlite", "sqlcmd", "duckdb"];
/// Programs that run another one in a container with `exec`.
const CONTAINERS: &[&str] = &[
    "docker",
    "docker-compose",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
];
/// Devices that keep nothing.
const NO_DISKS: &[&str] = &["null", "zero", "full", "stdout", "stderr", "tty"];

/// Returns `true` for a line with a command that cannot be undone.
pub fn is_destructive(commands: &[SimpleCommand]) -> bool {
    let mut programs = commands.iter().filter_map(SimpleCommand::program);
    programs.any(destroys)
        || commands.iter().any(destroys_in_container)
        || reads_destructive_sql(commands)
}

/// Returns `true` for `docker exec NAME PROGRAM …` and its kin where the program destroys.
fn destroys_in_container(command: &SimpleCommand) -> bool {
    let words = &command.words;
    let is_container = |word: &String| CONTAINERS.contains(&base_name(word));
    let Some(exec) = words.iter().position(|word| word == "exec") else {
        return false;
    };
    let operands: Vec<usize> = (exec + 1..words.len())
        .filter(|at| !words[*at].starts_with('-'))
        .collect();
    // An option in front of the container's name may have taken the first word as its value.
    let has_option = operands.first().is_some_and(|first| *first > exec + 1);
    let starts = operands.iter().skip(1).take(1 + usize::from(has_option));
    let mut programs = starts.filter_map(|at| Program::of(&words[*at..]));
    words[..exec].iter().any(is_container) && programs.any(destroys)
}

/// Returns `true` where a SQL client receives such a statement by a here-document or a pipe.
fn reads_destructive_sql(commands: &[SimpleCommand]) -> bool {
    let is_client = |command: &SimpleCommand| {
        let program = command.program();
        program.is_some_and(|program| SQL_CLIENTS.contains(&program.name))
    };
    let prints = |command: &SimpleCommand| {
        let program = command.program();
        let is_echo = |name: &str| ["echo", "printf"].contains(&name);
        let printed = program.filter(|program| is_echo(program.name));
        let is_sql = |program: Program<'_>| program.arguments.iter().any(|word| drops(word));
        command.is_piped() && (drops(&command.here) || printed.is_some_and(is_sql))
    };
    commands
        .iter()
        .any(|command| is_client(command) && drops(&command.here))
        || commands
            .windows(2)
            .any(|pair| is_client(&pair[1]) && prints(&pair[0]))
}

fn destroys(program: Program<'_>) -> bool {
    let Program { name, arguments } = program;
    let end = arguments.iter().position(|word| word == "--");
    let before_end = &arguments[..end.unwrap_or(arguments.len())];
    let is_dry = |word: &String| {
        word.starts_with("--dry-run")
            || ["--help", "-help"].contains(&word.as_str())
            // Of other file systems it is the label.
            || ((name == "mkfs" || name.starts_with("mkfs.ext")) && has(word, "n"))
    };
    if before_end.iter().any(is_dry) {
        return false;
    }
    let subcommand = program.subcommand();
    let is_row = |(row, of, options): &Row| {
        let is_given = |option: &&str| before_end.iter().any(|word| has(word, option));
        name == *row
            && (of.is_empty() || subcommand == *of)
            && (options.is_empty() || options.iter().any(is_given))
    };
    let runs_rm = |pair: &[String]| pair[0].starts_with("-exec") && base_name(&pair[1]) == "rm";
    match name {
        _ if DESTRUCTIVE.iter().any(is_row) || name.starts_with("mkfs") => true,
        _ if SQL_CLIENTS.contains(&name) => arguments.iter().any(|word| drops(sql_in(word))),
        "find" => arguments.windows(2).any(runs_rm),
        "git" => subcommand == "push" && arguments.iter().any(|word| word.starts_with('+')),
        "dd" => arguments.iter().any(|word| {
            let device = word.strip_prefix("of=/dev/");
            device.is_some_and(|device| !NO_DISKS.contains(&device))
        }),
        "diskutil" => subcommand.starts_with("erase"),
        _ => false,
    }
}

fn has(word: &str, option: &str) -> bool {
    let letters = word
        .strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'));
    word == option || (option.len() == 1 && letters.is_some_and(|it| it.contains(option)))
}

/// Returns the value of an option that holds one: `--command=SQL`, `-cSQL`.
fn sql_in(word: &str) -> &str {
    match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => long.split_once('=').map_or(word, |(_, sql)| sql),
        Some(short) => short.get(1..).unwrap_or(word),
        None => word,
    }
}

fn drops(sql: &str) -> bool {
    sql.split(';').any(|statement| {
        let first = statement.split_whitespace().next().unwrap_or_default();
        first.eq_ignore_ascii_case("drop") || first.eq_ignore_ascii_case("truncate")
    })
}

#[cfg(test)]
mod tests {
    use super::super::shell::read;
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("cd x && rm -fr build")]
    #[case("sudo /bin/rm --recursive x")]
    #[case("ls | xargs rm -r")]
    #[case("find . -name '*.o' -exec rm {} \\;")]
    #[case("git push origin main --force")]
    #[case("git -C x push -uf origin")]
    #[case("git push origin +main")]
    #[case("git reset --hard HEAD~1")]
    #[case("git clean -fdx")]
    #[case("psql app -c 'select 1; DROP TABLE users'")]
    #[case("sqlite3 a.db 'truncate t'")]
    #[case("psql app --command='drop table x'")]
    #[case("mysql -e'drop table x' app")]
    #[case("docker exec -it db psql -U app -c 'drop table x'")]
    #[case("docker compose exec -T db mysql --execute='truncate t'")]
    #[case("kubectl exec -n app pod/db -- rm -rf /data")]
    #[case("echo \"DROP TABLE x\" | psql app")]
    #[case("psql <<EOF\nselect 1;\nDROP TABLE x;\nEOF")]
    #[case("cat <<END | mysql app\ntruncate t;\nEND")]
    #[case("psql app <<< 'drop table x'")]
    #[case("bash <<'END'\nrm -rf x\nEND")]
    #[case("terraform destroy -auto-approve")]
    #[case("kubectl -n app delete pod x")]
    #[case("mkfs.ext4 /dev/sda1")]
    #[case("dd if=a.img of=/dev/sda bs=4M")]
    #[case("bash -c 'rm -rf x'")]
    fn a_command_that_cannot_be_taken_back_is_known(#[case] line: &str) {
        assert!(is_destructive(&read(line)), "{line}");
    }

    #[rstest]
    #[case("grep 'rm -rf /' x")]
    #[case("echo \"rm -rf\"; git log --grep 'git push --force'")]
    #[case("git commit -m 'git reset --hard'")]
    #[case("git push --force-with-lease")]
    #[case("git push --follow-tags")]
    #[case("git reset --soft HEAD~1")]
    #[case("git clean -nd")]
    #[case("rm -f a.txt")]
    #[case("cat <<'END'\nrm -rf /\nEND")]
    #[case("echo \"DROP TABLE x\" | grep DROP; psql -l")]
    #[case("cat > a.sql <<END\ndrop table x;\nEND\npsql -l")]
    #[case("psql -c 'select dropped from t'")]
    #[case("terraform plan -destroy")]
    #[case("kubectl delete pod x --dry-run=client")]
    #[case("dd if=/dev/zero of=a.img")]
    #[case("dd if=/dev/sda of=/dev/null")]
    #[case("mkfs.ext4 -n /dev/sda1")]
    #[case("terraform destroy -help")]
    #[case("rm -- -rf")]
    #[case("docker exec db grep rm -r /etc")]
    #[case("psql -c'select dropped'")]
    fn other_commands_are_not_destructive(#[case] line: &str) {
        assert!(!is_destructive(&read(line)), "{line}");
    }
}
