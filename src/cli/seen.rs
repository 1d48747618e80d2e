//! `playbook seen`: did this error strike before, and what fixed it?

use std::io::{self, IsTerminal as _, Read as _};
use std::process::ExitCode;

use anyhow::Context as _;
use jiff::Timestamp;
use serde_json::json;

use super::output::{self, Hinted};
use super::session::Session;
use super::{OK, answer, args, conclude};
use crate::hint::Signature;
use crate::reflect::remembered::{Detail, Fix, Remembered};
use crate::reflect::self_correction::TYPES;
use crate::transcript::error_of_subject;

/// The status of an error that is new.
const NOT_SEEN: u8 = 1;
/// The status when it cannot be told.
const UNKNOWN: u8 = 2;
/// So much of stdin is read: an error is named by its beginning and its end.
const MAX_TEXT: u64 = 64 << 20;
/// The type of an error where `--tool` names none.
const ANY_ERROR: &str = "error";
/// The tool behind which any program may have failed.
const ANY_PROGRAM: &str = "Bash";

pub(super) fn main(args: &args::Seen) -> ExitCode {
    match look(args) {
        Ok((answer, session)) => {
            let status = if answer.is_seen() { OK } else { NOT_SEEN };
            match answer.show(&session, &args.of) {
                Ok(()) => ExitCode::from(status),
                Err(error) if output::is_broken_pipe(&error) => ExitCode::from(status),
                Err(error) => conclude(Err(error), UNKNOWN),
            }
        }
        Err(error) => conclude(Err(error), UNKNOWN),
    }
}

/// What is known about an error, of all tools that may have reported it.
#[derive(Default)]
struct Answer {
    occurrences: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// Spec/5's name of the error, seen or not.
    hash: Signature,
    signatures: Vec<Signature>,
    errors: Vec<Remembered>,
    lessons: Vec<Remembered>,
}

fn look(args: &args::Seen) -> anyhow::Result<(Answer, Session)> {
    let session = Session::that_learned(args.of.project.as_deref())?;
    let text = match &args.error {
        Some(text) => text.clone(),
        None => from_stdin()?,
    };
    if text.trim().is_empty() {
        return Err(Hinted::error(
            "no error text",
            "give it as an argument, or on stdin: make 2>&1 | playbook seen",
        ));
    }
    let named = Signature::parse(text.trim());
    let hash = |error_type: &str| Signature::of_error(error_type, &text);
    let mut answer = Answer {
        hash: named.unwrap_or_else(|| hash(args.tool.as_deref().unwrap_or(ANY_ERROR))),
        ..Answer::default()
    };
    let Some(memory) = session.memory()? else {
        return Ok((answer, session));
    };
    let signatures: Vec<Signature> = if let Some(signature) = named {
        vec![signature]
    } else {
        let known = memory.error_types()?.into_iter();
        let wanted = known.filter(|subject| is_of(subject, args.tool.as_deref()));
        wanted
            .filter_map(|subject| error_of_subject(&subject, &text))
            .chain(TYPES.map(hash))
            .collect()
    };
    let project = session.project_of(&args.of);
    for signature in signatures {
        let Some(seen) = memory.seen(signature, project.as_deref())? else {
            continue;
        };
        answer.occurrences += seen.occurrences;
        answer.first = Some(answer.first.map_or(seen.first, |t| t.min(seen.first)));
        answer.last = Some(answer.last.map_or(seen.last, |t| t.max(seen.last)));
        answer.signatures.push(signature);
        answer.errors.extend(seen.errors);
        answer.lessons.extend(seen.lessons);
    }
    Ok((answer, session))
}

/// Tells whether what met errors, `git push` or `Read`, is the program or tool asked for.
fn is_of(subject: &str, tool: Option<&str>) -> bool {
    tool.is_none_or(|tool| {
        let rest = subject.strip_prefix(tool);
        tool == ANY_PROGRAM || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

fn from_stdin() -> anyhow::Result<String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    stdin
        .lock()
        .take(MAX_TEXT)
        .read_to_end(&mut bytes)
        .context("could not read stdin")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Answer {
    fn is_seen(&self) -> bool {
        self.last.is_some()
    }

    /// All that helped, the most effective first.
    fn fixes(&self) -> Vec<&Fix> {
        let fixes = self.errors.iter().flat_map(|error| match &error.detail {
            Detail::Error { fixes, .. } => fixes.as_slice(),
            _ => &[],
        });
        let mut fixes: Vec<&Fix> = fixes.collect();
        fixes.sort_by(|a, b| b.effectiveness.total_cmp(&a.effectiveness));
        fixes
    }

    fn show(&self, session: &Session, of: &args::Of) -> anyhow::Result<()> {
        let signatures = self.signatures.iter().map(ToString::to_string);
        let told = json!({
            "seen": self.is_seen(),
            "error_signature": self.hash,
            "project": session.project_of(of),
            "signatures": signatures.collect::<Vec<_>>(),
            "occurrences": self.occurrences,
            "first": self.first,
            "last": self.last,
            "fixes": self.fixes(),
            "errors": self.errors,
            "lessons": self.lessons,
        });
        answer::give(of.json, include_str!("screens/seen.txt"), told)
    }
}
