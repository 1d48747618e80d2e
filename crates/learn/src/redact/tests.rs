//! The table of rules against its examples, and what holds for any text.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::string::string_regex;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;
use regex_automata::meta::Regex;
use rstest::rstest;
use serde::Deserialize;

use super::place::Tie;
use super::rule::{SecretRule, any_of};
use super::table::{SecretTable, TABLE, TABLE_TEXT};
use super::*;

/// The number of times that kinds of secrets are mixed.
const MIXES: usize = 2_000;

/// The size of the windows in which the tests mask streams.
const WINDOW: usize = 1 << 12;

/// Keys that a rule of the table may have.
const KEYS: &str = "description keywords regex value place ahead entropy allow proof examples";

/// The examples of a rule: texts that are masked in part, and texts that are kept.
#[derive(Deserialize)]
struct Examples {
    masks: Vec<String>,
    leaves: Vec<String>,
}

/// The cases of `cases.toml`.
#[derive(Deserialize)]
struct Cases {
    kinds: Vec<String>,
    places: Vec<String>,
    look_alikes: Vec<String>,
    hostile: Vec<String>,
    pieces: Vec<String>,
    stays: Vec<String>,
    private: Vec<(String, String)>,
}

fn cases() -> Cases {
    toml::from_str(include_str!("cases.toml")).unwrap()
}

/// Returns the rules of the table by name, as they are written there.
fn written() -> toml::Table {
    let mut table: toml::Table = TABLE_TEXT.parse().unwrap();
    table.remove("rules").unwrap().try_into().unwrap()
}

fn examples() -> Vec<(String, Examples)> {
    let examples = written().into_iter().map(|(id, rule)| {
        let read = rule["examples"].clone().try_into();
        let examples = read.unwrap_or_else(|e| panic!("{id}: {e}"));
        (id, examples)
    });
    examples.collect()
}

#[test]
fn each_rule_of_the_table_can_be_used() {
    for (id, rule) in written() {
        let unknown = rule.as_table().unwrap().keys();
        let unknown: Vec<_> = unknown
            .filter(|key| !KEYS.split(' ').any(|known| known == **key))
            .collect();
        assert!(unknown.is_empty(), "{id}: unknown keys {unknown:?}");
        let read: Result<SecretRule, _> = rule.try_into();
        let rule = read.unwrap_or_else(|e| panic!("{id}: {e}"));
        rule.compile().unwrap_or_else(|e| panic!("{id}: {e:?}"));
        let is_short = rule.keywords.iter().any(|keyword| keyword.len() < 3);
        assert!(!is_short, "{id}: a keyword has three bytes or more");
    }
    let table: SecretTable = toml::from_str(TABLE_TEXT).unwrap();
    assert!(
        table.ties.iter().all(Tie::can_be_used),
        "a tie has a broken pattern"
    );
    let allow = table.allow;
    let lists = [
        allow.fillers,
        allow.placeholders,
        allow.expressions,
        allow.words,
    ];
    let patterns = lists.into_iter().flatten();
    for pattern in patterns.chain([allow.stock, allow.message]) {
        any_of(std::slice::from_ref(&pattern)).unwrap_or_else(|e| panic!("{pattern}: {e:?}"));
    }
}

/// An example as it is, and as it must become, with all notes alike.
fn example(text: &str) -> (String, String) {
    let text = text.replace('¦', "");
    let plain = text.replace(['«', '»'], "");
    let mut masked = String::new();
    for part in text.split_inclusive(['«', '»']) {
        match part.strip_suffix('»') {
            Some(_) => masked.push_str("[masked]"),
            None => masked.push_str(part.trim_end_matches('«')),
        }
    }
    (plain, masked)
}

/// The secrets of an example, as they must not be seen again.
fn secrets(text: &str) -> Vec<String> {
    let text = text.replace('¦', "");
    let secrets = text.split('«').skip(1).filter_map(|s| s.split('»').next());
    secrets.map(str::to_owned).collect()
}

/// Returns a masked text with all notes alike.
fn alike(text: &str) -> String {
    let note = Regex::new(r"\[masked [^ \]]+\]").unwrap();
    let mut out = text.to_owned();
    let notes: Vec<_> = note.find_iter(text).collect();
    for found in notes.into_iter().rev() {
        out.replace_range(found.range(), "[masked]");
    }
    out
}

#[test]
fn every_rule_masks_its_examples_and_nothing_around_them() {
    let mut failed = Vec::new();
    for (id, Examples { masks, leaves }) in examples() {
        assert!(
            !masks.is_empty() && !leaves.is_empty(),
            "{id} has no examples"
        );
        for text in &masks {
            let (plain, want) = example(text);
            let got = mask(&plain);
            if alike(&got) != want {
                failed.push(format!("{id}: {plain}\n  got  {got}\n  want {want}\n"));
            }
        }
        for text in &leaves {
            let plain = text.replace('¦', "");
            let got = mask(&plain);
            if got != plain {
                failed.push(format!("{id} takes {plain}\n  got  {got}\n"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_rule_finds_its_first_example_itself() {
    for (rule, (id, examples)) in TABLE.rules.iter().zip(examples()) {
        let found = table::find(
            &example(&examples.masks[0]).0,
            private::Unclosed::ToEnd,
            &[],
        );
        let is_found = found.iter().any(|span| span.id == rule.id);
        assert!(rule.id == id && is_found, "{id}: {found:?}");
    }
}

/// Secrets next to each other do not hide each other.
#[test]
fn no_mix_of_secrets_lets_one_out() {
    let examples = examples().into_iter();
    let all: Vec<String> = examples.flat_map(|(_, examples)| examples.masks).collect();
    let seed = 15;
    let mut random = SmallRng::seed_from_u64(seed);
    for round in 0..MIXES {
        let count = 2 + round % 6;
        let picked: Vec<&str> = (0..count)
            .filter_map(|_| all.choose(&mut random).map(String::as_str))
            .collect();
        let joint = [" ", "\n", ";"].choose(&mut random).copied().unwrap_or(" ");
        let text = picked.join(joint).replace(['«', '»', '¦'], "");
        let masked = mask(&text);
        for secret in picked.iter().flat_map(|text| secrets(text)) {
            let is_there = masked.contains(&secret);
            assert!(
                !is_there,
                "seed {seed}, round {round}: {secret} in\n{masked}\nof\n{text}"
            );
        }
    }
}

/// A secret is also masked where its text is in JSON, or in JSON within JSON.
#[test]
fn a_secret_is_found_within_json() {
    let mut seen = Vec::new();
    for (id, examples) in examples() {
        for text in &examples.masks {
            let mut plain = format!("x\n{}", example(text).0);
            for depth in 1..=2 {
                plain = serde_json::json!({ "text": plain }).to_string();
                let masked = mask(&plain);
                let parts = secrets(text);
                let parts = parts.iter().flat_map(|s| s.split(['\n', '"']));
                let left = parts.filter(|s| s.len() > 7 && !s.starts_with("-----"));
                for secret in left.filter(|secret| masked.contains(*secret)) {
                    seen.push(format!("{id} at depth {depth}: {secret} in {masked}"));
                }
            }
        }
    }
    assert!(seen.is_empty(), "{}", seen.join("\n"));
}

/// A value in a secret's place is masked whole, whatever it looks like, and nothing around it is.
#[test]
fn in_a_secrets_place_any_value_is_masked() {
    let seed = [rand::random(); 32];
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), random);
    let Cases { places, kinds, .. } = cases();
    let mut failed = Vec::new();
    for kind in &kinds {
        let values = string_regex(kind).unwrap();
        for place in &places {
            let (text, barred) = place.rsplit_once('~').unwrap_or((place, ""));
            let value = values.new_tree(&mut runner).unwrap().current();
            if !value.contains(|c| barred.contains(c)) {
                let masked = mask(&text.replace('§', &value)).into_owned();
                if alike(&masked) != text.replace('§', "[masked]") {
                    failed.push(format!("{kind}: {value} in {text} -> {masked}"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "seed {seed:?}: {failed:#?}");
}

/// A placeholder in a secret's place stays.
#[test]
fn placeholders_stay_in_any_place() {
    let seed = 48;
    let mut random = SmallRng::seed_from_u64(seed);
    let stand_ins =
        "$DB_PASS|${DB_PASS}|<password>|process.env.DB_PASS|****|{{ .Values.pw }}|%s|null";
    let stand_ins: Vec<_> = stand_ins.split('|').collect();
    for place in cases().places {
        let (text, _) = place.rsplit_once('~').unwrap_or((&place, ""));
        let stand_in = stand_ins[random.random_range(0..stand_ins.len())];
        let text = text.replace('§', stand_in);
        assert_eq!(mask(&text), text, "seed {seed}");
    }
}

#[test]
fn after_the_id_of_aws_its_secret_goes_and_all_else_stays() {
    let id = concat!("AKIA", "IAMW6A67CTPCLUNN");
    for between in [" ", "\n", ", ", "\t", " and the secret is ", "\", \"", "=>"] {
        let text = |id, secret| format!("use {id}{between}{secret} of Jane Doe\nin eu-west-1");
        let plain = text(id, "eUHclG0MEwS/nvYdPWCkQwfG49Vo7GkJNtLrHhxN");
        assert_eq!(alike(&mask(&plain)), text("[masked]", "[masked]"));
    }
}

/// Regression: real sessions have these.
#[test]
fn code_and_ids_around_a_name_stay() {
    for text in cases().stays {
        assert_eq!(mask(&text), text);
    }
}

/// At most one in a hundred of what only looks like a secret is masked.
#[test]
fn what_only_looks_like_a_secret_stays() {
    let looks = cases().look_alikes;
    let texts = (0..12_u64).flat_map(|round| {
        let number = 8_000 + round * 37;
        let random = number.wrapping_mul(0x9E37_79B1_7F4A_7C15);
        let hash = format!("{random:016x}{:024x}", number << 40);
        let uuid = format!("550e8400-e29b-41d4-a716-4466{:08x}", number * 7_919);
        let fill = |text: &String| text.replace('§', &hash).replace('~', &uuid);
        let texts = looks.iter().map(fill);
        texts
            .map(move |text| text.replace('%', &number.to_string()))
            .collect::<Vec<_>>()
    });
    let taken: Vec<String> = texts.filter(|text| mask(text) != *text).collect();
    assert!(taken.len() * 100 <= looks.len() * 12, "{taken:#?}");
}

#[test]
fn private_parts_go() {
    for (text, want) in cases().private {
        assert_eq!(mask(&text), want);
    }
}

/// A private part of any length goes, also where a stream is masked piece by piece.
#[rstest]
#[case::closed(
    "a <private>",
    "x<private>y</private>é ",
    "</private> b",
    "a [masked private] b"
)]
#[case::unclosed("a <private>", "password=hunter22 ", "", "a [masked private]")]
#[case::from_the_start("<PRIVATE>", "<private> x", "</private> b", "[masked private]")]
fn a_long_private_part_goes(
    #[case] before: &str,
    #[case] inner: &str,
    #[case] after: &str,
    #[case] want: &str,
) {
    let text = format!("{before}{}{after}", inner.repeat(3 * WINDOW / inner.len()));
    let (out, counts) = filtered(&text, 257);
    assert_eq!(out, want);
    assert_eq!(counts.values().sum::<u64>(), 1, "{counts:?}");
}

/// Masks a text as a stream, reading `chunk` bytes at a time.
fn filtered(text: &str, chunk: usize) -> (String, Counts) {
    let input = std::io::BufReader::with_capacity(chunk, text.as_bytes());
    let mut out = Vec::new();
    let counts = stream::filter_in(WINDOW, &Masker::default(), input, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), counts)
}

/// Regression: where two windows met in one line, a secret was parted from its name.
#[test]
fn a_line_of_any_length_is_masked_as_its_parts_are() {
    let part = r#"{"name": "a b", "password": "Xy7-kLm9 pQ", "port": 5432}, "#;
    for chunk in [97, 1_000, 5_000] {
        let (out, _) = filtered(&part.repeat(500), chunk);
        assert!(out == mask(part).repeat(500), "{chunk}: {out}");
    }
}

/// Regression: what was kept of a window was read again with each chunk.
#[test]
fn a_stream_of_names_takes_linear_time() {
    let start = std::time::Instant::now();
    let (out, _) = filtered(&"password=".repeat(1 << 15), 512);
    assert!(out.len() < 100 && start.elapsed().as_secs() < 20, "{out}");
}

#[test]
fn json_stays_json_when_a_private_part_is_not_closed() {
    let reply = r#"{"a": "x <private>b \" c", "b": 1}"#;
    let masked = Masker::default().mask_json(reply);
    assert_eq!(masked, r#"{"a": "x [masked private]", "b": 1}"#);
}

/// Every keyword, over and over: nothing is read twice as often because the text is twice as
/// long.
#[test]
fn hostile_texts_are_masked_for_good_and_in_linear_time() {
    let keywords = TABLE.rules.iter().flat_map(|rule| &rule.keywords);
    let keywords = keywords.chain(&TABLE.names.seeds);
    let hostile = cases().hostile.into_iter().map(|text| (text, 1 << 14));
    for (text, length) in hostile.chain(keywords.map(|word| (word.clone(), 1 << 10))) {
        let long = text.repeat(length / text.len());
        // What takes the square of this ends in no time that anyone waits for.
        let masked = mask(&long);
        assert_eq!(mask(&masked), masked, "{text:?} over and over");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn masking_twice_changes_nothing_more(text in texts()) {
        let once = mask(&text).into_owned();
        let twice = mask(&once).into_owned();
        prop_assert_eq!(&twice, &once, "of {}", text);
    }

    /// JSON stays JSON, also within JSON.
    #[test]
    fn json_stays_json(text in texts(), name in "[a-z_]{0,6}(?:password|token|key|secret)?", depth in 1..4) {
        let mut json = text;
        for _ in 0..depth {
            json = serde_json::json!({ &name: json, "b": 1 }).to_string();
        }
        let masked = Masker::default().mask_json(&json).into_owned();
        let read = serde_json::from_str::<serde_json::Value>(&masked);
        prop_assert!(read.is_ok(), "{masked}\nof\n{json}");
    }

    /// A text without names and shapes of secrets stays as it is.
    #[test]
    fn what_names_no_secret_stays(text in "[a-df-hj-lmqrx-zé密🙂 =:\"'{}\\\\\n<>$&;,.(0-9-]{0,120}") {
        prop_assert_eq!(mask(&text), text.clone());
    }

    #[test]
    fn a_stream_is_masked_as_a_text_is(text in texts(), chunk in 1_usize..50) {
        prop_assert_eq!(filtered(&text, chunk).0, mask(&text));
    }
}

/// Texts of pieces that mean something to the rules.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "\\PC{0,12}",
        2 => "[A-Za-z0-9+/=_-]{1,60}",
        2 => prop::sample::select(cases().pieces),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}
