//! What a session may teach: only what rests on its user's words or on an outcome.
//!
//! The evidence numbers its events ([`ShownEvent`]), and a model names those that a text rests on.
//! A text is accepted when
//!
//! 1. one of them is the user's own words or an outcome (`Bearing::is_ground`), an error, or what
//!    an agent reports that the assistant had sent; to change or take away a key point, an error
//!    counts only with a later call, which is said to have got past it, and a report does not,
//! 2. each command, path, flag and host in it stands in the user's words, in a call that the
//!    assistant made, in a key point that it replaces, or in what was learned before, or is a slash
//!    command that the user typed or a command that an agent was sent to run; an identifier of
//!    code, which is none of these, may stand anywhere in the session; what the user refused may be
//!    named where it is forbidden,
//! 3. a ground says something of it: they share a word, or the user's words do with the calls just
//!    before them,
//! 4. no sentence of a tool, a file or a page says it, or a piece of it, better than all that is
//!    trusted,
//! 5. no clause of it is the opposite of what the user says of the same,
//! 6. where it replaces a key point or takes one away, more is asked (`replaced`).
//!
//! What is gone from the project's files, and what earlier sessions taught with a ground, need none
//! here (`accept_of_stale`, `accept_of_lessons`); a template that asks for no grounds gets what it says.
//!
//! A page that talks a model into a key point can forge the numbers, but neither its names
//! nor its words stand where they must. What it says in quite other words is not known from an
//! honest text.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;

use super::clauses::{Clauses, Stand};
use super::names::names;
use super::others::Others;
use super::replaced::turned;
use super::reply::ReplyLesson;
use super::sentences::{SAYS_IT, parts, plain};
use crate::clip::{head, told_head};
use crate::hint::hashes as words;
use crate::playbook::clean::whole_line;
use crate::playbook::dedup::Wording;
use crate::screen::plain as shown;
use crate::transcript::english::patterns;
use crate::transcript::{Bearing, Evidence, ShownEvent, is_forbidden};

patterns! { ASKS_FIRST LOOSENS PASSES_BY UNGUARDED }

/// How much of a ground is quoted where it is only told of, in bytes.
pub(super) const QUOTED: usize = 160;
/// How much of it a curator is shown, in bytes: a rule in the user's words must stand there whole.
const LISTED: usize = 600;
/// How much of a part that has no ground a refusal names, in bytes.
const QUOTED_PART: usize = 60;
/// How many grounds of one text are looked at.
pub(super) const MAX_GROUNDS: usize = 20;
/// The kind of an event in which a call failed.
pub(super) const ERROR: &str = "error_event";
/// The kind of an event in which the user refused a call.
pub(super) const REFUSAL: &str = "rejection";
/// The kind of an event in which an agent reports that the assistant had sent.
const REPORT: &str = "hand_back";

/// A text that a session would teach, and what is named for it.
#[derive(Debug, Clone, Copy)]
pub struct TaughtText<'a> {
    /// What would be learned; empty when something is only taken away.
    pub text: &'a str,
    /// The numbers of the events that it is said to rest on.
    pub grounds: &'a [u32],
    /// The texts of the key points that it replaces or takes away.
    pub sources: &'a [&'a str],
}

/// The events of a session by which claims are judged.
#[derive(Debug)]
pub struct Grounds<'a> {
    pub(super) evidence: &'a Evidence,
    /// The user's words and those of the assistant's commands, in lower case.
    own: Vec<String>,
    /// What may be named besides, in lower case: what an event names beside its words, and what
    /// earlier sessions taught.
    known: Vec<String>,
    /// The calls that the user refused, in lower case: what forbids one may name it.
    refused: Vec<String>,
    user: Clauses,
    /// Whether they say where something that they forbid is allowed.
    user_loosens: bool,
    /// What neither the user nor a call says.
    pub(super) others: OnceLock<Others>,
}

/// A part of a text, as a refusal names it.
pub(super) fn quoted(part: &str) -> String {
    format!("\"{}\"", told_head(part.trim(), QUOTED_PART))
}

impl<'a> Grounds<'a> {
    /// `None` where the events have no numbers: an older version chose them.
    pub fn of(evidence: &'a Evidence) -> Option<Self> {
        let said = said_by_user(evidence).collect::<Vec<_>>().join("\n");
        let is_numbered = evidence.shown.iter().all(|shown| shown.number > 0);
        let own = evidence.shown.iter().flat_map(|shown| &shown.own);
        let own: Vec<String> = own.map(|text| plain(text)).collect();
        let names = evidence.shown.iter().flat_map(|shown| &shown.names);
        let refused = evidence.shown.iter().flat_map(|shown| &shown.refused);
        is_numbered.then(|| Self {
            evidence,
            own,
            known: names.map(|text| plain(text)).collect(),
            user: Clauses::of(&said),
            user_loosens: LOOSENS.is(&said),
            refused: refused.map(|text| plain(text)).collect(),
            others: OnceLock::new(),
        })
    }

    /// Takes in what earlier sessions taught: whatever it names was found to have a ground
    /// there. It is none itself.
    #[must_use]
    pub fn knowing<'t>(mut self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        self.known.extend(texts.into_iter().map(plain));
        self
    }

    /// Tells whether there is any event that a claim could rest on.
    pub fn has_any(&self) -> bool {
        self.evidence.shown.iter().any(|shown| self.is_met(shown))
    }

    /// Tells whether an event is a ground of what is new: what went wrong is known once it did.
    pub(super) fn is_met(&self, shown: &ShownEvent) -> bool {
        // How to get round what the settings forbid is no lesson.
        let is_forbidden = || self.evidence.entry(shown.number).is_some_and(is_forbidden);
        match shown.kind.as_str() {
            // Of a report only what it was sent for counts as said.
            REPORT => !shown.own.is_empty(),
            ERROR => shown.bearing.is_ground() || !is_forbidden(),
            _ => shown.bearing.is_ground(),
        }
    }

    /// Tells whether an event says that a key point is wrong, beside the others that are named:
    /// of an error a later call has to show that there was another way.
    fn is_against(&self, shown: &ShownEvent, named: &[u32]) -> bool {
        let works = |number: &&u32| {
            let is_call = self.numbered(**number).any(|s| s.bearing == Bearing::Call);
            is_call && !self.numbered(**number + 1).any(|shown| shown.kind == ERROR)
        };
        let mut later = named.iter().filter(|number| **number > shown.number);
        let is_past = shown.kind == ERROR && later.any(|number| works(&number));
        self.is_met(shown) && (shown.bearing.is_ground() || is_past)
    }

    /// Accepts a claim with the quotation of its ground, or says why not.
    pub fn accept(&self, claim: &TaughtText<'_>) -> Result<String, String> {
        if claim.grounds.is_empty() {
            return Err("it names no ground".to_owned());
        }
        let text = shown(&whole_line(claim.text));
        let changes = !claim.sources.is_empty();
        let mut grounds = self.among(claim.grounds);
        if changes {
            grounds.retain(|shown| self.is_against(shown, claim.grounds));
        }
        if grounds.is_empty() {
            return Err("no ground of it is the user's words or an outcome".to_owned());
        }
        if text.is_empty() {
            return self.takes_away(&grounds, claim.sources);
        }
        if changes && words(&text).is_empty() {
            return Err("it says nothing".to_owned());
        }
        self.has_all_names(&text, claim.sources)?;
        // A call that fails may have gone out of use with what the key point says of it.
        let is_about = |ground: &&&ShownEvent| {
            let mut texts = claim.sources.iter().copied().chain([text.as_str()]);
            texts.any(|text| self.says_of(ground, text))
        };
        let Some(ground) = grounds.iter().find(is_about) else {
            return Err("its grounds say nothing of it".to_owned());
        };
        let stand = self.user.stand_to(&Clauses::of(&text));
        let loosens = LOOSENS.is(&text) && Wording::of(&text).is_negated();
        if stand == Stand::Opposes {
            return Err("the user said the opposite".to_owned());
        } else if stand == Stand::Agrees && loosens && !self.user_loosens {
            return Err("the user forbids more than it does".to_owned());
        }
        if changes {
            self.may_replace(&text, claim, &grounds)?;
        } else {
            let mut parts = parts(&text).into_iter();
            if let Some(part) = parts.find(|part| !self.is_grounded(part, claim.grounds)) {
                return Err(format!("its grounds say nothing of {}", quoted(part)));
            }
        }
        self.is_not_of_others(&text, claim.sources)?;
        Ok(self.quote(ground.number, QUOTED).unwrap_or_default())
    }

    /// The grounds of what is new among the named events.
    pub fn among(&self, named: &[u32]) -> Vec<&'a ShownEvent> {
        let named = named.iter().take(MAX_GROUNDS);
        let shown = named.flat_map(|number| self.numbered(*number));
        shown.filter(|shown| self.is_met(shown)).collect()
    }

    /// Tells whether the user says in so many words that something is to be done.
    pub(super) fn is_wished(&self, text: &str) -> bool {
        let agrees = self.user.stand_to(&Clauses::of(text)) == Stand::Agrees;
        agrees && !Wording::of(text).is_negated()
    }

    /// Accepts a correction of key points that name what is gone from the project's files: the
    /// files themselves are its ground, and `why` says what they show. It says what the points
    /// said, with names of theirs, of `why`, of the user's or of a call.
    pub(crate) fn accept_of_stale(
        &self,
        text: &str,
        points: &[&str],
        why: &str,
    ) -> Result<String, String> {
        self.says_no_more(text, &[points, &[why]].concat())?;
        Ok(why.to_owned())
    }

    /// Accepts a new key point that says what earlier sessions taught, each with a ground, and
    /// neither a tool nor a page says better.
    pub(crate) fn accept_of_lessons(&self, text: &str, lessons: &[&str]) -> Result<String, String> {
        self.says_no_more(text, lessons)?;
        self.is_not_of_others(&whole_line(text), lessons)?;
        Ok(head(&lessons.join("; "), QUOTED).to_owned())
    }

    /// Makes sure that a text has the words of `sources`, and names of theirs, of the user's or of
    /// a call.
    fn says_no_more(&self, text: &str, sources: &[&str]) -> Result<(), String> {
        let text = shown(&whole_line(text));
        self.has_all_names(&text, sources)?;
        let (said, before) = (words(&text), words(&sources.join(" ")));
        let opposes = Clauses::of(&sources.join("\n")).stand_to(&Clauses::of(&text));
        let is_before =
            |part: &&str| !words(part).is_disjoint(&before) && turned(part, sources).is_none();
        let is_said = parts(&text).iter().all(is_before);
        if !is_said
            || opposes == Stand::Opposes
            || said.intersection(&before).count() * 100 < SAYS_IT * said.len()
        {
            return Err("it says something else than what it rests on".to_owned());
        }
        Ok(())
    }

    /// Returns the lines of the events that a claim may rest on, each cut, at most `max`: those
    /// that `lessons` rest on, the other grounds, the errors, and the calls before and after them.
    pub fn listed(&self, max: usize, lessons: &[ReplyLesson]) -> String {
        let cited = lessons.iter().flat_map(|lesson| &lesson.grounds).copied();
        // What came last weighs most.
        let shown = self.evidence.shown.iter().rev();
        let others = shown.filter(|shown| self.is_met(shown));
        let is_call = |number: u32| self.numbered(number).any(|s| s.bearing == Bearing::Call);
        let mut listed = BTreeSet::new();
        for number in cited.chain(others.map(|shown| shown.number)) {
            if listed.len() >= max {
                break;
            }
            let beside = [number.saturating_sub(1), number + 1];
            listed.extend(beside.into_iter().filter(|beside| is_call(*beside)));
            listed.insert(number);
        }
        let quotes = listed
            .into_iter()
            .filter_map(|number| self.quote(number, LISTED));
        quotes.collect::<Vec<_>>().join("\n")
    }

    /// What the user said, with and without a refusal.
    pub(super) fn said_by_user(&self) -> impl Iterator<Item = &'a str> {
        said_by_user(self.evidence)
    }

    pub(super) fn numbered(&self, number: u32) -> impl Iterator<Item = &'a ShownEvent> {
        let shown = self.evidence.shown.iter();
        shown.filter(move |shown| shown.number == number)
    }

    /// Returns a ground on one line; of what the user said only their own words.
    pub(super) fn quote(&self, number: u32, max: usize) -> Option<String> {
        let entry = self.evidence.entry(number)?;
        let words = self
            .numbered(number)
            .find(|shown| shown.bearing == Bearing::Words);
        let told = match (words, entry.split_once(':')) {
            (Some(words), Some((label, _))) => format!("{label}: {}", words.own.join(" ")),
            _ => entry.to_owned(),
        };
        let line = told.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("#{number} {}", told_head(&line, max)))
    }

    pub(super) fn has_all_names(&self, text: &str, sources: &[&str]) -> Result<(), String> {
        let text = &text.replace('\\', "");
        let sources: Vec<String> = sources.iter().map(|text| plain(text)).collect();
        let is_written = |name: &super::names::NameInText| {
            let shown = self.evidence.shown.iter();
            let mut entries = shown.filter_map(|shown| self.evidence.entry(shown.number));
            name.is_identifier && entries.any(|entry| name.stands_in(&plain(entry)))
        };
        let stands = |name: &super::names::NameInText| {
            let mut own = self.own.iter().chain(&sources).chain(&self.known);
            own.any(|text| name.stands_in(text)) || is_written(name)
        };
        // What the user refused may be named where it is forbidden.
        let forbids = |name: &super::names::NameInText| {
            let mut said = parts(text)
                .into_iter()
                .filter(|part| part.contains(&name.text))
                .peekable();
            self.refused.iter().any(|call| name.stands_in(call))
                && said.peek().is_some()
                && said.all(|part| forbids(part, &name.text))
        };
        match names(text)
            .into_iter()
            .find(|name| !stands(name) && !forbids(name))
        {
            Some(name) => Err(format!(
                "`{}` stands neither in the user's words nor in a call",
                name.text
            )),
            None => Ok(()),
        }
    }
}

/// Tells whether a sentence forbids what it names, or has the user asked before it.
fn forbids(sentence: &str, name: &str) -> bool {
    let before = sentence.split(name).next().unwrap_or_default();
    let is_denied = Wording::of(before).denials() == 1 && !PASSES_BY.is(before);
    is_denied && !UNGUARDED.is(before) || ASKS_FIRST.is(before)
}

/// What the user said in a session, with and without a refusal.
fn said_by_user(evidence: &Evidence) -> impl Iterator<Item = &str> {
    let said = |shown: &&ShownEvent| shown.bearing == Bearing::Words || shown.kind == REFUSAL;
    let said = evidence.shown.iter().filter(said);
    said.flat_map(|shown| shown.own.iter().map(String::as_str))
}

/// Reads the numbers that a reply names as grounds: `[3, "#17"]`, `5`, `"3, 17"`.
pub fn numbers(said: Option<&Value>) -> Vec<u32> {
    match said {
        Some(Value::Array(items)) => items.iter().flat_map(|one| numbers(Some(one))).collect(),
        Some(Value::Number(number)) => {
            let number = number
                .as_u64()
                .and_then(|number| u32::try_from(number).ok());
            number.into_iter().collect()
        }
        Some(Value::String(text)) => {
            let numbers = text
                .split([',', ' '])
                .map(|one| one.trim_start_matches('#'));
            numbers.filter_map(|one| one.parse().ok()).collect()
        }
        _ => Vec::new(),
    }
}

/// Tells whether a template asks for grounds: one that does not gets what it says unasked.
pub fn asks_for_grounds(template: &str) -> bool {
    template.contains("\"grounds\"")
}
