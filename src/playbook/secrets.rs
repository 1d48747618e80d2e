//! Takes secrets out of a playbook that someone else wrote: a hand, a colleague, a tool.

use super::model::Playbook;
use crate::redact::Masker;

impl Playbook {
    /// Masks the secrets in all texts of the file, of unknown keys too; tells whether there
    /// were any.
    pub(crate) fn mask_secrets(&mut self, masker: &Masker) -> bool {
        let mut any = false;
        for value in self.root.values_mut() {
            any |= masker.mask_value(value);
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_of_all_texts_go_and_all_else_stays() {
        let file = json!({"note": "password=hunter2", "sections": {
            "OTHERS": [{"name": "oth-001", "text": "export DB_PASSWORD=hunter2", "mine": ["a"]}],
            "MINE": [{"text": "<private>b</private>"}]}});
        let mut playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
        assert!(playbook.mask_secrets(&Masker::default()));
        let text = String::from_utf8(playbook.to_bytes()).unwrap();
        assert!(
            !text.contains("hunter2") && !text.contains("<private>"),
            "{text}"
        );
        assert!(text.contains("export DB_PASSWORD=[masked env-secret]") && text.contains("mine"));
        assert!(!playbook.mask_secrets(&Masker::default()));
    }
}
