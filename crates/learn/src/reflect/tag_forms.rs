//! The forms in which models write bullet tags, beside the one they are asked for.

use serde_json::{Map, Value, json};

use super::extract::{extract_json, without_fence};
use super::reply::REFLECTION_KEYS;
use crate::playbook::votes::read_bullet_tags;

pub(super) fn is_known(object: &Map<String, Value>) -> bool {
    REFLECTION_KEYS.iter().any(|key| object.contains_key(*key))
}

/// A reply that is nothing but its tags, or one of them, as an object that holds them.
pub(super) fn tags_alone(reply: &str) -> Option<Map<String, Value>> {
    let text = without_fence(reply);
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let object = extract_json(&format!("{{\"bullet_tags\": {text}}}"), &["bullet_tags"])?;
    let (tags, _) = read_bullet_tags(&Value::Array(tag_items(object.get("bullet_tags"))));
    (!tags.is_empty()).then_some(object)
}

/// The tags in whatever form they were written: in a list, alone, by name, or one for
/// several names.
pub(super) fn tag_items(said: Option<&Value>) -> Vec<Value> {
    let items = match said {
        None => Vec::new(),
        Some(Value::Array(items)) => items.clone(),
        Some(Value::Object(tags)) if !tags.contains_key("name") => {
            let named = |(name, tag): (&String, &Value)| match tag {
                Value::Object(tag) => {
                    let mut tag = tag.clone();
                    tag.insert("name".to_owned(), name.as_str().into());
                    Value::Object(tag)
                }
                tag => json!({"name": name, "tag": tag}),
            };
            tags.iter().map(named).collect()
        }
        Some(other) => vec![other.clone()],
    };
    let each_name = |mut item: Value| match item.get_mut("name").map(Value::take) {
        Some(Value::Array(names)) => names
            .into_iter()
            .map(|name| {
                let mut item = item.clone();
                item["name"] = name;
                item
            })
            .collect(),
        Some(name) => {
            item["name"] = name;
            vec![item]
        }
        None => vec![item],
    };
    items
        .into_iter()
        .flat_map(each_name)
        .map(in_lower_case)
        .collect()
}

fn in_lower_case(mut item: Value) -> Value {
    if let Some(Value::String(tag)) = item.get_mut("tag") {
        *tag = tag.trim().to_lowercase();
    }
    item
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use crate::playbook::votes::{BulletTag, Tag};
    use crate::reflect::reply::{Reflection, Reply as _};

    #[rstest]
    #[case::alone(r#"{"bullet_tags": {"name": "pat-001", "tag": "helpful"}}"#)]
    #[case::by_name(r#"{"analysis": "", "bullet_tags": {"pat-001": "helpful"}}"#)]
    #[case::named_objects(r#"{"bullet_tags": {"pat-001": {"tag": "helpful"}}}"#)]
    #[case::one_for_several(r#"{"bullet_tags": [{"name": ["pat-001"], "tag": "helpful"}]}"#)]
    #[case::a_bare_list("```json\n[{\"name\": \"pat-001\", \"tag\": \"helpful\"}]\n```")]
    #[case::a_bare_tag(r#"{"name": "pat-001", "tag": "helpful"}"#)]
    fn tags_are_read_in_whatever_form_they_come(#[case] reply: &str) {
        let (reflection, skipped) = Reflection::parse(reply).unwrap();
        let tag = BulletTag {
            name: "pat-001".to_owned(),
            tag: Tag::Helpful,
            rationale: String::new(),
        };
        assert_eq!(reflection.bullet_tags, [tag]);
        assert_eq!(skipped, []);
    }
}
