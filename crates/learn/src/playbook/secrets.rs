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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_merge_kept_of_the_other_side_loses_its_secrets_too() {
        let key = ["sk-ant-", "api03-", "Zx8Kq2Lw9Vt4Rb7Np1Ym5Hc3Jd6Fg0Sa"].concat();
        let file = serde_json::json!({
            "sections": {"OTHERS": [{"name": "oth-001", "text": "ours"}]},
            "playbook": {"points": {"oth-001": {"other_text": format!("the key is {key}")}}}});
        let mut playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
        assert!(playbook.mask_secrets(&Masker::default()));
        let bytes = String::from_utf8(playbook.to_bytes()).unwrap();
        assert!(
            bytes.contains("other_text") && !bytes.contains(&key),
            "{bytes}"
        );
        assert!(
            !playbook.mask_secrets(&Masker::default()),
            "there is nothing left"
        );
    }
}
