//! The targets and programs that a project's own files declare.

use serde_json::Value as Json;

use super::names::{PointName, TargetRunner};

/// A file that declares something could not be read: nothing can be said of what is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unreadable;

/// Tells whether a file may declare targets or programs.
pub(super) fn is_manifest(path: &str) -> bool {
    kind(path).is_some()
}

#[derive(Clone, Copy)]
enum ManifestKind {
    Make,
    Just,
    Mise,
    Npm,
    Cargo,
    Python,
}

fn kind(path: &str) -> Option<ManifestKind> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    Some(match name {
        "Makefile" | "makefile" | "GNUmakefile" => ManifestKind::Make,
        "justfile" | "Justfile" | ".justfile" => ManifestKind::Just,
        "mise.toml" | ".mise.toml" => ManifestKind::Mise,
        "config.toml" if folder.ends_with("mise") => ManifestKind::Mise,
        "package.json" => ManifestKind::Npm,
        "Cargo.toml" => ManifestKind::Cargo,
        "pyproject.toml" => ManifestKind::Python,
        _ if ending == Some("mk") => ManifestKind::Make,
        _ if ending == Some("just") => ManifestKind::Just,
        _ => return None,
    })
}

/// What the place of a file declares: a program by its source, a task by its script.
pub(super) fn of_place(path: &str) -> Option<PointName> {
    let (folder, file) = path.rsplit_once('/')?;
    let is_in = |place: &str| {
        let above = folder.strip_suffix(place);
        above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
    };
    let stem = file.split('.').next()?.to_owned();
    if is_in("mise-tasks") || is_in("mise/tasks") || is_in(".mise/tasks") {
        return Some(PointName::Target(TargetRunner::Mise, stem));
    }
    let is_go = file
        .rsplit_once('.')
        .is_some_and(|(_, ending)| ending == "go");
    let is_command = |above: &str| above == "cmd" || above.ends_with("/cmd");
    let go = folder.rsplit_once('/');
    let go = go.filter(|(above, _)| is_go && is_command(above));
    match go {
        Some((_, program)) => Some(PointName::Program(program.to_owned())),
        None if is_in("src/bin") || is_in("bin") || is_in("exe") => Some(PointName::Program(stem)),
        None => None,
    }
}

pub(super) fn declared(path: &str, text: &str) -> Result<Vec<PointName>, Unreadable> {
    let target = |runner| move |name: &str| PointName::Target(runner, name.to_owned());
    let program = |name: &str| PointName::Program(name.to_owned());
    Ok(match kind(path) {
        None => Vec::new(),
        Some(ManifestKind::Make) => text
            .lines()
            .flat_map(rule)
            .map(target(TargetRunner::Make))
            .collect(),
        Some(ManifestKind::Just) => text
            .lines()
            .filter_map(recipe)
            .map(target(TargetRunner::Just))
            .collect(),
        Some(ManifestKind::Mise) => keys(&parse_toml(text)?["tasks"])
            .map(target(TargetRunner::Mise))
            .collect(),
        Some(ManifestKind::Npm) => {
            let file: Json = serde_json::from_str(text).map_err(|_| Unreadable)?;
            // A single program has the name of its package.
            let one = file["bin"].as_str().and(file["name"].as_str());
            let scripts = keys(&file["scripts"]).map(target(TargetRunner::Npm));
            scripts
                .chain(keys(&file["bin"]).chain(one).map(program))
                .collect()
        }
        Some(ManifestKind::Cargo) => {
            let file = parse_toml(text)?;
            let bins = file["bin"].as_array().into_iter().flatten();
            let named = bins
                .chain([&file["package"]])
                .filter_map(|at| at["name"].as_str());
            named.map(program).collect()
        }
        Some(ManifestKind::Python) => {
            let file = parse_toml(text)?;
            let tables = [
                &file["project"]["scripts"],
                &file["tool"]["poetry"]["scripts"],
            ];
            tables.into_iter().flat_map(keys).map(program).collect()
        }
    })
}

fn parse_toml(text: &str) -> Result<Json, Unreadable> {
    toml::from_str(text).map_err(|_| Unreadable)
}

fn keys(table: &Json) -> impl Iterator<Item = &str> {
    table
        .as_object()
        .into_iter()
        .flat_map(|table| table.keys().map(String::as_str))
}

/// The targets of a rule in a makefile.
fn rule(line: &str) -> impl Iterator<Item = &str> {
    let is_rule = !line.starts_with(['\t', ' ', '#', '.']) && !line.contains(":=");
    let head = line
        .split_once(':')
        .map(|(head, _)| head)
        .filter(|_| is_rule);
    let targets = head.unwrap_or_default().split_whitespace();
    targets.filter(|target| !target.contains(['%', '$', '=']))
}

/// The name of a recipe, or of its alias, in a justfile.
fn recipe(line: &str) -> Option<&str> {
    if let Some(alias) = line.strip_prefix("alias ") {
        return alias.split_whitespace().next();
    }
    let line = line.strip_prefix('@').unwrap_or(line);
    let begins = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let head = line
        .split(" :=")
        .next()
        .filter(|head| begins && *head == line)?;
    head.contains(':').then(|| head.split([' ', ':']).next())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::make(
        "Makefile",
        "X := 1\n.PHONY: a\na b: c d\n\tdo: it\n%.o: %.c\n",
        "make a, make b"
    )]
    #[case::just(
        "justfile",
        "x := '1'\n@fmt:\n  y: z\ntest *args: fmt\nalias t := test\n",
        "just fmt, just test, just t"
    )]
    #[case::mise(
        "mise.toml",
        "[tasks.lint]\nrun = 'x'\n[tasks]\nci = 'y'\n",
        "mise run ci, mise run lint"
    )]
    #[case::npm(
        "web/package.json",
        r#"{"name": "n", "bin": "x.js", "scripts": {"b:w": "x"}}"#,
        "n, npm run b:w"
    )]
    #[case::cargo("a/Cargo.toml", "[package]\nname = 'p'\n[[bin]]\nname = 'q'\n", "p, q")]
    #[case::python("pyproject.toml", "[project.scripts]\nerk = 'a:b'\n", "erk")]
    fn manifests_declare(#[case] path: &str, #[case] text: &str, #[case] names: &str) {
        let declared = declared(path, text).unwrap();
        let mut told: Vec<String> = declared.iter().map(PointName::to_string).collect();
        let mut names: Vec<&str> = names.split(", ").collect();
        told.sort();
        names.sort_unstable();
        assert_eq!(told, names);
    }

    #[rstest]
    #[case("src/bin/soak.rs", Some("soak"))]
    #[case("cmd/entire/main.go", Some("entire"))]
    #[case("cabin/x.rs", None)]
    fn a_place_declares_a_program(#[case] path: &str, #[case] name: Option<&str>) {
        let program = name.map(|name| PointName::Program(name.to_owned()));
        assert_eq!(of_place(path), program);
    }

    #[test]
    fn a_manifest_that_cannot_be_read_says_nothing() {
        assert_eq!(declared("package.json", "<<<<<<<"), Err(Unreadable));
    }
}
