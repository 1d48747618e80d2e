//! The templates that a user may edit; unedited ones are renewed with each version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::digest::hex;
use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::playbook::render;
use crate::reflect::prompt::{
    CURATOR_PLACEHOLDERS, CURATOR_TEMPLATE, REFLECTOR_BLOCKS, REFLECTOR_PLACEHOLDERS,
    REFLECTOR_TEMPLATE,
};

const RECORD: &str = ".installed.json";
/// The suffix of a new version's text next to the one that the user edited.
const BESIDE: &str = ".new";
pub(crate) const MAX_TEMPLATE: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) name: &'static str,
    /// The text that is used unless the user has their own.
    pub(crate) built_in: &'static str,
    pub(crate) placeholders: &'static [&'static str],
    pub(crate) blocks: &'static [&'static str],
    pub(crate) needed: &'static str,
    /// Marks, each with the consequence for a text that lacks it.
    pub(crate) wanted: &'static [(&'static str, &'static str)],
}

pub(crate) const REFLECTOR: Template = Template {
    name: "reflector.txt",
    built_in: REFLECTOR_TEMPLATE,
    placeholders: REFLECTOR_PLACEHOLDERS,
    blocks: &REFLECTOR_BLOCKS,
    needed: "transcript",
    wanted: &[
        ("\"notes\"", "sessions teach no notes"),
        (
            "\"events\"",
            "notes without the events they rest on are dropped",
        ),
        (
            "{known_notes}",
            "notes of earlier sessions on the same error are not shown",
        ),
    ],
};

pub(crate) const CURATOR: Template = Template {
    name: "curator.txt",
    built_in: CURATOR_TEMPLATE,
    placeholders: CURATOR_PLACEHOLDERS,
    blocks: &[],
    needed: "reflection",
    wanted: &[
        (
            "\"grounds\"",
            "operations without the notes they rest on are refused",
        ),
        ("\"notebook\"", "notes that say the same stay apart"),
        (
            "{instructions}",
            "what CLAUDE.md says already is learned again",
        ),
    ],
};

/// A template of earlier versions, which is no longer read.
pub(crate) const GONE: &str = "dream.txt";

pub(crate) const PLAYBOOK: Template = Template {
    name: "playbook.txt",
    built_in: render::TEMPLATE,
    placeholders: &["key_points"],
    blocks: &[],
    needed: "key_points",
    wanted: &[],
};

pub(crate) const TEMPLATES: [Template; 3] = [PLAYBOOK, REFLECTOR, CURATOR];

/// Describes the user's templates that cannot be used, so that the built-in ones are.
pub(crate) fn unfit(paths: &Paths) -> Vec<String> {
    let unfit = TEMPLATES.iter().filter_map(|template| {
        let file = paths.template(template.name);
        let text = fsx::read_if_there(&file, MAX_TEMPLATE).ok()??;
        let serves = template.serves(&String::from_utf8_lossy(&text));
        let (file, needed) = (file.display(), template.needed);
        (!serves)
            .then(|| format!("{file} lacks `{{{needed}}}`: the built-in text is used in its place"))
    });
    unfit.collect()
}

impl Template {
    pub(crate) fn problem(&self, paths: &Paths) -> Option<String> {
        let file = paths.template(self.name);
        let bytes = match fsx::read_if_there(&file, MAX_TEMPLATE) {
            Ok(bytes) => bytes?,
            Err(error) => return Some(error.to_string()),
        };
        let flaw = match String::from_utf8(bytes) {
            Ok(text) => self.flaw(&text)?,
            Err(_) => "not UTF-8".to_owned(),
        };
        Some(format!("{}: {flaw}", file.display()))
    }

    pub(crate) fn lack(&self, paths: &Paths) -> Option<String> {
        let file = paths.template(self.name);
        let text = String::from_utf8(fsx::read(&file, MAX_TEMPLATE).ok()?).ok()?;
        let missing = self.wanted.iter().filter(|(mark, _)| !text.contains(mark));
        let missing = missing.map(|(mark, follows)| format!("no `{mark}`: {follows}"));
        let missing: Vec<String> = missing.collect();
        (!missing.is_empty()).then(|| format!("{}: {}", file.display(), missing.join("; ")))
    }

    pub(crate) fn serves(&self, text: &str) -> bool {
        text.contains(&format!("{{{}}}", self.needed))
    }

    pub(crate) fn flaw(&self, text: &str) -> Option<String> {
        if !self.serves(text) {
            let needed = self.needed;
            return Some(format!(
                "`{{{needed}}}` is missing; the built-in text serves"
            ));
        }
        let unknown = in_braces(text).find(|inner| self.is_slip(inner))?;
        let names = self.placeholders.iter().map(|name| format!("`{{{name}}}`"));
        let blocks = self.blocks.iter().map(|name| format!("`{{?{name}}}`"));
        let known = names.chain(blocks).collect::<Vec<_>>().join(", ");
        Some(format!(
            "`{{{unknown}}}` is no placeholder; they are {known}"
        ))
    }

    /// Returns `true` if a text in braces was meant as a placeholder or block but is not one.
    /// Longer text may be JSON or code. A single word counts, and so does a text that differs from
    /// a placeholder only in case, digits and separators.
    fn is_slip(&self, inner: &str) -> bool {
        if let Some(condition) = inner.strip_prefix(['?', '/']) {
            return is_word(condition) && !self.blocks.contains(&condition);
        }
        if self.placeholders.contains(&inner) {
            return false;
        }
        let is_name = |c: char| c.is_alphanumeric() || "_- ".contains(c);
        let is_meant = |name: &&str| letters(name).eq(letters(inner));
        is_word(inner) || (inner.chars().all(is_name) && self.placeholders.iter().any(is_meant))
    }
}

fn in_braces(text: &str) -> impl Iterator<Item = &str> {
    text.split('{')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    let letters = name.chars().filter(char::is_ascii_alphabetic);
    letters.map(|c| c.to_ascii_lowercase())
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TemplatesRecord {
    texts: BTreeMap<String, String>,
    /// The folders that were created for the templates, the innermost first.
    made: Vec<PathBuf>,
}

impl TemplatesRecord {
    fn is_ours(&self, template: &Template, text: &[u8]) -> bool {
        let laid = self.texts.get(template.name);
        text == template.built_in.as_bytes() || laid == Some(&digest(text))
    }
}

/// Writes the templates. Returns their files, and those that the user edited. Edited ones stay, and
/// the new text is put next to them as `.new`.
pub(crate) fn lay_out(paths: &Paths) -> Result<(Vec<PathBuf>, Vec<PathBuf>), FsError> {
    let folder = paths.templates();
    let mut record = read(paths).unwrap_or_else(|| TemplatesRecord {
        made: missing(&folder),
        ..TemplatesRecord::default()
    });
    fsx::ensure_dir(&folder)?;
    let (mut all, mut kept) = (Vec::new(), Vec::new());
    for template in TEMPLATES {
        let file = paths.template(template.name);
        let new = template.built_in.as_bytes();
        let old = fsx::read_if_there(&file, MAX_TEMPLATE)?;
        if old
            .as_deref()
            .is_none_or(|old| record.is_ours(&template, old))
        {
            if old.as_deref() != Some(new) {
                fsx::durable(&file, new)?;
            }
            record.texts.insert(template.name.to_owned(), digest(new));
        } else {
            fsx::durable(&beside(&file), new)?;
            kept.push(file.clone());
        }
        all.push(file);
    }
    let file = folder.join(RECORD);
    fsx::durable(&file, &fsx::to_json(&file, &record)?)?;
    Ok((all, kept))
}

pub(crate) fn made_folders(paths: &Paths) -> Vec<PathBuf> {
    read(paths).unwrap_or_default().made
}

/// Removes the templates that the user has not edited; returns those that stay.
pub(crate) fn take_away(paths: &Paths) -> Result<Vec<PathBuf>, FsError> {
    let Some(record) = read(paths) else {
        return Ok(Vec::new());
    };
    let mut kept = Vec::new();
    for template in TEMPLATES {
        let file = paths.template(template.name);
        let is_laid = record.texts.contains_key(template.name);
        match fsx::read_if_there(&file, MAX_TEMPLATE)? {
            Some(text) if is_laid && record.is_ours(&template, &text) => fsx::remove(&file)?,
            Some(_) => kept.push(file.clone()),
            None => {}
        }
        fsx::remove(&beside(&file))?;
    }
    fsx::remove(&paths.templates().join(RECORD))?;
    for folder in &record.made {
        fsx::remove_dir_if_empty(folder)?;
    }
    Ok(kept)
}

pub(super) fn is_ours(name: &str) -> bool {
    let stem = name.strip_suffix(BESIDE).unwrap_or(name);
    name == RECORD || TEMPLATES.iter().any(|template| template.name == stem)
}

pub(super) fn missing(path: &Path) -> Vec<PathBuf> {
    path.ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_owned)
        .collect()
}

fn read(paths: &Paths) -> Option<TemplatesRecord> {
    fsx::read_json(&paths.templates().join(RECORD), MAX_TEMPLATE)
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(BESIDE);
    name.into()
}

pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, name};
    use std::fs;

    fn paths(dir: &Path) -> Paths {
        let folders = [(name::CONFIG_DIR, "config"), (name::STATE_DIR, "state")];
        let pairs = folders.map(|(name, folder)| (name, dir.join(folder)));
        Paths::resolve(&Env::from_pairs(pairs)).unwrap()
    }

    #[test]
    fn an_edited_text_stays_and_the_new_one_is_put_next_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        lay_out(&paths).unwrap();
        let edited = paths.template("reflector.txt");
        fs::write(&edited, "mine: {transcript}").unwrap();
        let (all, kept) = lay_out(&paths).unwrap();
        assert_eq!((all.len(), kept), (TEMPLATES.len(), vec![edited.clone()]));
        assert_eq!(fs::read_to_string(&edited).unwrap(), "mine: {transcript}");
        let new = fs::read_to_string(beside(&edited)).unwrap();
        assert_eq!(new, REFLECTOR_TEMPLATE);
        assert_eq!(take_away(&paths).unwrap(), vec![edited]);
        assert_eq!(fs::read_dir(paths.templates()).unwrap().count(), 1);
    }

    #[test]
    fn an_unedited_one_of_an_earlier_version_is_renewed() {
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        lay_out(&paths).unwrap();
        let file = paths.template("curator.txt");
        let record = paths.templates().join(RECORD);
        let earlier = "an earlier one: {reflection}";
        fs::write(&file, earlier).unwrap();
        let text = fs::read_to_string(&record).unwrap();
        let now = digest(CURATOR_TEMPLATE.as_bytes());
        fs::write(&record, text.replace(&now, &digest(earlier.as_bytes()))).unwrap();
        assert!(lay_out(&paths).unwrap().1.is_empty());
        assert_eq!(fs::read_to_string(&file).unwrap(), CURATOR_TEMPLATE);
        take_away(&paths).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_built_in_ones_have_no_flaw_and_a_misspelled_placeholder_is_one() {
        for template in TEMPLATES {
            assert_eq!(template.flaw(template.built_in), None, "{}", template.name);
            let mut wanted = template.wanted.iter();
            assert!(wanted.all(|(mark, _)| template.built_in.contains(mark)));
        }
        let flaw = |text: &str| REFLECTOR.flaw(text).unwrap_or_default();
        assert!(flaw("nothing").contains("`{transcript}` is missing"));
        assert_eq!(flaw("{transcript} {\"a\": 1} {} { x } {A}"), "");
        assert_eq!(flaw("{transcript} {\"playbook\": 1} {?cited} {/cited}"), "");
        let slips = "playbok|Playbook|play-book|playbook1| playbook |citedIds|?failed|/sucess";
        for slip in slips.split('|') {
            let found = flaw(&format!("{{transcript}} {{{slip}}}"));
            let expected = format!("`{{{slip}}}` is no placeholder");
            assert!(found.starts_with(&expected), "{found}");
        }
    }
}
