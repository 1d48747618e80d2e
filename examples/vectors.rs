//! Answers test vectors: one case a line on stdin, one answer a line on stdout.
//!
//! A case is `{"id", "fn", …}`, an answer `{"id", "result"}` or `{"id", "error"}`.

use std::io::{self, BufRead, Write};

use jiff::Timestamp;
use playbook::playbook::Playbook;
use playbook::playbook::ops::apply_operations;
use playbook::playbook::ops::prune;
use playbook::playbook::read::migrate;
use playbook::playbook::render::format_playbook;
use playbook::playbook::votes::{apply_bullet_tags, read_bullet_tags};
use playbook::reflect::extract::extract_json;
use playbook::transcript::extract_cited_ids;
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        writeln!(out, "{}", answer(&case))?;
    }
    Ok(())
}

pub(crate) fn answer(case: &Value) -> Value {
    match result(case) {
        Ok(result) => json!({"id": case["id"], "result": result}),
        Err(error) => json!({"id": case["id"], "error": error}),
    }
}

fn result(case: &Value) -> Result<Value, String> {
    match case["fn"].as_str() {
        Some("citations") => {
            let messages = case["messages"].as_array().map_or(&[][..], Vec::as_slice);
            Ok(json!(extract_cited_ids(messages)))
        }
        Some("json_extract") => {
            let reply = case["reply"].as_str().unwrap_or_default();
            let keys = case["expect_keys"].as_array().into_iter().flatten();
            let keys: Vec<&str> = keys.filter_map(Value::as_str).collect();
            Ok(extract_json(reply, &keys).map_or(Value::Null, Value::Object))
        }
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
        Some("operations") => {
            let mut playbook = read(&case["playbook"])?;
            let operations = case["operations"].as_array().map_or(&[][..], Vec::as_slice);
            apply_operations(&mut playbook, operations, "", Timestamp::UNIX_EPOCH);
            Ok(shown(&playbook))
        }
        Some("prune") => {
            let mut playbook = read(&case["playbook"])?;
            prune(&mut playbook, Timestamp::UNIX_EPOCH);
            Ok(shown(&playbook))
        }
        Some("migration") => {
            let bytes = match (&case["file"], &case["file_b64"]) {
                (Value::String(text), _) => Some(text.clone().into_bytes()),
                (_, Value::String(text)) => Some(base64(text)),
                _ => None,
            };
            let playbook = match bytes {
                Some(bytes) => migrate(&bytes).map_err(|flaw| flaw.to_string())?.playbook,
                None => Playbook::empty(),
            };
            Ok(shown(&playbook))
        }
        other => Err(format!("unknown function {other:?}")),
    }
}

fn read(playbook: &Value) -> Result<Playbook, String> {
    Playbook::parse(playbook.to_string().as_bytes()).map_err(|flaw| flaw.to_string())
}

/// Decodes base64; skips characters outside its alphabet.
fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text
        .bytes()
        .filter_map(|b| ALPHABET.iter().position(|a| *a == b))
    {
        bits = bits << 6 | u32::try_from(digit).unwrap_or(0);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}

fn shown(playbook: &Playbook) -> Value {
    let written = serde_json::from_slice(&playbook.to_bytes());
    let mut map: serde_json::Map<String, Value> = written.expect("JSON");
    map.shift_remove("playbook");
    Value::Object(map)
}
