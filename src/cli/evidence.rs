//! `playbook evidence`: what would be sent of a session, and what was left out.

use std::path::Path;

use super::args;
use super::output::{self, BOLD, DIM, say};
use super::session::Session;
use crate::queue::claim::lane_of;
use crate::queue::evidence::SessionEvidence;
use crate::queue::job::Event;
use crate::transcript::{self, Digest, Options, Range};

pub(super) fn run(session: &Session, args: &args::Evidence) -> anyhow::Result<()> {
    let path = std::path::absolute(&args.transcript)?;
    let budget = args.budget.unwrap_or(session.config.evidence.tokens);
    let shown = SessionEvidence::of(read(session, &path)?, budget);
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
        "{DIM}Outcome: {}; left out: {} events; not shown whole: {}.{DIM:#}",
        facts.outcome.sign(),
        evidence.left_out,
        evidence.cut
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
        secrecy: session.config.secrets.secrecy()?,
    };
    let range = Range { start: 0, end };
    Ok(transcript::scan(path, range, &options, &mut |_, _| false)?)
}
