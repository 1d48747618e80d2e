//! The current and former paths of a project, so that a moved or renamed one keeps its state.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::checkout::Checkout;
use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::project;

const MAX_FILE: u64 = 1 << 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    path: PathBuf,
    /// The project's path below the top of its checkout.
    below: PathBuf,
    checkout: Checkout,
    /// The paths from the oldest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    former: Vec<PathBuf>,
}

impl Place {
    fn here(project: &Path) -> Option<Self> {
        let git = project::git_above(project);
        let top = git.as_deref().and_then(Path::parent).unwrap_or(project);
        Some(Self {
            path: project.to_owned(),
            below: project.strip_prefix(top).ok()?.to_owned(),
            checkout: Checkout::of(project).filter(|checkout| checkout.is_certain())?,
            former: Vec::new(),
        })
    }

    pub fn read(paths: &Paths, project: &Path) -> Option<Self> {
        fsx::read_json(&paths.place(project), MAX_FILE)
    }

    /// Returns the former paths at which no other project has started since.
    pub fn left(&self, paths: &Paths) -> Vec<PathBuf> {
        let is_left = |former: &&PathBuf| Self::read(paths, former).is_none();
        self.former.iter().filter(is_left).cloned().collect()
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.checkout, &self.below) == (other.checkout, &other.below)
    }
}

pub fn note(paths: &Paths, project: &Path) -> Result<(), FsError> {
    let here = Place::here(project);
    let known = Place::read(paths, project);
    let is_known = |here: &Place| known.as_ref().is_some_and(|known| known.is_same(here));
    here.filter(|here| !is_known(here))
        .map_or(Ok(()), |here| write(paths, &here))
}

/// The state folder moves with the project, unless a state already exists at the new path.
pub fn follow(paths: &Paths, project: &Path) -> Result<Option<Place>, FsError> {
    let Some(here) = Place::here(project) else {
        return Ok(None);
    };
    let known = Place::read(paths, project);
    if let Some(known) = known.filter(|known| known.is_same(&here)) {
        return Ok(Some(known).filter(|known| !known.former.is_empty()));
    }
    let Some(moved) = before_the_move(paths, &here) else {
        return Ok(None);
    };
    // If a state already exists here, the old one in the memory is still found.
    _ = fsx::rename(&paths.project(&moved.path), &paths.project(project));
    let mut former = moved.former;
    former.retain(|path| path != project);
    former.push(moved.path);
    let place = Place { former, ..here };
    write(paths, &place)?;
    Ok(Some(place))
}

pub fn moved_to(paths: &Paths, former: &Path) -> Option<PathBuf> {
    let mut places = all(paths);
    places
        .find(|place| place.path.is_dir() && place.left(paths).iter().any(|path| path == former))
        .map(|place| place.path)
}

fn before_the_move(paths: &Paths, here: &Place) -> Option<Place> {
    let is_elsewhere = |place: &Place| {
        place.is_same(here)
            && place.path != here.path
            && Checkout::of(&place.path) != Some(here.checkout)
    };
    all(paths).find(is_elsewhere)
}

fn all(paths: &Paths) -> impl Iterator<Item = Place> {
    let folders = fs::read_dir(paths.projects()).into_iter().flatten();
    folders.flatten().filter_map(|folder| {
        let file = folder.path().join(crate::paths::PLACE_FILE);
        fsx::read_json(&file, MAX_FILE)
    })
}

fn write(paths: &Paths, place: &Place) -> Result<(), FsError> {
    let file = paths.place(&place.path);
    fsx::ensure_dir(&paths.project(&place.path))?;
    fsx::quick(&file, &fsx::to_json(&file, place)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, name};

    #[test]
    fn a_project_keeps_its_state_where_it_goes_and_takes_none_of_what_begins_behind_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let state = root.join("state");
        let env = [(name::HOME, &root), (name::STATE_DIR, &state)];
        let env = env.map(|(name, path)| (name, path.to_str().unwrap()));
        let paths = Paths::resolve(&Env::from_pairs(env)).unwrap();
        let [before, after] = ["before", "after"].map(|name| root.join(name));
        fs::create_dir(&before).unwrap();
        if !Checkout::of(&before).unwrap().is_certain() {
            return;
        }
        note(&paths, &before).unwrap();
        fs::write(paths.trust_record(&before), "x").unwrap();
        fs::rename(&before, &after).unwrap();
        assert_eq!(moved_to(&paths, &before), None, "nobody has been there yet");
        let place = follow(&paths, &after).unwrap().unwrap();
        assert_eq!(place.left(&paths), std::slice::from_ref(&before));
        assert_eq!(moved_to(&paths, &before), Some(after.clone()));
        assert!(paths.trust_record(&after).exists());
        fs::create_dir(&before).unwrap();
        assert_eq!(follow(&paths, &before).unwrap(), None);
        note(&paths, &before).unwrap();
        let place = follow(&paths, &after).unwrap().unwrap();
        assert!(place.left(&paths).is_empty());
    }
}
