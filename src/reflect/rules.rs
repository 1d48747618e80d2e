//! Stub until the rules arrive.
use crate::{playbook::Playbook, transcript::Facts};
pub fn reflect(f: &Facts, _p: &Playbook) -> String {
    let tags: Vec<_> = f
        .citations
        .iter()
        .map(|c| serde_json::json!({"name": c.as_str(), "tag": "helpful", "rationale": "stub"}))
        .collect();
    serde_json::json!({"analysis":"stub","bullet_tags":tags}).to_string()
}
pub fn curate(_f: &Facts, _p: &Playbook) -> String {
    "{\"reasoning\":\"\",\"operations\":[]}".into()
}
