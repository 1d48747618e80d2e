//! `playbook evidence`: what would be sent of a session, and what was left out.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use serde_json::json;

use super::args;
use super::output::{self, BOLD, DIM, say};
use super::session::Session;
use crate::queue::claim::lane_of;
use crate::queue::evidence::SessionEvidence;
use crate::queue::job::Event;
use crate::redact::Secrecy;
use crate::transcript::{self, Digest, Options, Range, Stats};

/// Bytes of a megabyte, as in MB/s.
const MEGABYTE: f64 = 1e6;

/// Shows the evidence of a transcript, or with `--stats` what its records are.
pub(super) fn run(session: &Session, args: &args::Evidence) -> anyhow::Result<()> {
    let path = std::path::absolute(&args.transcript)?;
    let begun = Instant::now();
    let digest = read(session, &path)?;
    let seconds = begun.elapsed().as_secs_f64();
    if args.stats {
        return stats(&digest, seconds, args);
    }
    let budget = args.budget.unwrap_or(session.config.evidence.tokens);
    let shown = SessionEvidence::of(digest, budget);
    if args.json {
        return output::json(&shown);
    }
    let (facts, evidence) = (&shown.facts, &shown.evidence);
    if facts.events == 0 {
        say!("No events: nothing in this transcript says what happened.");
        return Ok(());
    }
    if evidence.text.is_empty() {
        say!("No event fits into {budget} tokens.");
    }
    for line in evidence.text.lines() {
        say!("{}", output::one_line(line));
    }
    say!("");
    say!(
        "{BOLD}{} tokens{BOLD:#} of at most {budget} (estimated).",
        evidence.tokens
    );
    say!(
        "{DIM}Outcome: {}; left out: {} events.{DIM:#}",
        facts.outcome.sign(),
        evidence.left_out
    );
    Ok(())
}

/// Reads a whole transcript, as a job of its own would.
pub(super) fn read(session: &Session, path: &Path) -> anyhow::Result<Digest> {
    let end = transcript::complete_end(path, 0)?;
    let options = Options {
        lane: lane_of(Event::Reflect, path),
        home: session
            .paths
            .home()
            .and_then(Path::to_str)
            .map(str::to_owned),
        secrecy: Secrecy::of(&session.config.secrets)?,
    };
    let range = Range { start: 0, end };
    Ok(transcript::scan(path, range, &options, &mut |_, _| false)?)
}

/// What `--stats --json` shows.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    stats: &'a Stats,
    citations: &'a [crate::playbook::Id],
    user_prompts: u64,
    tool_uses: u64,
    tool_results: u64,
    tool_errors: u64,
    interrupts: u64,
    compactions: u64,
    seconds: f64,
    megabytes_per_second: f64,
}

fn stats(digest: &Digest, seconds: f64, args: &args::Evidence) -> anyhow::Result<()> {
    let (stats, facts) = (&digest.stats, &digest.facts);
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no exact bytes")]
    let rate = stats.bytes as f64 / MEGABYTE / seconds.max(f64::EPSILON);
    if args.json {
        return output::json(&Shown {
            stats,
            citations: &facts.citations,
            user_prompts: facts.user_turns,
            tool_uses: facts.tool_calls,
            tool_results: facts.tool_results,
            tool_errors: facts.tool_errors,
            interrupts: facts.interrupts,
            compactions: facts.compactions,
            seconds,
            megabytes_per_second: rate,
        });
    }
    say!(
        "{BOLD}{} records{BOLD:#} in {} lines, {} bytes",
        stats.records,
        stats.lines,
        stats.bytes
    );
    for (kind, count) in &stats.types {
        let bytes = stats.type_bytes.get(kind).copied().unwrap_or_default();
        say!("  {count:>8}  {bytes:>12} bytes  {}", output::plain(kind));
    }
    say!(
        "{BOLD}{} taken as part of the conversation{BOLD:#}",
        stats.read
    );
    for (kind, count) in &stats.events {
        say!("  {count:>8}  {kind}");
    }
    let skipped: u64 = stats.skipped.values().sum();
    say!("{BOLD}{skipped} passed over{BOLD:#}");
    for (reason, count) in &stats.skipped {
        say!(
            "  {count:>8}  {}",
            json!(reason).as_str().unwrap_or_default()
        );
    }
    let cited: Vec<String> = facts.citations.iter().map(ToString::to_string).collect();
    say!(
        "{BOLD}{} citations{BOLD:#} {}",
        cited.len(),
        cited.join(" ")
    );
    say!("{BOLD}{} tool errors{BOLD:#}", facts.tool_errors);
    say!("{DIM}{rate:.0} MB/s{DIM:#}");
    Ok(())
}
