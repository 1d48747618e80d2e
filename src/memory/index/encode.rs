//! From lessons to bytes.

use std::collections::BTreeMap;

use serde_json::json;

use super::{HEADER, HINT, HINTS, Hint, IndexContent, MAGIC, POSTING, SIGNATURE, WORD, words};

/// The bytes of the file, the same for the same content.
pub(super) fn encode(content: &IndexContent) -> Vec<u8> {
    let mut by_signature: Vec<_> = content.by_signature.iter().collect();
    by_signature.sort_by_key(|(signature, _)| *signature);
    let by_words = || content.by_words.iter().take(narrow(HINTS) as usize);
    let mut hints: Vec<&Hint> = by_signature.iter().flat_map(|(_, hints)| hints).collect();
    let first_by_words = hints.len();
    hints.extend(by_words());

    let words_of: Vec<_> = by_words().map(|hint| words::hashes(&hint.text)).collect();
    let mut postings: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (at, hashes) in words_of.iter().enumerate() {
        for hash in hashes {
            let hint = narrow((first_by_words + at) as u64);
            postings.entry(*hash).or_default().push(hint);
        }
    }
    let rarity: BTreeMap<u64, f32> = postings
        .iter()
        .map(|(hash, found)| (*hash, weight(words_of.len(), found.len())))
        .collect();
    let total: usize = postings.values().map(Vec::len).sum();

    let mut bytes = Vec::new();
    bytes.extend(MAGIC);
    for count in [by_signature.len(), hints.len(), postings.len(), total] {
        bytes.extend(narrow(count as u64).to_le_bytes());
    }
    let length_at = bytes.len();
    bytes.extend(0_u64.to_le_bytes());

    let mut first = 0_u32;
    for (signature, hints) in &by_signature {
        let number = narrow(hints.len() as u64);
        bytes.extend(signature.to_bits().to_le_bytes());
        bytes.extend(first.to_le_bytes());
        bytes.extend(number.to_le_bytes());
        first += number;
    }
    let texts: Vec<String> = hints.iter().map(|hint| text(hint)).collect();
    let mut place = HEADER
        + SIGNATURE * by_signature.len() as u64
        + HINT * hints.len() as u64
        + WORD * postings.len() as u64
        + POSTING * total as u64;
    for (at, text) in texts.iter().enumerate() {
        let words = at.checked_sub(first_by_words).map(|at| &words_of[at]);
        let weight: f32 = words.map_or(0.0, |words| words.iter().map(|w| rarity[w]).sum());
        bytes.extend(place.to_le_bytes());
        bytes.extend(narrow(text.len() as u64).to_le_bytes());
        bytes.extend(weight.to_le_bytes());
        bytes.extend(hints[at].effectiveness.to_le_bytes());
        place += text.len() as u64;
    }
    let mut first = 0_u32;
    for (hash, found) in &postings {
        let number = narrow(found.len() as u64);
        bytes.extend(hash.to_le_bytes());
        bytes.extend(first.to_le_bytes());
        bytes.extend(number.to_le_bytes());
        bytes.extend(rarity[hash].to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        first += number;
    }
    for hint in postings.values().flatten() {
        bytes.extend(hint.to_le_bytes());
    }
    for text in &texts {
        bytes.extend(text.as_bytes());
    }
    let length = bytes.len() as u64;
    bytes[length_at..length_at + 8].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// How much a word tells that stands in `found` of `all` hints (inverse document
/// frequency, as BM25 has it).
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn weight(all: usize, found: usize) -> f32 {
    let (all, found) = (all as f64, found as f64);
    (1.0 + (all - found + 0.5) / (found + 0.5)).ln() as f32
}

fn text(hint: &Hint) -> String {
    json!({
        "id": hint.id,
        "kind": hint.kind.word(),
        "text": hint.text,
        "occurrences": hint.occurrences,
        "last_seen": hint.last_seen.as_millisecond(),
        "effectiveness": hint.effectiveness,
        "names": hint.names,
    })
    .to_string()
}

/// The counts of a file that holds at most [`SIGNATURES`](super::SIGNATURES) and
/// [`HINTS`] fit into 32 bits.
fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
