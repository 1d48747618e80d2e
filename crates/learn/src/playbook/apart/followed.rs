//! Votes that follow their text: a merge may have given a point another number.

use std::collections::BTreeMap;

use super::VotesApart;
use crate::digest::name_of;
use crate::playbook::Playbook;
use crate::playbook::clean::clean_text;
use crate::playbook::job_votes::renamed;

impl VotesApart {
    /// The same by the names of now: a merge may have given a point another number, and its old
    /// one to another text.
    pub(super) fn followed(mut self, file: &Playbook) -> Self {
        let by_text: BTreeMap<String, &str> = file
            .points()
            .map(|point| (hash(point.text), point.name))
            .collect();
        let is_here = |name: &str, text: &str| {
            let point = file.points().find(|point| point.name == name);
            point.is_some_and(|point| hash(point.text) == text)
        };
        let moved = self.points.iter().filter_map(|(name, point)| {
            let text = point.text.as_ref()?;
            let now = *by_text.get(text)?;
            (!is_here(name, text)).then(|| (name.clone(), now.to_owned()))
        });
        let names: BTreeMap<String, String> = moved.collect();
        if names.is_empty() {
            return self;
        }
        for (name, point) in std::mem::take(&mut self.points) {
            let name = names.get(&name).cloned().unwrap_or(name);
            self.points.entry(name).or_default().add(&point);
        }
        for votes in self.votes.values_mut() {
            *votes = renamed(votes, &names);
        }
        self
    }

    /// The same, on its way into the file with a job.
    #[must_use]
    pub fn moved_with(&self, job: &str) -> Self {
        Self {
            into_file: Some(job.to_owned()),
            ..self.clone()
        }
    }
}

/// By which a text is known again.
pub(super) fn hash(text: &str) -> String {
    name_of(clean_text(text).as_bytes())
}
