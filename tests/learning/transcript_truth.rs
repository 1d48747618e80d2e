//! A scan of a generated transcript finds exactly what its generator put in.
//!
//! The generator writes the truth next to each file. It needs python3; without it these tests pass.

use super::records::read_file;
use crate::common::prelude::*;
use playbook::transcript::{Digest, Facts, Lane, Range, ReadOptions, Reason};
use playbook::transcript_file::{complete_end, scan};

fn generate(folder: &Path, arguments: &[&str]) -> Option<(PathBuf, Value)> {
    let out = folder.join("t.jsonl");
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/gen_transcript.py");
    let status = Command::new("python3")
        .arg(generator)
        .arg(&out)
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .ok()?;
    assert!(status.success(), "the generator failed");
    let truth = fs::read(folder.join("t.truth.json")).unwrap();
    Some((out, serde_json::from_slice(&truth).unwrap()))
}

fn ids(truth: &Value, key: &str) -> BTreeSet<String> {
    let list = truth[key].as_array().unwrap().iter();
    list.map(|v| v.as_str().unwrap().to_owned()).collect()
}

fn cited(facts: &Facts) -> BTreeSet<String> {
    facts.citations.iter().map(ToString::to_string).collect()
}

#[rstest]
#[case::clean(&["--bytes", "2M"])]
#[case::dirty(&["--bytes", "2M", "--dirty"])]
#[case::sorted_keys(&["--bytes", "2M", "--sorted-keys"])]
#[case::spaced(&["--bytes", "2M", "--spaced"])]
#[case::huge(&["--bytes", "1M", "--huge", "20M"])]
#[case::sidechains(&["--bytes", "2M", "--sidechains", "--thinking-cites"])]
#[case::all_at_once(&["--bytes", "2M", "--dirty", "--spaced", "--sorted-keys", "--sidechains", "--thinking-cites", "--seed", "7"])]
#[case::no_citations(&["--bytes", "1M", "--no-cites", "--dirty", "--seed", "3"])]
#[case::many_errors(&["--bytes", "1M", "--error-rate", "0.5", "--seed", "9"])]
fn a_scan_finds_what_is_there(#[case] arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let Some((path, truth)) = generate(folder.path(), arguments) else {
        return;
    };
    let Digest {
        facts,
        stats,
        evidence,
        ..
    } = read_file(&path, &ReadOptions::default());

    let cited = cited(&facts);
    let mut wanted = ids(&truth, "cited_ids");
    wanted.extend(ids(&truth, "two_on_a_line_ids"));
    let ambiguous = ids(&truth, "ambiguous_ids");
    let sure: BTreeSet<String> = cited.difference(&ambiguous).cloned().collect();
    assert_eq!(sure, wanted);

    for (what, found) in [
        ("user_prompts", facts.user_turns),
        ("tool_uses", facts.tool_calls),
        ("tool_results", facts.tool_results),
        ("tool_errors", facts.tool_errors),
        ("interrupts", facts.interrupts),
        ("compactions", facts.compactions),
    ] {
        assert_eq!(Some(found), truth[what].as_u64(), "{what}");
    }
    let prompts = stats.events.get("user_prompt").copied();
    assert_eq!(prompts, truth["user_prompts"].as_u64());

    // Every record is accounted for.
    let skipped: u64 = stats.skipped.values().sum();
    assert_eq!(stats.records, stats.read + skipped);

    let evidence = evidence.finish(24_000);
    assert!(evidence.tokens <= 24_000);
    for id in &cited {
        has!(evidence.text, &format!("[{id}]"));
    }
}

#[test]
fn in_a_subagents_file_the_sidechain_is_the_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let Some((path, truth)) = generate(folder.path(), &["--bytes", "1M", "--sidechains"]) else {
        return;
    };
    let options = ReadOptions {
        lane: Lane::Subagent,
        ..ReadOptions::default()
    };
    let facts = read_file(&path, &options).facts;
    assert_eq!(cited(&facts), ids(&truth, "sidechain_only_ids"));
}

#[test]
fn a_record_that_is_a_copy_does_not_count_and_a_second_scan_finds_only_copies() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    let mut known = BTreeSet::new();
    let mut read = |name: &str| {
        let path = path.join(name);
        let range = Range {
            start: 0,
            end: complete_end(&path, 0).unwrap(),
        };
        let is_copy = &mut |hash, _| !known.insert(hash);
        scan(&path, range, &ReadOptions::default(), is_copy).unwrap()
    };
    let first = read("resume-compact-auto.jsonl");
    assert!(!first.facts.citations.is_empty());
    assert!(!first.stats.skipped.contains_key(&Reason::Copy));

    let whole = read_file(&path.join("fork.jsonl"), &ReadOptions::default());
    let own = read("fork.jsonl");
    assert!(own.stats.skipped[&Reason::Copy] > 0);
    assert!(own.facts.user_turns < whole.facts.user_turns);
    assert_eq!(read("fork.jsonl").stats.read, 0);
}
