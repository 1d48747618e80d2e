//! Properties that hold for any input: one function per target, shared by the fuzzer of stable Rust
//! (`examples/fuzz`), the property tests (`tests/learning/fuzzed.rs`) and cargo-fuzz.
//!
//! A function that panics has found a bug.

// Each program that includes this uses another part of it.
#![allow(dead_code, unreachable_pub)]

use std::io::BufReader;
use std::path::PathBuf;

use playbook::config;
use playbook::env::{Env, name};
use playbook::errors::Signature;
use playbook::hook::{self, HookEvent};
use playbook::playbook::Playbook;
use playbook::playbook::clean::clean_text;
use playbook::playbook::ops::{PlaybookEdit, apply_operations};
use playbook::playbook::read::migrate;
use playbook::playbook::render::{Admission, Frame, InjectionLimits, TEMPLATE, context};
use playbook::playbook::votes::UsageRecord;
use playbook::redact::{Masker, NeverRead, filter, mask};
use playbook::reflect::extract::extract_json;
use playbook::reflect::prompt::{ReflectorInput, reflector_prompt};
use playbook::reflect::reply::{Curation, REFLECTION_KEYS, Reflection, Reply as _};
use playbook::reflect::rules;
use playbook::reflect::trace::Trace;
use playbook::screen::suspicions;
use playbook::transcript::{Lane, ReadOptions, SessionOutcome, scan_reader};
use serde_json::Value;

pub type Target = (&'static str, fn(&[u8]));

pub const TARGETS: &[Target] = &[
    ("hook-stdin", hook_stdin),
    ("transcript", transcript),
    ("json", json),
    ("playbook", playbook_file),
    ("config", settings),
    ("templates", templates),
    ("redact", redact),
    ("screen", screened),
    ("errors", errors),
    ("trace", trace),
];

const BUDGET: u64 = 2_000;
const NOW: jiff::Timestamp = jiff::Timestamp::UNIX_EPOCH;

/// Returns a folder of this process's own, in memory if the system has `/dev/shm`.
fn folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let folder = base.join(format!("playbook-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

pub fn clean_up() {
    _ = std::fs::remove_dir_all(folder());
}

/// Any stdin: silence or one line of JSON, and nothing is written outside our state.
pub fn hook_stdin(bytes: &[u8]) {
    let folder = folder();
    let path = |name: &str| folder.join(name);
    let env = Env::from_pairs([
        (name::HOME, path("home")),
        (name::CONFIG_DIR, path("config")),
        (name::STATE_DIR, path("state")),
        (name::CLAUDE_PROJECT_DIR, path("project")),
        (name::PATH, PathBuf::from("/nowhere")),
        (name::NO_WORKER, PathBuf::from("1")),
        (name::NOW, PathBuf::from("2026-11-21T12:00:00Z")),
    ]);
    for event in HookEvent::ALL {
        let mut out = Vec::new();
        hook::respond(event, &env, bytes, &mut out);
        if !out.is_empty() {
            let answer: Value = serde_json::from_slice(&out).expect("valid JSON");
            assert!(answer.is_object(), "{answer}");
            assert!(out.ends_with(b"\n") && !out[..out.len() - 1].contains(&b'\n'));
        }
    }
    let mut made: Vec<String> = std::fs::read_dir(&folder)
        .expect("our folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    made.retain(|name| name != "state" && name != "config.toml");
    assert!(made.is_empty(), "outside our state: {made:?}");
    // Another test covers a spool of thousands.
    if std::fs::read_dir(path("state/spool")).is_ok_and(|list| list.count() > 200) {
        _ = std::fs::remove_dir_all(path("state"));
    }
}

/// Any transcript: every record is accounted for, and the evidence keeps its budget.
pub fn transcript(bytes: &[u8]) {
    for lane in [Lane::Session, Lane::Subagent] {
        let options = ReadOptions {
            lane,
            ..ReadOptions::default()
        };
        let digest = scan_reader(bytes, 0, &options, &mut |_, _| false).expect("a slice reads");
        let skipped: u64 = digest.stats.skipped.values().sum();
        assert_eq!(digest.stats.records, digest.stats.read + skipped);
        let evidence = digest.evidence.finish(BUDGET);
        assert!(evidence.tokens <= BUDGET, "{} tokens", evidence.tokens);
        serde_json::to_string(&digest.facts).expect("facts are JSON");
        let playbook = Playbook::empty();
        let judged = rules::reflect(&digest.facts, 128, 3);
        Reflection::parse(&judged).expect("a reflection");
        for operation in rules::operations(&digest.facts, &playbook) {
            PlaybookEdit::of_operation(&operation).expect("an operation");
        }
    }
}

/// Any reply: what is read from it can be stored and applied.
pub fn json(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(object) = extract_json(&text, REFLECTION_KEYS) {
        let written = serde_json::to_string(&object).expect("JSON");
        let again: Value = serde_json::from_str(&written).expect("what was written is read");
        assert!(again.is_object());
    }
    if let Some((reflection, _)) = Reflection::parse(&text) {
        let written = serde_json::to_string(&reflection).expect("JSON");
        serde_json::from_str::<Reflection>(&written).expect("what was stored is read");
    }
    if let Some((curation, _)) = Curation::parse(&text) {
        let mut playbook = Playbook::empty();
        apply_operations(
            &mut playbook,
            &curation.operations,
            &curation.reasoning,
            NOW,
        );
        Playbook::parse(&playbook.to_bytes()).expect("what was applied is a playbook");
    }
}

/// Any playbook file: what is read is written back unchanged, and fits the client's limit.
pub fn playbook_file(bytes: &[u8]) {
    if let Ok(migrated) = migrate(bytes) {
        let written = migrated.playbook.to_bytes();
        let again = Playbook::parse(&written).expect("what was written is read");
        assert_eq!(again.to_bytes(), written);
    }
    let least = InjectionLimits {
        units: 200,
        ..InjectionLimits::COMPACT
    };
    for limits in [InjectionLimits::FULL, InjectionLimits::COMPACT, least] {
        fits(bytes, TEMPLATE, limits);
    }
}

/// Any settings file: settings, or an error that names the file.
pub fn settings(bytes: &[u8]) {
    let file = folder().join("config.toml");
    std::fs::write(&file, bytes).expect("a file in our folder");
    let mut settings = match config::load(&file) {
        Ok(settings) => settings,
        Err(error) => {
            assert!(error.to_string().contains("config.toml"), "{error}");
            config::Config::default()
        }
    };
    for key in config::KEYS {
        key.shown(&settings);
    }
    _ = Masker::new(&settings.secrets.patterns, &settings.secrets.off);
    _ = config::load_project(&mut settings, &file);
}

/// Any template: filled in one pass, whatever it and its values contain.
pub fn templates(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let half = text.char_indices().map(|(at, _)| at);
    let half = half.take_while(|at| *at <= text.len() / 2).last();
    let (template, value) = text.split_at(half.unwrap_or_default());
    let input = ReflectorInput {
        transcript: value,
        playbook: value,
        cited: &[],
        outcome: SessionOutcome::Failure,
        category: None,
        summary_tokens: 128,
        given: &[],
        known_notes: &[],
    };
    let prompt = reflector_prompt(template, &input);
    assert!(prompt.marker.is_empty() || !value.contains(&prompt.marker));
    let points = serde_json::json!({"sections": {"OTHERS": [{"name": "oth-001", "text": value}]}});
    let file = points.to_string().into_bytes();
    fits(&file, template, InjectionLimits::FULL);
}

fn fits(file: &[u8], template: &str, limits: InjectionLimits) {
    let usage = UsageRecord::default();
    let frame = Frame::of(template);
    let Ok(read) = migrate(file) else {
        return;
    };
    let shown = context(&read.playbook, frame, limits, &usage, |_| Admission::Given);
    if let Some(text) = shown.text {
        assert!(text.encode_utf16().count() <= limits.units);
    }
}

/// Any key point: the screen finds in it all that it finds in the text shown to a session.
pub fn screened(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let found = suspicions(&text);
    for kind in suspicions(&clean_text(&text)) {
        assert!(found.contains(&kind), "{kind:?} only when shown");
    }
}

/// Any error of a tool: its signature is reproducible, and its names are bounded in length.
pub fn errors(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let signature = Signature::of("Bash", &text);
    assert_eq!(Signature::of("Bash", &text), signature);
    assert_eq!(Signature::parse(&signature.to_string()), Some(signature));
}

/// Any trace of an agent: read, or an error that names the flaw.
pub fn trace(bytes: &[u8]) {
    if let Ok(body) = serde_json::from_slice::<Value>(bytes)
        && let Err(flaw) = Trace::read(&body)
    {
        assert!(!flaw.to_string().is_empty());
    }
}

/// Any text: masking it twice is the same as once, and a stream is masked like a text, except for
/// control sequences, which a stream loses.
pub fn redact(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let masked = mask(&text).into_owned();
    assert_eq!(mask(&masked), masked);
    let mut streamed = Vec::new();
    let input = BufReader::with_capacity(997, bytes);
    filter(&Masker::default(), input, &mut streamed).expect("a slice reads");
    if bytes.len() < 1 << 20 {
        let streamed = String::from_utf8_lossy(&streamed);
        assert_eq!(mask(&streamed), streamed);
        assert!(text.contains('\u{1b}') || streamed == masked);
    }
    NeverRead::new(&[".env".to_owned(), "*.pem".to_owned(), "*a*b*c".to_owned()])
        .is_named_in(&text);
}
