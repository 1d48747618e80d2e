//! Commands that cannot be undone.

use super::shell::{Program, SimpleCommand, base_name};

/// Programs, their subcommands, and the options that make them destructive; without options they
/// always are. A single letter also matches inside `-fr`.
type Row = (&'static str, &'static str, &'static [&'static str]);

const DESTRUCTIVE: &[Row] = &[
    ("rm", "", &["r", "R", "--recursive"]),
    ("Remove-Item", "", &["-Recurse"]),
    ("find", "", &["-delete"]),
    ("git", "push", &["f", "--force", "--mirror"]),
    ("git", "reset", &["--hard"]),
    ("git", "clean", &["f", "--force"]),
    ("terraform tofu pulumi", "destroy", &[]),
    ("terraform tofu", "apply", &["-destroy", "--destroy"]),
    ("kubectl", "delete", &[]),
    ("helm", "uninstall delete", &[]),
    ("mysqladmin", "drop", &[]),
    ("redis-cli", "flushall FLUSHALL flushdb FLUSHDB", &[]),
    ("dropdb shred blkdiscard", "", &[]),
    ("wipefs", "", &["a", "--all"]),
];
/// Programs that take SQL, without their version suffixes.
const SQL_CLIENTS: &[&str] = &["psql", "mysql", "mariadb", "sqlite", "sqlcmd", "duckdb"];
/// Programs that run another one in a container with `exec`.
const CONTAINERS: &str = "docker docker-compose podman nerdctl kubectl oc";
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
    let is_container = |word: &String| is_one_of(CONTAINERS, base_name(word));
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
    let is_client = |it: &SimpleCommand| {
        let program = it.program();
        program.is_some_and(|program| SQL_CLIENTS.contains(&program.name))
    };
    let prints = |it: &SimpleCommand| {
        let echoes = |program: Program<'_>| {
            let is_echo = ["echo", "printf"].contains(&program.name);
            is_echo && program.arguments.iter().any(|word| drops(word))
        };
        it.is_piped() && (drops(&it.here) || it.program().is_some_and(echoes))
    };
    let mut pairs = commands.windows(2);
    commands.iter().any(|it| is_client(it) && drops(&it.here))
        || pairs.any(|pair| is_client(&pair[1]) && prints(&pair[0]))
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
    let is_row = |(programs, of, options): &Row| {
        let is_given = |option: &&str| before_end.iter().any(|word| has(word, option));
        is_one_of(programs, name)
            && (of.is_empty() || is_one_of(of, &subcommand))
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

fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

fn has(word: &str, option: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
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

    /// Lines between `¶`; `⏎` is a line break.
    const IRREVERSIBLE: &str = "\
        cd x && rm -fr build ¶ sudo /bin/rm --recursive x ¶ ls | xargs rm -r
        find . -name '*.o' -exec rm {} \\; ¶ git push origin main --force
        git -C x push -uf origin ¶ git push origin +main ¶ git reset --hard HEAD~1
        git clean -fdx ¶ psql app -c 'select 1; DROP TABLE users' ¶ sqlite3 a.db 'truncate t'
        psql app --command='drop table x' ¶ mysql -e'drop table x' app
        docker exec -it db psql -U app -c 'drop table x'
        docker compose exec -T db mysql --execute='truncate t'
        kubectl exec -n app pod/db -- rm -rf /data ¶ echo \"DROP TABLE x\" | psql app
        psql <<EOF⏎select 1;⏎DROP TABLE x;⏎EOF ¶ cat <<END | mysql app⏎truncate t;⏎END
        psql app <<< 'drop table x' ¶ bash <<'END'⏎rm -rf x⏎END ¶ terraform destroy -auto-approve
        kubectl -n app delete pod x ¶ mkfs.ext4 /dev/sda1 ¶ dd if=a.img of=/dev/sda bs=4M
        bash -c 'rm -rf x'";
    const HARMLESS: &str = "\
        grep 'rm -rf /' x ¶ echo \"rm -rf\"; git log --grep 'git push --force'
        git commit -m 'git reset --hard' ¶ git push --force-with-lease ¶ git push --follow-tags
        git reset --soft HEAD~1 ¶ git clean -nd ¶ rm -f a.txt ¶ cat <<'END'⏎rm -rf /⏎END
        echo \"DROP TABLE x\" | grep DROP; psql -l ¶ cat > a.sql <<END⏎drop table x;⏎END⏎psql -l
        psql -c 'select dropped from t' ¶ terraform plan -destroy
        kubectl delete pod x --dry-run=client ¶ dd if=/dev/zero of=a.img
        dd if=/dev/sda of=/dev/null ¶ mkfs.ext4 -n /dev/sda1 ¶ terraform destroy -help
        rm -- -rf ¶ docker exec db grep rm -r /etc ¶ psql -c'select dropped'";

    #[test]
    fn a_command_that_cannot_be_taken_back_is_known() {
        for (table, want) in [(IRREVERSIBLE, true), (HARMLESS, false)] {
            for line in table.split(['¶', '\n']) {
                let line = line.trim().replace('⏎', "\n");
                assert_eq!(is_destructive(&read(&line)), want, "{line}");
            }
        }
    }
}
