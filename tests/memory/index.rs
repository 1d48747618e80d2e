//! The file by which hooks know what helped.

// The helpers are tests too.
use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;
use playbook::hint::{Hint, Index, MemoryKind, Signature};
use playbook::memory::IndexContent;

fn hint(id: &str, text: &str, effectiveness: f64) -> Hint {
    Hint {
        id: id.to_owned(),
        kind: MemoryKind::Lesson,
        text: text.to_owned(),
        occurrences: 3,
        last_seen: Timestamp::from_second(1_800_000_000).unwrap(),
        effectiveness,
    }
}

fn fix(id: &str, effectiveness: f64) -> Hint {
    Hint {
        kind: MemoryKind::Error,
        ..hint(id, "run it again", effectiveness)
    }
}

struct Written {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

fn write(content: &IndexContent) -> Written {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index");
    content.write(&path).unwrap();
    Written { _dir: dir, path }
}

fn ids(hints: &[Hint]) -> Vec<&str> {
    hints.iter().map(|hint| hint.id.as_str()).collect()
}

#[test]
fn every_signature_is_found_and_no_other() {
    let signatures: Vec<_> = (0..500_u64)
        .map(|n| Signature::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let content = IndexContent {
        by_signature: signatures
            .iter()
            .map(|s| (*s, vec![fix(&s.to_string(), 0.5)]))
            .collect(),
        by_words: vec![],
    };
    let written = write(&content);
    let index = Index::open(&written.path).unwrap().unwrap();
    for (signature, hints) in &content.by_signature {
        assert_eq!(&index.for_signature(*signature, 0.0, 3), hints);
    }
    let other = Signature::from_bits(1);
    assert_eq!(index.for_signature(other, 0.0, 3), []);
}

#[test]
fn of_several_fixes_the_most_effective_come_first() {
    let signature = Signature::from_bits(7);
    let hints = vec![
        fix("les-next", 0.6),
        fix("les-bad", 0.2),
        fix("les-best", 0.9),
        fix("les-last", 0.5),
    ];
    let written = write(&IndexContent {
        by_signature: vec![(signature, hints)],
        by_words: vec![],
    });
    let index = Index::open(&written.path).unwrap().unwrap();
    let found = index.for_signature(signature, 0.3, 2);
    assert_eq!(ids(&found), ["les-best", "les-next"]);
}

fn by_words() -> Written {
    let filler = (0..50).map(|n| hint(&format!("les-{n}"), &format!("filler number {n}"), 0.5));
    let mut hints = vec![
        hint(
            "les-index",
            "Add an index to the columns of a database join",
            0.5,
        ),
        hint(
            "les-cache",
            "Check the cache before computing embeddings",
            0.5,
        ),
        hint(
            "les-weak",
            "Check the cache before computing embeddings twice",
            0.3,
        ),
    ];
    hints.extend(filler);
    write(&IndexContent {
        by_signature: vec![],
        by_words: hints,
    })
}

#[test]
fn a_prompt_finds_what_shares_its_rare_words() {
    let written = by_words();
    let index = Index::open(&written.path).unwrap().unwrap();
    let found = |prompt, floor, limit| index.for_prompt(prompt, floor, limit);
    let prompt = "Why is computing the embeddings slow? Is there no cache?";
    assert_eq!(ids(&found(prompt, 0.3, 3)), ["les-cache", "les-weak"]);
    assert_eq!(ids(&found(prompt, 0.3, 1)), ["les-cache"]);
    assert_eq!(ids(&found(prompt, 0.99, 3)), [""; 0]);
    assert_eq!(
        ids(&found("the cache", 0.0, 3)),
        [""; 0],
        "one word is chance"
    );
    assert_eq!(ids(&found("good morning", 0.0, 3)), [""; 0]);
    assert_eq!(ids(&found("", 0.0, 3)), [""; 0]);
}

#[test]
fn a_prompt_finds_nothing_that_only_helps_against_an_error() {
    let of_errors = (0..700_u64).map(|n| {
        let own = hint(&format!("les-{n}"), "Check the embeddings cache", 0.9);
        (Signature::from_bits(n << 40), vec![own])
    });
    let written = write(&IndexContent {
        by_signature: of_errors.collect(),
        by_words: vec![
            hint("les-a", "Check the embeddings cache", 0.5),
            hint("les-b", "Use tabs in makefiles", 0.5),
        ],
    });
    let index = Index::open(&written.path).unwrap().unwrap();
    let found = index.for_prompt("the embeddings cache", 0.3, 9);
    assert_eq!(ids(&found), ["les-a"]);
}

#[test]
fn the_same_content_makes_the_same_file() {
    let (one, two) = (by_words(), by_words());
    assert_eq!(fs::read(&one.path).unwrap(), fs::read(&two.path).unwrap());
}
