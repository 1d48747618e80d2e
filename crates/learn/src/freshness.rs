//! The names of paths and targets: in a key point's text, and in the files of a checkout.
//!
//! A name is a path (`src/lib.rs`) or the command that runs a target (`make proto`). Only a name
//! that was found in the files before can be gone, so misreading a text does no harm.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value as Json;

const MAX_NAME_BYTES: usize = 200;

const MAKE: &str = "make";
const JUST: &str = "just";
const MISE: &str = "mise run";
const NPM: &str = "npm run";

/// Finds the names in a text: paths anywhere, targets only where a command in backticks runs them.
pub fn names_in(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    // Parts between adjacent backticks are empty: a span may be fenced by any number.
    let mut parts = text.split('`').filter(|part| !part.is_empty()).peekable();
    let mut is_code = text.starts_with('`');
    while let Some(part) = parts.next() {
        let is_closed = parts.peek().is_some() || text.ends_with('`');
        if is_code && is_closed {
            let commands = part.split(['\n', ';', '|']);
            names.extend(commands.flat_map(|part| part.split("&&")).flat_map(run_by));
        }
        let words = part.split(|c: char| c.is_whitespace() || matches!(c, ';' | '|'));
        names.extend(words.filter_map(path));
        is_code = !is_code;
    }
    names.retain(|name| name.len() <= MAX_NAME_BYTES);
    names
}

fn run_by(command: &str) -> Vec<String> {
    let words = command.split_whitespace();
    let words: Vec<&str> = words
        .skip_while(|word| *word == "sudo" || word.contains('='))
        .collect();
    let (runner, named) = match words.as_slice() {
        ["make" | "gmake", arguments @ ..] => {
            let after = words.iter().zip(arguments);
            let targets =
                after.filter(|(before, _)| !matches!(**before, "-C" | "-f" | "-o" | "-W"));
            (MAKE, targets.map(|(_, target)| *target).collect())
        }
        ["just", name, ..] => (JUST, vec![*name]),
        ["mise", "run" | "r", name, ..] => (MISE, vec![*name]),
        [
            "npm" | "pnpm" | "yarn" | "bun",
            "run" | "run-script",
            name,
            ..,
        ]
        | ["pnpm" | "yarn", name, ..]
        | [
            "npm" | "bun",
            name @ ("test" | "start" | "stop" | "restart"),
            ..,
        ] => (NPM, vec![*name]),
        _ => return Vec::new(),
    };
    let targets = named.into_iter();
    let targets = targets.filter(|name| !name.starts_with('-') && !name.contains('='));
    targets.map(|name| target(runner, name)).collect()
}

fn target(runner: &str, name: &str) -> String {
    format!("{runner} {name}")
}

/// Reads a word as a path inside the project, with a slash or an extension. It ends before the
/// first component that is a pattern or a placeholder.
fn path(word: &str) -> Option<String> {
    let word = word.rsplit('=').next()?;
    let word = word.trim_start_matches(['"', '\'', '(', '[', '@']);
    let word = word.trim_end_matches(['"', '\'', ')', ']', ',', '.', ':', ';', '!', '?']);
    let word = word.split(['#', ':']).next()?;
    let word = word.trim_start_matches("./");
    if word.starts_with(['/', '~', '-']) || word.contains("//") {
        return None;
    }
    let is_folder = word.ends_with('/');
    let parts: Vec<&str> = word.trim_end_matches('/').split('/').collect();
    let is_pattern = |part: &&str| part.contains(['*', '?', '<', '{', '[', '$', '…']);
    let literal = parts.iter().position(is_pattern).unwrap_or(parts.len());
    let literal = &parts[..literal];
    let last = *literal.last()?;
    let has_ending = last.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=10).contains(&ending.len()) && ending.chars().any(char::is_alphabetic)
    });
    let is_path = parts.len() > 1 || is_folder || has_ending || last.ends_with("file");
    (is_path && !literal.contains(&"..") && !literal.contains(&"")).then(|| literal.join("/"))
}

#[derive(Debug)]
pub struct Search<'n> {
    is_found: HashMap<&'n str, bool>,
    has_read_all: bool,
}

impl<'n> Search<'n> {
    pub fn new(names: &'n BTreeSet<String>) -> Self {
        Self {
            is_found: names.iter().map(|name| (name.as_str(), false)).collect(),
            has_read_all: true,
        }
    }

    /// Records that a file exists. A name may give its path, or a folder's, from any folder above.
    pub fn add_path(&mut self, path: &str) {
        let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
        for start in [0].into_iter().chain(slashes.iter().map(|at| at + 1)) {
            let ends = slashes.iter().copied().filter(|end| *end > start);
            ends.chain([path.len()])
                .for_each(|end| self.found(&path[start..end]));
        }
        if let Some(task) = mise_task(path) {
            self.found(&target(MISE, task));
        }
    }

    pub fn wants_text(&self, path: &str) -> bool {
        runner_of(path).is_some() && self.is_found.keys().any(|name| is_target(name))
    }

    /// Takes `None` for an unreadable text.
    pub fn add_text(&mut self, path: &str, text: Option<&str>) {
        let Some(runner) = runner_of(path) else {
            return;
        };
        match text.and_then(|text| declared(runner, text)) {
            Some(names) => names
                .iter()
                .for_each(|name| self.found(&target(runner, name))),
            None => self.has_read_all = false,
        }
    }

    /// Returns `None` if an unreadable file may declare the name.
    pub fn has(&self, name: &str) -> Option<bool> {
        let is_found = self.is_found.get(name).copied().unwrap_or_default();
        (is_found || self.has_read_all || !is_target(name)).then_some(is_found)
    }

    fn found(&mut self, name: &str) {
        if let Some(is_found) = self.is_found.get_mut(name) {
            *is_found = true;
        }
    }
}

/// Returns `true` for a target: paths have no spaces, since a text is split there.
fn is_target(name: &str) -> bool {
    name.contains(' ')
}

fn runner_of(path: &str) -> Option<&'static str> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    match name {
        "Makefile" | "makefile" | "GNUmakefile" => Some(MAKE),
        "justfile" | "Justfile" | ".justfile" => Some(JUST),
        "mise.toml" | ".mise.toml" => Some(MISE),
        "config.toml" if folder.ends_with("mise") => Some(MISE),
        "package.json" => Some(NPM),
        _ if ending == Some("mk") => Some(MAKE),
        _ if ending == Some("just") => Some(JUST),
        _ => None,
    }
}

fn mise_task(path: &str) -> Option<&str> {
    let (folder, file) = path.rsplit_once('/')?;
    let is_in = |tasks: &&str| {
        let above = folder.strip_suffix(tasks);
        above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
    };
    let is_task = ["mise-tasks", "mise/tasks", ".mise/tasks"]
        .iter()
        .any(is_in);
    file.split('.').next().filter(|_| is_task)
}

fn declared(runner: &str, text: &str) -> Option<Vec<String>> {
    let table = match runner {
        MAKE => return Some(text.lines().flat_map(rule).map(str::to_owned).collect()),
        JUST => return Some(text.lines().filter_map(recipe).map(str::to_owned).collect()),
        MISE => toml::from_str::<Json>(text).ok()?["tasks"].take(),
        _ => serde_json::from_str::<Json>(text).ok()?["scripts"].take(),
    };
    let table = table.as_object().into_iter();
    Some(table.flat_map(|table| table.keys().cloned()).collect())
}

fn rule(line: &str) -> impl Iterator<Item = &str> {
    let is_rule = !line.starts_with(['\t', ' ', '#', '.']) && !line.contains(":=");
    let head = line.split_once(':').filter(|_| is_rule);
    let targets = head.map_or("", |(head, _)| head).split_whitespace();
    targets.filter(|target| !target.contains(['%', '$', '=']))
}

fn recipe(line: &str) -> Option<&str> {
    if let Some(alias) = line.strip_prefix("alias ") {
        return alias.split_whitespace().next();
    }
    let line = line.strip_prefix('@').unwrap_or(line);
    let begins = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_recipe = begins && line.contains(':') && !line.contains(" :=");
    line.split([' ', ':']).next().filter(|_| is_recipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::a_path_in_prose("Read docs/guide.md, then act.", &["docs/guide.md"])]
    #[case::a_path_of_a_line("see `./src/lib.rs:12:4`", &["src/lib.rs"])]
    #[case::a_test_in_a_file("`tests/test_api.py::test_it`", &["tests/test_api.py"])]
    #[case::an_anchor("docs/a.md#part.", &["docs/a.md"])]
    #[case::a_pattern("`src/**/*.rs`", &["src"])]
    #[case::a_placeholder("projects/<hash>/x.json", &["projects"])]
    #[case::nothing_but_a_pattern("`*.rs` and `{name}`", &[])]
    #[case::an_address("https://docs.rs/regex and `http://localhost:3000/x`", &[])]
    #[case::outside("`/etc/hosts`, `~/.bashrc`, `../other/x.rs`", &[])]
    #[case::versions("`1.89`, v1.2.3", &[])]
    #[case::a_dotfile("`.github/workflows/`", &[".github/workflows"])]
    #[case::a_flag("`--dry-run`", &[])]
    #[case::an_identifier("`parse_line()` and `store::Locked`", &[])]
    #[case::plain_prose("make release and push", &[])]
    #[case::an_open_backtick("it's ` make lint", &[])]
    #[case::make("`CI=1 make -C web lint-docs`", &["make lint-docs"])]
    #[case::more_targets("`make fmt X=1 lint -k`", &["make fmt", "make lint"])]
    #[case::behind_another("`cd web && npm run build:web`", &["npm run build:web"])]
    #[case::without_run("`pnpm codegen`", &["npm run codegen"])]
    #[case::npm_test("``npm test``", &["npm run test"])]
    #[case::just("`just fmt`", &["just fmt"])]
    #[case::mise("`mise run ci`", &["mise run ci"])]
    #[case::other_programs("`cargo test --lib`, `npm install` and `git push`", &[])]
    fn paths_and_targets_are_read(#[case] text: &str, #[case] names: &[&str]) {
        let read = names_in(text);
        assert_eq!(read.iter().map(String::as_str).collect::<Vec<_>>(), names);
    }

    #[rstest]
    #[case::its_end("`release.sh` `bin/release.sh`", "tools/release.sh", "", &["release.sh"])]
    #[case::a_folder("`src/queue/`", "a/src/queue/x.rs", "", &["src/queue"])]
    #[case::no_part_of_a_name("`src/que/`", "src/queue/x.rs", "", &[])]
    #[case::by_case("`Docs/Guide.md`", "docs/guide.md", "", &[])]
    #[case::make(
        "`make a b do x X %.o .PHONY`", "Makefile",
        "X := 1\n.PHONY: x\na b: c d\n\tdo: it\n%.o: %.c\n", &["make a", "make b"]
    )]
    #[case::just(
        "`just x` `just fmt` `just test` `just t` `just y`", "justfile",
        "x := '1'\n@fmt:\n  y: z\ntest *args: fmt\nalias t := test\n",
        &["just fmt", "just t", "just test"]
    )]
    #[case::mise(
        "`mise run ci` `mise r lint` `mise r x`", "mise.toml",
        "[tasks.lint]\nrun = 'x'\n[tasks]\nci = 'y'\n", &["mise run ci", "mise run lint"]
    )]
    #[case::a_script_of_mise("`mise run ci`", ".mise/tasks/ci.sh", "", &["mise run ci"])]
    #[case::npm(
        "`yarn b:w` `npm test`", "web/package.json",
        r#"{"name": "n", "scripts": {"b:w": "x"}}"#, &["npm run b:w"]
    )]
    fn names_are_found(
        #[case] point: &str,
        #[case] path: &str,
        #[case] text: &str,
        #[case] found: &[&str],
    ) {
        let names = names_in(point);
        let mut search = Search::new(&names);
        search.add_path(path);
        if search.wants_text(path) {
            search.add_text(path, Some(text));
        }
        let found_here = names.iter().filter(|name| search.has(name) == Some(true));
        assert_eq!(found_here.collect::<Vec<_>>(), found);
    }

    #[rstest]
    #[case::a_conflict(Some("<<<<<<<"))]
    #[case::not_read(None)]
    fn a_file_that_cannot_be_read_says_nothing_of_targets(#[case] text: Option<&str>) {
        let names = names_in("`make lint` `src/x.rs`");
        let mut search = Search::new(&names);
        search.add_text("package.json", text);
        assert_eq!(search.has("make lint"), None);
        assert_eq!(search.has("src/x.rs"), Some(false));
    }
}
