//! What stands among the key points and is none: it is kept as it is, and told.

use serde_json::Value;

use super::entry;
use super::json::kind;
use super::model::Playbook;
use super::section::Section;

impl Playbook {
    /// Says how many entries of the five sections are no key points, and where the first is
    /// and why; `None` where there are none.
    pub fn odd_entries(&self) -> Option<String> {
        let mut odd = Section::ALL.into_iter().flat_map(|section| {
            let entries = (1..).zip(self.list(section.title()));
            entries.filter_map(move |(number, value)| {
                let flaw = flaw(value)?;
                Some(format!("{section}, entry {number}: {flaw}"))
            })
        });
        let first = odd.next()?;
        let told = match 1 + odd.count() {
            1 => "1 entry is no key point and is kept as it is".to_owned(),
            count => format!("{count} entries are no key points and are kept as they are"),
        };
        Some(format!("{told} ({first})"))
    }
}

fn flaw(value: &Value) -> Option<String> {
    let Some(fields) = value.as_object() else {
        return Some(format!("expected an object, found {}", kind(value)));
    };
    let mut keys = [entry::NAME, entry::TEXT].into_iter();
    keys.find_map(|key| match fields.get(key) {
        Some(Value::String(_)) => None,
        Some(other) => Some(format!("`{key}` is {}", kind(other))),
        None => Some(format!("no `{key}`")),
    })
}
