//! `playbook seen`: did this error strike before, and what was learned about it?

use std::io::{self, IsTerminal as _, Read as _};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::output::{self, Hinted};
use super::session::NamedSession;
use super::{OK, answer, args};
use crate::errors::Signature;
use crate::memory::{Memory, SeenError};
use crate::reflect::self_correction::TYPES;
use crate::transcript::all_of_subjects;

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

/// What is known about an error, of all tools that may have reported it.
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
    let types = memory.as_ref().map(Memory::error_types).transpose()?;
    let wanted = ErrorQuestion::of(&text, args.tool.as_deref(), &types.unwrap_or_default());
    let project = session.project_of(&args.of);
    let mut all = Vec::new();
    for signature in &wanted.signatures {
        let seen = memory
            .as_ref()
            .map(|m| m.seen(*signature, project.as_deref()));
        all.extend(seen.transpose()?.flatten().map(|seen| (*signature, seen)));
    }
    Ok(wanted.answer(project.as_deref(), &all))
}

#[derive(Debug)]
pub struct ErrorQuestion {
    /// All by which it may be known.
    pub signatures: Vec<Signature>,
    /// Spec/5's name of it, known or not.
    name: Signature,
}

impl ErrorQuestion {
    /// The error that a text names, or that a tool reported with it; `types` is what has met
    /// errors before.
    pub fn of(text: &str, tool: Option<&str>, types: &[String]) -> Self {
        let hash = |error_type: &str| Signature::of_error(error_type, text);
        if let Some(named) = Signature::parse(text.trim()) {
            return Self {
                signatures: vec![named],
                name: named,
            };
        }
        let known = types.iter().map(String::as_str);
        let mut signatures = all_of_subjects(known.filter(|subject| is_of(subject, tool)), text);
        signatures.extend(TYPES.map(hash));
        Self {
            signatures,
            name: hash(tool.unwrap_or(ANY_ERROR)),
        }
    }

    pub fn answer(&self, project: Option<&str>, all: &[(Signature, SeenError)]) -> Value {
        let errors = || all.iter().flat_map(|(_, seen)| &seen.errors);
        let lessons = all.iter().flat_map(|(_, seen)| &seen.lessons);
        json!({
            "seen": !all.is_empty(),
            "error_signature": self.name,
            "project": project,
            "signatures": all.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>(),
            "occurrences": all.iter().map(|(_, seen)| seen.occurrences).sum::<u64>(),
            "first": all.iter().map(|(_, seen)| seen.first).min(),
            "last": all.iter().map(|(_, seen)| seen.last).max(),
            "errors": errors().collect::<Vec<_>>(),
            "lessons": lessons.collect::<Vec<_>>(),
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
