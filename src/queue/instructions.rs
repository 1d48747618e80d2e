//! Reads what a project's own instructions say, for the curator: nothing of it need be learned.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::transcripts::dashed;
use crate::freshness::git::Git;
use crate::fsx;
use crate::paths::Paths;
use crate::project;
use crate::redact::Masker;

const MAX_CHARS: usize = 40_000;
const MAX_FILE_BYTES: u64 = 256 << 10;
/// The number of files of one kind that are read: nested ones, rules, the client's own notes.
const MAX_FILES: usize = 50;
/// The number of files that are read in all, with those that others import.
const MAX_ALL: usize = 200;
/// The number of imports that are followed from one file to the next, as by the client.
const MAX_HOPS: usize = 5;
/// How deep folders of rules may be nested.
const MAX_DEPTH: usize = 8;
const GIT_TIME: Duration = Duration::from_secs(10);

/// Returns the masked instructions of a project, each file under its name, and one line that
/// names what was left out.
///
/// A file that cannot be read, is no regular file or is outside of the project says nothing.
pub(super) fn read(paths: &Paths, project: &Path, masker: &Masker) -> String {
    let mut own = root_files(project);
    own.extend(nested(project));
    own.extend(markdown_below(&project.join(".claude/rules"), MAX_DEPTH));
    let mut files = with_imports(project, own);
    let of_client = paths.client_projects().join(dashed(project)).join("memory");
    files.extend(markdown_below(&of_client, 0));
    let mut text = String::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut room = MAX_CHARS;
    for file in files {
        let name = name_of(project, &file);
        let Some(said) = text_of(&file) else { continue };
        let said = masker.mask(said.trim());
        if said.is_empty() {
            continue;
        }
        let head = format!("From {name}:\n");
        let part: String = said.chars().take(room.saturating_sub(head.len())).collect();
        if part.len() < said.len() {
            left_out.push(name);
        }
        if part.is_empty() {
            continue;
        }
        room = room.saturating_sub(head.len() + part.chars().count());
        text.push_str(&head);
        text.push_str(&part);
        text.push('\n');
    }
    if !left_out.is_empty() {
        text.push_str("(Left out, or in part: ");
        text.push_str(&left_out.join(", "));
        text.push_str(")\n");
    }
    text
}

/// Returns the files at the root that the client, or another agent, reads in any case.
fn root_files(project: &Path) -> Vec<PathBuf> {
    let mut files = in_any_case(project, "claude.md");
    files.extend(in_any_case(&project.join(".claude"), "claude.md"));
    files.extend(["CLAUDE.local.md", "AGENTS.md"].map(|name| project.join(name)));
    files
}

fn in_any_case(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = fsx::list(folder).unwrap_or_default().into_iter();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().eq_ignore_ascii_case(name))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// Returns the tracked `CLAUDE.md` files below the root.
fn nested(project: &Path) -> Vec<PathBuf> {
    if project::git_above(project).is_none() {
        return Vec::new();
    }
    let git = Git::at(project, GIT_TIME);
    let listed = git.ask_now(&["ls-files", "-z"]).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let files = listed.split_terminator('\0').filter(|file| {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        !matches!(folder, "" | ".claude") && name.eq_ignore_ascii_case("claude.md")
    });
    files
        .take(MAX_FILES)
        .map(|file| project.join(file))
        .collect()
}

/// Returns the Markdown files of a folder, and of those below it down to `depth`, in order.
fn markdown_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut entries: Vec<PathBuf> = fsx::list(folder)
        .unwrap_or_default()
        .into_iter()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    for path in entries {
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir());
        if is_folder && depth > 0 {
            files.extend(markdown_below(&path, depth - 1));
        } else if !is_folder && path.extension().is_some_and(|end| end == "md") {
            files.push(path);
        }
    }
    files.truncate(MAX_FILES);
    files
}

/// Returns the files of the project, each followed by those that it imports (`@docs/a.md`).
fn with_imports(project: &Path, files: Vec<PathBuf>) -> Vec<PathBuf> {
    fn add(all: &mut Vec<PathBuf>, project: &Path, file: PathBuf, hops: usize) {
        if all.len() == MAX_ALL || all.contains(&file) || !is_own(project, &file) {
            return;
        }
        let Some(text) = text_of(&file) else { return };
        let folder = file.parent().unwrap_or(project).to_owned();
        all.push(file);
        if hops > 0 {
            for path in imports(&text) {
                add(all, project, plain(&folder.join(path)), hops - 1);
            }
        }
    }
    let mut all = Vec::new();
    for file in files {
        add(&mut all, project, file, MAX_HOPS);
    }
    all
}

/// Returns the paths that a text imports; in code an `@` imports nothing.
fn imports(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            is_code = !is_code;
        } else if !is_code {
            let words = line.split('`').step_by(2).flat_map(str::split_whitespace);
            let paths = words.filter_map(|word| word.strip_prefix('@'));
            let paths = paths.map(|path| path.split('#').next().unwrap_or_default());
            let end = [',', ';', ':', '.', ')', '!', '?'];
            found.extend(paths.map(|path| path.trim_end_matches(end)));
        }
    }
    found.retain(|path| !path.is_empty());
    found
}

/// Resolves `.` and `..` by the names alone, so that one file has one path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Returns true for a file of the project that no link leads out of.
fn is_own(project: &Path, file: &Path) -> bool {
    let folder = file
        .parent()
        .and_then(|folder| fs::canonicalize(folder).ok());
    let project = fs::canonicalize(project);
    folder.is_some_and(|folder| project.is_ok_and(|project| folder.starts_with(project)))
}

fn text_of(file: &Path) -> Option<String> {
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    String::from_utf8(fsx::read(file, MAX_FILE_BYTES).ok()?).ok()
}

fn name_of(project: &Path, file: &Path) -> String {
    if let Ok(name) = file.strip_prefix(project) {
        return name.to_string_lossy().into_owned();
    }
    let name = file.file_name().unwrap_or_default();
    format!("Claude Code's memory, {}", name.to_string_lossy())
}
