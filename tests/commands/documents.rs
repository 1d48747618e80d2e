//! Promise: every command in README and docs/ works as documented. The commands of `sh` blocks run
//! in order, as a user whose project has learned. The commands in sentences exist and have the
//! named options.

use crate::common::prelude::*;

/// The commands of `sh` blocks that are not run here, with the reason.
const NOT_RUN: [&str; 6] = [
    // Builds for minutes; tests/commands/demo.rs runs the demo.
    "cargo run --release -- demo",
    // Runs this.
    "cargo test",
    // Builds for minutes; tests/commands/install_sh.rs runs it with --from.
    "./install.sh",
    // The same; tests/hooks/plugin.rs looks at the plugin.
    "./install.sh --plugin",
    // Needs an installation: tests/commands/install_sh.rs.
    "playbook uninstall",
    // Starts cargo; tests/memory/recall.rs runs `playbook seen`.
    "cargo test 2>&1 | playbook seen || echo \"a new one\"",
];

/// The commands whose exit status is not 0 in the test's project.
const STATUS: [(&str, i32); 1] = [
    // The hooks are not registered there.
    ("playbook doctor", 1),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn documents() -> Vec<(String, String)> {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let mut files: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "md"));
    files.push(root().join("README.md"));
    files.sort();
    let named = files.into_iter().map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    named.collect()
}

#[test]
fn every_path_of_the_sources_that_a_document_names_is_there() {
    let folders = "src/ crates/ tests/ data/ benches/ examples/";
    let guide = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let guide = ("CONTRIBUTING.md".to_owned(), guide);
    let mut missing = BTreeSet::new();
    for (name, text) in documents().into_iter().chain([guide]) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
        for path in text.split(|c| !is_part(c)) {
            let path = path.trim_end_matches(['.', '-']);
            let is_source = folders.split(' ').any(|folder| path.starts_with(folder));
            if is_source && !root().join(path).exists() {
                missing.insert(format!("{name}: {path}"));
            }
        }
    }
    assert_eq!(missing, BTreeSet::new());
}

fn commands(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("```sh\n").skip(1);
    blocks
        .filter_map(|block| block.split_once("```"))
        .flat_map(|(block, _)| block.lines())
        .map(|line| line.split(" #").next().unwrap().trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

pub(super) fn typed(env: &TestEnv, line: &str) -> Output {
    let mut sh = env.command("/bin/sh");
    sh.args(["-c", line]);
    Running::start(sh, b"", Stdin::Closed).finish()
}

pub(super) fn with_program() -> TestEnv {
    let mut env = TestEnv::new();
    let bin = Path::new(env!("CARGO_BIN_EXE_playbook")).parent().unwrap();
    env.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    env
}

/// Creates a user whose project has learned from SESSION.jsonl, with the templates written.
fn user() -> TestEnv {
    let mut env = with_program();
    env.set("PLAYBOOK_NO_WORKER", "1");
    // The documents name the folders that are used without these.
    env.unset("PLAYBOOK_CONFIG_DIR");
    env.write_playbook(&[("pat-001", "run the tests"), ("pref-001", "small commits")]);
    let session = Session::new("s1")
        .user("fix the tests; always use uv, never pip")
        .failed("make", "Exit code 2\nno rule")
        .ran("make all", "ok")
        .assistant("By [pat-001], done.")
        .user("thanks, that works")
        .assistant("Done.")
        .done();
    let transcript = fs::read(env.write_held(&session)).unwrap();
    env.write_project("SESSION.jsonl", transcript);
    env.write_project("build.log", "all went well\n");
    let templates = env.home().join(".config/playbook/templates");
    for name in ["playbook.txt", "reflector.txt", "curator.txt"] {
        let built_in = fs::read(root().join("templates").join(name)).unwrap();
        write(&templates.join(name), built_in);
    }
    env
}

#[test]
fn every_command_in_a_block_works_or_is_listed_as_not_run() {
    let mut listed = BTreeSet::from(NOT_RUN);
    let mut count = 0;
    for (name, text) in documents() {
        let env = user();
        for line in commands(&text) {
            if NOT_RUN.contains(&line) {
                listed.remove(line);
                continue;
            }
            let out = typed(&env, line);
            let known = STATUS.iter().find(|(known, _)| *known == line);
            let expected = known.map_or(0, |(_, status)| *status);
            assert_eq!(out.code, Some(expected), "{name}: {line}\n{out:?}");
            count += 1;
        }
    }
    assert!(count > 30, "{count} commands were run");
    assert!(listed.is_empty(), "nobody says these any more: {listed:?}");
}

fn are_of(program: &str, text: &str) -> Vec<String> {
    let outside_blocks: String = text.split("```").step_by(2).collect();
    let spans = outside_blocks.split('`').skip(1).step_by(2);
    spans
        .map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|span| span.starts_with(&format!("{program} ")))
        .collect()
}

#[test]
fn every_other_command_in_a_sentence_names_what_there_is() {
    let usage = fs::read_to_string(root().join("install.sh")).unwrap();
    let usage = usage.split("USAGE").nth(1).unwrap();
    let mut count = 0;
    for (name, text) in documents() {
        for span in are_of("./install.sh", &text) {
            let mut options = span.split(' ').filter(|word| word.starts_with('-'));
            let is_there = |option: &str| usage.contains(&format!("  {option} "));
            assert!(options.all(is_there), "{name}: `{span}`");
            count += 1;
        }
        for span in are_of("cargo", &text) {
            let words: Vec<&str> = span.split(' ').collect();
            for pair in words.windows(2) {
                let file = match pair {
                    ["--example", name] => format!("examples/{name}.rs"),
                    ["--test", name] => format!("tests/{name}.rs"),
                    ["--bench", name] => format!("benches/{name}.rs"),
                    ["fuzz", "run"] => format!("fuzz/fuzz_targets/{}.rs", words[words.len() - 1]),
                    _ => continue,
                };
                let mut places = [file.clone(), file.replace(".rs", "/main.rs")].into_iter();
                let is_there = places.any(|file| root().join(file).exists());
                assert!(is_there, "{name}: `{span}`: no {file}");
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn every_command_in_a_sentence_is_one_with_options_that_there_are() {
    let env = TestEnv::without_worker();
    let mut seen = BTreeSet::new();
    for (name, text) in documents() {
        for span in are_of("playbook", &text) {
            if !seen.insert(span.clone()) {
                continue;
            }
            let words: Vec<&str> = span.split(' ').skip(1).collect();
            let is_name = |word: &&&str| word.bytes().all(|b| b.is_ascii_lowercase());
            let names: Vec<&str> = words.iter().take_while(is_name).copied().collect();
            // A word after the command may be its argument: `playbook config get backend`.
            let help = (1..=names.len()).rev().find_map(|n| {
                let out = env.cli(&[&names[..n], &["--help"]].concat());
                (out.code == Some(0)).then_some(out.stdout)
            });
            let help = match help {
                Some(help) => help,
                None if names.is_empty() => env.cli(&["--help"]).ok(),
                None => panic!("{name}: `{span}` is no command"),
            };
            for option in words.iter().filter(|word| word.starts_with("--")) {
                let option = option.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
                let is_there = ["--help", "--markdown"].contains(&option) || help.contains(option);
                assert!(is_there, "{name}: `{span}`: no {option}");
            }
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}

#[test]
fn every_link_leads_somewhere() {
    for (name, text) in documents() {
        let below = if name == "README.md" { "" } else { "docs" };
        let folder = root().join(below);
        for link in text.split("](").skip(1) {
            let target = link.split(')').next().unwrap();
            let file = target.split('#').next().unwrap();
            let is_there = target.starts_with("http") || folder.join(file).exists();
            assert!(is_there, "{name}: {target}");
        }
    }
}

#[test]
fn every_line_of_the_doctor_has_its_help() {
    let env = TestEnv::without_worker();
    let out = env.cli(&["doctor", "--json"]);
    let said: Value = serde_json::from_str(&out.stdout).unwrap();
    let faq = include_str!("../../docs/faq.md");
    assert!(said["checks"].as_array().unwrap().len() > 5);
    for topic in texts(&said["checks"], "topic") {
        assert!(faq.contains(&format!("\n### {topic}\n")), "{topic}");
    }
}
