//! What the tables have in common.

use std::fs;

use toml::{Table, Value};

pub(crate) fn read(path: &str) -> Table {
    println!("cargo::rerun-if-changed={path}");
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    text.parse().unwrap_or_else(|e| panic!("{path}: {e}"))
}

pub(crate) fn strings<'t>(of: &str, value: Option<&'t Value>) -> Vec<&'t str> {
    match value {
        None => Vec::new(),
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => {
            let texts = all.iter().map(Value::as_str);
            texts
                .collect::<Option<_>>()
                .unwrap_or_else(|| panic!("{of}: not a list of texts"))
        }
        Some(other) => panic!("{of}: {other} is no text"),
    }
}
