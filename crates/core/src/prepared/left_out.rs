//! The key points that a start had no room for, or that rest: what a prompt may bring.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::context::is_linked;
use super::{Prepare, Ready, Stamp, StartKind};
use crate::checkout::Checkout;
use crate::fsx::{self, FsError};
use crate::hint::{PromptTerms, Term};
use crate::paths::Paths;
use crate::shown_record::ShownPoints;

/// At most so many are looked through at a prompt.
const MOST: usize = 300;

/// A key point as a session may be told it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointLeftOut {
    pub name: String,
    /// Its text: masked, one line.
    pub text: String,
    /// The hash of the text, by which the worker knows what was shown.
    pub hash: String,
    /// What a prompt must share with it.
    pub terms: Vec<Term>,
}

/// What the starts of one kind leave out, those worth most first.
///
/// It is made with what is [`Ready`] for the starts and from the same files, so it can never
/// bring in what a start would not: unknown, held back or of another checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    checkout: Checkout,
    points: Vec<PointLeftOut>,
}

impl LeftOut {
    /// What is left out of the `points` of a trusted checkout where a start has `said` some.
    pub fn new(checkout: Checkout, points: &[PointLeftOut], said: &ShownPoints) -> Self {
        let left = points.iter().filter(|point| !said.has(&point.name));
        Self {
            checkout,
            points: left.take(MOST).cloned().collect(),
        }
    }

    /// Keeps it for the prompts that come; where nothing is left out there is no file, and a
    /// prompt costs no more than to see that.
    pub fn keep(
        self,
        paths: &Paths,
        project: &Path,
        kind: StartKind,
        made_from: Vec<Stamp>,
    ) -> Result<(), FsError> {
        let file = file_of(paths, project, kind);
        if self.points.is_empty() {
            return fsx::remove(&file);
        }
        super::write(&file, made_from, self)
    }

    /// Finds what the starts of a kind leave out; nothing in any doubt.
    pub fn find(paths: &Paths, project: &Path, kind: StartKind) -> Option<Self> {
        let file = file_of(paths, project, kind);
        if !file.exists() || is_linked(project) {
            return None;
        }
        let left: Self = super::find_at(&file, &Ready::inputs(paths, project))?;
        (!left.checkout.is_replaced(project)).then_some(left)
    }

    /// The points that a prompt touches for certain, each with how well, best first.
    pub fn touched_by(self, prompt: &PromptTerms) -> Vec<(u32, PointLeftOut)> {
        let touched = self.points.into_iter().filter_map(|point| {
            let touch = prompt.touch(&point.terms)?;
            Some((touch, point))
        });
        let mut touched: Vec<_> = touched.collect();
        touched.sort_by_key(|(touch, _)| Reverse(*touch));
        touched
    }
}

fn file_of(paths: &Paths, project: &Path, kind: StartKind) -> PathBuf {
    match kind {
        StartKind::Full => paths.left_out(project),
        StartKind::Short => paths.left_out_of_compact(project),
    }
}
