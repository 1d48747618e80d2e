//! The rules of masking, `data/secrets.toml`, as Rust.

use std::fmt::Write as _;

use toml::{Table, Value};

use crate::table::strings;

/// How much of a text a pattern is shown behind a keyword, in bytes.
const AHEAD: i64 = 256;
/// How random a secret is at the least, in bits per byte.
const ENTROPY: f64 = 2.5;

/// The rules as Rust.
pub(crate) fn secrets(table: &Table) -> String {
    let rules = table["rules"].as_table().expect("`rules` is a table");
    let (mut rows, mut examples) = (String::new(), String::new());
    for (id, rule) in rules {
        let rule = rule.as_table().expect("a rule is a table");
        let known = [
            "description",
            "formerly",
            "keywords",
            "regex",
            "place",
            "near",
            "ahead",
            "entropy",
            "allow",
            "proof",
            "examples",
        ];
        let unknown = rule.keys().find(|key| !known.contains(&key.as_str()));
        assert!(unknown.is_none(), "{id}: there is no field {unknown:?}");
        let keywords = strings(id, rule.get("keywords"));
        let is_short = keywords.iter().any(|keyword| keyword.len() < 3);
        assert!(!is_short, "{id}: a keyword has three bytes or more");
        let number = |key: &str| rule.get(key).and_then(Value::as_integer);
        let place = match (rule.get("place").and_then(Value::as_str), number("near")) {
            (None, None) => "Keyword".to_owned(),
            (Some("name"), None) => "Name".to_owned(),
            (None, Some(reach)) => format!("Near({reach})"),
            other => panic!("{id}: a rule has no place such as {other:?}"),
        };
        let proof = match rule.get("proof").and_then(Value::as_str) {
            None => "Shape",
            Some("context") => "Context",
            Some(other) => panic!("{id}: a rule has no proof such as {other:?}"),
        };
        let _ = writeln!(
            rows,
            "SecretRule {{ id: Cow::Borrowed({id:?}), formerly: {:?}, keywords: &{:?}, \
             pattern: Cow::Borrowed({:?}), place: MaskPlace::{place}, ahead: {}, entropy: {:?}, \
             allow: &{:?}, proof: SecretProof::{proof}, compiled: OnceLock::new() }},",
            rule.get("formerly").and_then(Value::as_str),
            keywords,
            rule["regex"].as_str().unwrap_or_default(),
            number("ahead").unwrap_or(AHEAD),
            rule.get("entropy")
                .and_then(Value::as_float)
                .unwrap_or(ENTROPY),
            strings(id, rule.get("allow")),
        );
        let shown = |key: &str| strings(id, rule["examples"].get(key));
        let _ = writeln!(
            examples,
            "({id:?}, &{:?}, &{:?}),",
            shown("masks"),
            shown("leaves")
        );
    }
    let allow = |key: &str| strings(key, table["allow"].get(key));
    format!(
        "pub(super) static RULES: [SecretRule; {}] = [{rows}];\n\
         const FILLERS: &[&str] = &{:?};\n\
         const PLACEHOLDERS: &[&str] = &{:?};\n\
         #[cfg(test)]\n\
         pub(super) const EXAMPLES: &[(&str, &[&str], &[&str])] = &[{examples}];\n",
        rules.len(),
        allow("fillers"),
        allow("placeholders"),
    )
}
