//! `playbook doctor memory`: why was this not remembered, or not shown?
//!
//! It goes the way of a session: hooks, sessions and what became of them, replies, lessons, what
//! is held back, key points. With words, only what has all of them is told.

mod points;
mod sessions;

use serde_json::json;

use super::{CheckState, DoctorCheck};
use super::{account, hooks};
use crate::cli::output::plain;
use crate::cli::session::NamedSession;
use crate::cli::{OK, USER_ERROR, answer, args};
use crate::clip::head;

const QUOTED: usize = 100;
/// So many of a kind are named, the newest or best.
const NAMED: usize = 3;

/// The words that a text must have, in lower case; with none, any text will do.
struct QueryWords(Vec<String>);

impl QueryWords {
    fn are_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.0.iter().all(|word| text.contains(word))
    }

    fn is_any(&self) -> bool {
        self.0.is_empty()
    }
}

/// Tells what became of a text, or of the last sessions; the status says whether something is
/// broken on its way.
pub(super) fn run(args: &args::DoctorMemoryArgs) -> anyhow::Result<u8> {
    let session = NamedSession::look(args.on.project.as_deref())?;
    let texts = args.text.iter().flat_map(|text| text.split_whitespace());
    let words = QueryWords(texts.map(str::to_lowercase).collect());
    let mut checks = broken(&session);
    checks.extend(sessions::examine(&session, &words)?);
    checks.extend(points::examine(&session, &words)?);
    let is_broken = checks.iter().any(|check| check.state == CheckState::Bad);
    let told = json!({"ok": !is_broken, "words": words.0, "checks": checks});
    answer::give(args.on.json, include_str!("../../screens/doctor.txt"), told)?;
    Ok(if is_broken { USER_ERROR } else { OK })
}

fn broken(session: &NamedSession) -> Vec<DoctorCheck> {
    let mut checks = hooks::examine(session).checks;
    if let Some(by) = account::off_by(session) {
        let text = format!("off, by {by}: no session is learned and none is given anything");
        checks.push(DoctorCheck::bad(
            "learning",
            text,
            "switch it on where it was switched off",
        ));
    }
    checks.extend(account::examine(session, true).checks());
    checks.retain(|check| check.state == CheckState::Bad);
    checks
}

fn quoted(text: &str) -> String {
    let text = plain(text);
    let cut = head(&text, QUOTED);
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("\"{cut}{more}\"")
}
