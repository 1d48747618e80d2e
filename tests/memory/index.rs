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
    index: Index,
}

fn write(by_signature: &[(Signature, Vec<Hint>)], by_words: &[Hint]) -> Written {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index");
    let content = IndexContent {
        by_signature: by_signature.to_vec(),
        by_words: by_words.to_vec(),
    };
    content.write(&path).unwrap();
    let index = Index::open(&path).unwrap().unwrap();
    Written {
        _dir: dir,
        path,
        index,
    }
}

fn ids(hints: &[Hint]) -> Vec<&str> {
    hints.iter().map(|hint| hint.id.as_str()).collect()
}

#[test]
fn every_signature_is_found_and_no_other() {
    let bits = (0..500_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let signatures = bits.map(Signature::from_bits);
    let hints = signatures.map(|s| (s, vec![fix(&s.to_string(), 0.5)]));
    let by_signature: Vec<_> = hints.collect();
    let index = write(&by_signature, &[]).index;
    for (signature, hints) in &by_signature {
        assert_eq!(&index.for_signature(*signature, 0.0, 3), hints);
    }
    assert_eq!(index.for_signature(Signature::from_bits(1), 0.0, 3), []);
}

#[test]
fn of_several_fixes_the_most_effective_come_first() {
    let signature = Signature::from_bits(7);
    let fixes = [
        ("les-next", 0.6),
        ("les-bad", 0.2),
        ("les-best", 0.9),
        ("les-last", 0.5),
    ];
    let fixes = fixes.map(|(id, effectiveness)| fix(id, effectiveness));
    let index = write(&[(signature, fixes.to_vec())], &[]).index;
    let found = index.for_signature(signature, 0.3, 2);
    assert_eq!(ids(&found), ["les-best", "les-next"]);
}

fn by_words() -> Written {
    let cache = "Check the cache before computing embeddings";
    let columns = "Add an index to the columns of a database join";
    let mut hints = vec![
        hint("les-index", columns, 0.5),
        hint("les-cache", cache, 0.5),
        hint("les-weak", &format!("{cache} twice"), 0.3),
    ];
    hints.extend((0..50).map(|n| hint(&format!("les-{n}"), &format!("filler number {n}"), 0.5)));
    write(&[], &hints)
}

#[test]
fn a_prompt_finds_what_shares_its_rare_words() {
    let index = by_words().index;
    let found = |prompt, floor, limit| index.for_prompt(prompt, floor, limit);
    let prompt = "Why is computing the embeddings slow? Is there no cache?";
    assert_eq!(ids(&found(prompt, 0.3, 3)), ["les-cache", "les-weak"]);
    assert_eq!(ids(&found(prompt, 0.3, 1)), ["les-cache"]);
    assert_eq!(found(prompt, 0.99, 3), []);
    // One word is chance.
    for prompt in ["the cache", "good morning", ""] {
        assert_eq!(found(prompt, 0.0, 3), [], "{prompt}");
    }
}

#[test]
fn a_prompt_finds_nothing_that_only_helps_against_an_error() {
    let of_errors = (0..700_u64).map(|n| {
        let own = hint(&format!("les-{n}"), "Check the embeddings cache", 0.9);
        (Signature::from_bits(n << 40), vec![own])
    });
    let of_words = [
        hint("les-a", "Check the embeddings cache", 0.5),
        hint("les-b", "Use tabs in makefiles", 0.5),
    ];
    let index = write(&of_errors.collect::<Vec<_>>(), &of_words).index;
    let found = index.for_prompt("the embeddings cache", 0.3, 9);
    assert_eq!(ids(&found), ["les-a"]);
}

#[test]
fn the_same_content_makes_the_same_file() {
    let (one, two) = (by_words(), by_words());
    assert_eq!(fs::read(&one.path).unwrap(), fs::read(&two.path).unwrap());
}
