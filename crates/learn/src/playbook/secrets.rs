//! Takes secrets out of a playbook that someone else wrote: a hand, a colleague, a tool.

use super::model::Playbook;
use crate::redact::Masker;

impl Playbook {
    /// Masks the secrets in all texts of the file, of unknown keys too; tells whether there
    /// were any.
    pub fn mask_secrets(&mut self, masker: &Masker) -> bool {
        let mut any = false;
        for value in self.root.values_mut() {
            any |= masker.mask_value(value);
        }
        let notes = self.meta.points.values_mut();
        for value in notes.flat_map(|note| note.rest.values_mut()) {
            any |= masker.mask_value(value);
        }
        any
    }
}
