//! A playbook as the command line shows it: without its secrets.

use std::ops::Deref;

use crate::playbook::Playbook;
use crate::playbook::context::Admission;
use crate::redact::Masker;
use crate::trust::Standing;

/// A playbook to look at.
///
/// Its texts are not those of the file, so it is a type of its own: nothing of it can be
/// written.
pub(super) struct Shown {
    masked: Playbook,
    file: Playbook,
}

impl Shown {
    pub(super) fn new(file: Playbook, masker: &Masker) -> Self {
        let mut shown = file.clone();
        shown.mask_secrets(masker);
        Self {
            masked: shown,
            file,
        }
    }

    /// Tells of each point, in their order, whether sessions are given it: a record of trust
    /// knows a point by its text in the file.
    pub(super) fn admissions(&self, trust: &Standing) -> Vec<Admission> {
        let points = self.file.points();
        points
            .map(|point| trust.admits(point.section, point.name, point.text))
            .collect()
    }
}

impl Deref for Shown {
    type Target = Playbook;

    fn deref(&self) -> &Playbook {
        &self.masked
    }
}
