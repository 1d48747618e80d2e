//! Answers test vectors: one case a line on stdin, one answer a line on stdout.
//!
//! A case is `{"id", "fn", …}`, an answer `{"id", "result"}` or `{"id", "error"}`.

use std::io::{self, BufRead, Write};

use playbook::playbook::render::format_playbook;
use playbook::playbook::tags::{apply_bullet_tags, read_bullet_tags};
use playbook::playbook::{Flaw, Playbook};
use serde_json::{Map, Value, json};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        writeln!(out, "{}", answer(&case))?;
    }
    Ok(())
}

/// Answers one case.
pub(crate) fn answer(case: &Value) -> Value {
    match result(case) {
        Ok(result) => json!({"id": case["id"], "result": result}),
        Err(error) => json!({"id": case["id"], "error": error}),
    }
}

fn result(case: &Value) -> Result<Value, String> {
    match case["fn"].as_str() {
        Some("bullet_tags") => {
            let mut playbook = read(&case["playbook"])?;
            let (tags, _) = read_bullet_tags(&case["tags"]);
            apply_bullet_tags(&mut playbook, &tags);
            Ok(shown(&playbook))
        }
        Some("format_playbook") => {
            let template = case["template"].as_str().unwrap_or_default();
            Ok(format_playbook(&read(&case["playbook"])?, template).into())
        }
        other => Err(format!("unknown function {other:?}")),
    }
}

fn read(playbook: &Value) -> Result<Playbook, String> {
    Playbook::parse(playbook.to_string().as_bytes()).map_err(|flaw: Flaw| flaw.to_string())
}

/// The parts of a playbook that the vectors compare.
fn shown(playbook: &Playbook) -> Value {
    let parts = ["version", "last_updated", "sections"];
    let parts = parts.map(|key| Some((key.to_owned(), playbook.top(key)?.clone())));
    Value::Object(parts.into_iter().flatten().collect::<Map<_, _>>())
}
