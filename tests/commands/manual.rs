//! Promise: help, completions, manual pages and docs/commands.md agree and have examples; `--json`
//! prints the documented shapes; a closed pipe causes no panic.

use crate::common::prelude::*;

const COMMANDS: &str = include_str!("../../docs/commands.md");
const ERROR: &str = "error[E0433]: failed to resolve: undeclared crate `foo`";

#[test]
fn the_reference_is_the_one_that_the_program_prints() {
    let printed = TestEnv::without_worker()
        .cli(&["completions", "--markdown"])
        .ok();
    // Not `assert_eq`, which would print both texts.
    assert!(
        printed == COMMANDS,
        "run: cargo run -- completions --markdown > docs/commands.md"
    );
}

/// Returns all commands that users are shown, as their words.
fn commands() -> Vec<Vec<&'static str>> {
    let titles = COMMANDS
        .lines()
        .filter_map(|line| line.strip_prefix("## ").or(line.strip_prefix("### ")));
    titles
        .filter_map(|title| title.strip_prefix("playbook "))
        .map(|words| words.split(' ').collect())
        .collect()
}

#[test]
fn every_command_has_examples_in_its_help_or_its_parents() {
    let env = TestEnv::without_worker();
    let all = commands();
    assert!(all.len() > 35, "{all:?}");
    for words in all {
        let has_example = (1..=words.len()).any(|n| {
            let help = env.cli(&[&words[..n], &["--help"]].concat()).ok();
            help.contains("Example")
        });
        assert!(has_example, "{words:?}");
    }
}

#[test]
fn help_lists_the_usual_commands_by_use_and_all_of_them_when_asked() {
    let env = TestEnv::without_worker();
    let usual = env.cli(&["--help"]).ok();
    let all = env.cli(&["--help", "--all"]).ok();
    has!(usual, "\nStart:\n", "\nFor scripts:\n", "\n  show  ");
    let is_listed = |help: &str, name: &str| help.contains(&format!("\n  {name} "));
    assert!(!is_listed(&usual, "merge-files"), "{usual}");
    for words in commands().iter().filter(|words| words.len() == 1) {
        assert!(is_listed(&all, words[0]), "{words:?}");
    }
    for line in all.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(all, env.cli(&["--all"]).ok());
    let version = format!("playbook {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(env.cli(&["--version"]).ok(), version);
}

/// The texts below the options are not wrapped by clap, so a narrower terminal would break them
/// anywhere.
#[test]
fn what_help_says_in_sentences_fits_80_columns() {
    for section in COMMANDS.split("\n## playbook ").skip(1) {
        let parts = section.split("```");
        for part in parts.filter(|part| !part.starts_with("json")) {
            for line in part.lines().filter(|line| !line.starts_with('|')) {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}

#[rstest]
#[case::narrow("60", &["bootstrap", "--help"], 60)]
#[case::wide("200", &["bootstrap", "--help"], 100)]
#[case::all_commands("40", &["--help", "--all"], 40)]
fn help_fits_the_terminal(#[case] columns: &str, #[case] args: &[&str], #[case] most: usize) {
    let mut env = TestEnv::without_worker();
    env.set("COLUMNS", columns);
    let help = env.cli(args).ok();
    let options = help.split("Examples").next().unwrap();
    let longest = options.lines().map(|line| line.chars().count()).max();
    assert!(longest.unwrap() <= most, "{help}");
}

#[rstest]
fn completions_know_every_command(#[values("bash", "zsh", "fish")] shell: &str) {
    let env = TestEnv::without_worker();
    let script = env.cli(&["completions", shell]).ok();
    for words in commands() {
        assert!(script.contains(words[words.len() - 1]), "{words:?}");
    }
    if shell == "bash" {
        let mut bash = env.command("/usr/bin/bash");
        bash.arg("-n");
        let checked = Running::start(bash, script.as_bytes(), Stdin::Closed);
        checked.finish().silent();
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let env = TestEnv::without_worker();
    let folder = env.root().join("man1");
    let args = ["completions", "--man", folder.to_str().unwrap()];
    assert_eq!(env.cli(&args).ok(), "");
    let there = fs::read_dir(&folder).unwrap();
    let pages: BTreeSet<String> = there
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    let of_commands = commands()
        .into_iter()
        .map(|words| format!("playbook-{}.1", words.join("-")));
    let expected = of_commands.chain(["playbook.1".to_owned()]).collect();
    assert_eq!(pages, expected);
    for page in &pages {
        let page = fs::read_to_string(folder.join(page)).unwrap();
        has!(page, ".SH SYNOPSIS");
    }
}

/// Creates a user whose project has learned, and returns the transcript.
fn learned() -> (TestEnv, PathBuf) {
    let env = TestEnv::without_worker();
    env.write_playbook(&[
        ("pat-001", "run the tests"),
        ("pat-002", "Run the tests!"),
        ("pref-001", "small commits"),
    ]);
    let session = Session::new("s1")
        .user("fix the tests; always use uv, never pip")
        .failed("cargo test", &format!("Exit code 101\n{ERROR}"))
        .ran("cargo add foo && cargo test", "test result: ok. 3 passed")
        .assistant("Fixed, by [pat-001].")
        .user("thanks, that works")
        .assistant("Done.")
        .done();
    let path = env.write_held(&session);
    let project = env.project();
    git(&project, &["init", "-q"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "x"]);
    env.cli(&["bootstrap", "--yes"]).ok();
    (env, path)
}

fn shapes() -> BTreeMap<&'static str, Value> {
    let mut shapes = BTreeMap::new();
    for part in COMMANDS.split("\n`playbook ").skip(1) {
        let (line, rest) = part.split_once("`:\n").unwrap();
        let (_, rest) = rest.split_once("```json\n").unwrap();
        let (shape, _) = rest.split_once("```").unwrap();
        shapes.insert(line, serde_json::from_str(shape).unwrap());
    }
    shapes
}

/// Turns a documented line into arguments for a project that has learned.
fn arguments(line: &str, transcript: &Path) -> Vec<String> {
    let words = line.split(' ').map(|word| match word {
        "FILE" => transcript.to_str().unwrap(),
        "ID" => "pat-001",
        "WORDS" => "tests",
        "ERROR" => ERROR,
        "KEY" => "backend",
        word => word,
    });
    words.map(str::to_owned).collect()
}

#[test]
fn json_has_the_documented_shape() {
    let (env, transcript) = learned();
    let shapes = shapes();
    assert!(shapes.len() > 15, "{}", shapes.len());
    for (line, shape) in shapes {
        let args = arguments(line, &transcript);
        let out = env.cli(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let printed: Value = serde_json::from_str(&out.stdout).unwrap();
        assert_eq!(out.stdout.lines().count(), 1, "{line}");
        compare(&printed, &shape, line);
    }
}

#[track_caller]
fn compare(printed: &Value, shape: &Value, place: &str) {
    let at = |key: &str| format!("{place}, {key}");
    match (shape, printed) {
        (Value::Object(shape), Value::Object(printed)) => {
            for key in shape.keys().filter(|key| *key != "*") {
                assert!(printed.contains_key(key), "{} is not there", at(key));
            }
            for (key, value) in printed {
                let known = shape.get(key).or(shape.get("*"));
                let known = known.unwrap_or_else(|| panic!("{} is not documented", at(key)));
                compare(value, known, &at(key));
            }
        }
        (Value::Array(shape), Value::Array(printed)) => {
            for item in printed {
                compare(item, &shape[0], place);
            }
        }
        (Value::String(kind), printed) => {
            let fits = match kind.trim_end_matches('?') {
                "any" => true,
                "text" => printed.is_string(),
                "number" => printed.is_number(),
                "bool" => printed.is_boolean(),
                other => panic!("{place}: what is {other}?"),
            };
            let may_be_null = kind.ends_with('?') && printed.is_null();
            assert!(fits || may_be_null, "{place}: {printed} is no {kind}");
        }
        _ => panic!("{place}: {printed} has another shape than {shape}"),
    }
}

#[test]
fn every_reading_command_with_json_is_documented() {
    /// The commands that change or report something; their output is not documented.
    const OTHERS: &str = "gate on, gate off, demo, dream, undo, add, edit, remove, \
        lesson add, lesson outcome, promote, pin, trust, \
        review accept, review edit, review drop, jobs retry, jobs drop, forget, config set, \
        install, uninstall, worker";
    let shapes = shapes();
    let sections = COMMANDS.split("\n## playbook ").skip(1);
    for section in sections.flat_map(|section| section.split("\n### playbook ")) {
        let (name, body) = section.split_once('\n').unwrap();
        let has_json = body.contains("`--json`");
        let is_other = OTHERS.split(", ").any(|other| other == name);
        let below = format!("{name} ");
        let is_documented = shapes.keys().any(|line| line.starts_with(&below));
        let is_fine = !has_json || is_other || is_documented;
        assert!(is_fine, "{name} is not in src/cli/json_shapes.txt");
    }
}

#[test]
fn a_reader_who_goes_away_makes_no_panic() {
    let (env, transcript) = learned();
    let shapes = shapes();
    let documented = shapes.keys().copied();
    let plain = shapes.keys().map(|line| line.trim_end_matches(" --json"));
    let others = "--help, completions --markdown, completions bash, hook --list, bench, \
        config reference, redact --rules";
    for line in documented.chain(plain).chain(others.split(", ")) {
        let args = arguments(line, &transcript);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let with_a_reader = env.cli(&args);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = env
            .command("playbook")
            .args(&args)
            .stdin(Stdio::null())
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let told = String::from_utf8_lossy(&out.stderr);
        let code = out.status.code();
        let is_fine = code == Some(0) || code == with_a_reader.code;
        assert!(is_fine, "{args:?}: {code:?} {told}");
        assert!(told.is_empty() || told == with_a_reader.stderr, "{told}");
    }
}
