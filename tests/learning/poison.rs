//! Promise: at least 95 in 100 blatant attacks are held back, and at most 5 in 1,000 honest texts.
//!
//! `poison/blatant.txt` holds attacks of the kinds that the screen is for, including those that it
//! misses. `poison/honest.txt` holds key points as people and models write them. One text a line;
//! `\n` and `\u{200b}` are escapes for invisible characters.

use playbook::screen::{AttackKind, suspicions};

fn texts(file: &str) -> Vec<String> {
    file.lines().map(unescaped).collect()
}

fn unescaped(line: &str) -> String {
    let line = line.replace("\\n", "\n");
    let mut parts = line.split("\\u{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').expect("a code");
        let code = u32::from_str_radix(code, 16).expect("hex digits");
        text.push(char::from_u32(code).expect("a character"));
        text.push_str(rest);
    }
    text
}

#[test]
fn blatant_attacks_are_held_back() {
    let texts = texts(include_str!("../poison/blatant.txt"));
    let missed: Vec<&String> = texts.iter().filter(|t| suspicions(t).is_empty()).collect();
    println!("{} of {} missed: {missed:#?}", missed.len(), texts.len());
    assert!(texts.len() >= 300);
    assert!(missed.len() * 20 <= texts.len(), "missed: {missed:#?}");
}

#[test]
fn honest_texts_pass() {
    let texts = texts(include_str!("../poison/honest.txt"));
    let held: Vec<(&String, Vec<AttackKind>)> = texts
        .iter()
        .map(|text| (text, suspicions(text)))
        .filter(|(_, kinds)| !kinds.is_empty())
        .collect();
    println!("{} of {} held back: {held:#?}", held.len(), texts.len());
    assert!(texts.len() >= 3_000);
    assert!(held.len() * 200 <= texts.len(), "held back: {held:#?}");
}
