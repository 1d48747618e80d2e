//! `playbook seen`: did this error strike before, and what was learned about it?

use std::io::{self, IsTerminal as _, Read as _};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::output::{self, Hinted};
use super::session::NamedSession;
use super::{OK, answer, args};
use crate::hint::Signature;
use crate::memory::SeenError;
use crate::reflect::remembered::{Detail, Remembered};
use crate::reflect::self_correction::TYPES;
use crate::transcript::asked_keys;

const NOT_SEEN: u8 = 1;
/// So much of stdin is read: an error is named by the beginning and the end of that.
const MAX_TEXT: u64 = 64 << 20;
/// The type of an error where `--tool` names none.
const ANY_ERROR: &str = "error";
/// The tool behind which any program may have failed.
const ANY_PROGRAM: &str = "Bash";

pub(super) fn run(args: &args::SeenArgs) -> anyhow::Result<u8> {
    let told = look(args)?;
    let status = if told["seen"] == true { OK } else { NOT_SEEN };
    match answer::give(args.of.json, include_str!("screens/seen.txt"), told) {
        Err(error) if !output::is_broken_pipe(&error) => Err(error),
        _ => Ok(status),
    }
}

/// Returns what is known about an error.
fn look(args: &args::SeenArgs) -> anyhow::Result<Value> {
    let session = NamedSession::that_learned_of(&args.of)?;
    let text = args.error().map_or_else(from_stdin, Ok)?;
    if text.trim().is_empty() {
        return Err(Hinted::error(
            "no error text",
            "give it as an argument, or on stdin: make 2>&1 | playbook seen",
        ));
    }
    let memory = session.memory()?;
    let wanted = ErrorQuestion::of(&text, args.tool.as_deref());
    let project = session.project_of(&args.of);
    let found = memory.map(|memory| memory.seen(&wanted.keys, project.as_deref()));
    Ok(wanted.answer(project.as_deref(), found.transpose()?.unwrap_or_default()))
}

#[derive(Debug)]
pub struct ErrorQuestion {
    /// All by which it may be known.
    pub keys: Vec<Signature>,
    /// Spec/5's name of it, known or not.
    name: Signature,
    tool: Option<String>,
}

impl ErrorQuestion {
    /// The error that a text names, or that a tool reported with it.
    pub fn of(text: &str, tool: Option<&str>) -> Self {
        let hash = |error_type: &str| Signature::of_error(error_type, text);
        let tool = tool.map(str::to_owned);
        if let Some(name) = Signature::parse(text.trim()) {
            let keys = vec![name];
            return Self { keys, name, tool };
        }
        let mut keys = asked_keys(text);
        keys.extend(TYPES.map(hash));
        Self {
            keys,
            name: hash(tool.as_deref().unwrap_or(ANY_ERROR)),
            tool,
        }
    }

    /// Returns the answer, from what is known of errors with one of the keys.
    pub fn answer(&self, project: Option<&str>, found: Vec<Remembered>) -> Value {
        let is_others = |memory: &Remembered| match &memory.detail {
            Detail::Error { error_type } => !is_of(error_type, self.tool.as_deref()),
            _ => false,
        };
        let others = found.iter().filter(|memory| is_others(memory));
        let others: Vec<_> = others.map(|memory| memory.signature).collect();
        let is_wanted = |memory: &Remembered| !others.contains(&memory.signature);
        let wanted: Vec<Remembered> = found.into_iter().filter(is_wanted).collect();
        let mut signatures: Vec<String> = Vec::new();
        for signature in wanted.iter().filter_map(|memory| memory.signature) {
            if !signatures.contains(&signature.to_string()) {
                signatures.push(signature.to_string());
            }
        }
        let seen = SeenError::of(wanted);
        json!({
            "seen": seen.is_some(),
            "error_signature": self.name,
            "project": project,
            "signatures": signatures,
            "occurrences": seen.as_ref().map_or(0, |seen| seen.occurrences),
            "first": seen.as_ref().map(|seen| seen.first),
            "last": seen.as_ref().map(|seen| seen.last),
            "errors": seen.as_ref().map_or(&[][..], |seen| &seen.errors),
            "lessons": seen.as_ref().map_or(&[][..], |seen| &seen.lessons),
        })
    }
}

/// Returns `true` if what met errors, `git push` or `Read`, is the program or tool asked for.
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
