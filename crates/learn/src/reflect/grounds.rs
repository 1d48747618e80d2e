//! What a session may teach: only what rests on its user's words or on an outcome.
//!
//! The evidence numbers its events ([`Shown`]), and a model names those that a text rests on.
//! A text is accepted when
//!
//! 1. one of them is the user's own words or an outcome ([`Bearing::is_ground`]), an error, or what
//!    an agent reports that the assistant had sent; to change or take away a key point, an error
//!    counts only with a later call, which is said to have got past it, and a report does not,
//! 2. each command, path, flag and host in it stands in the user's words, in a call that the
//!    assistant made, in a key point that it replaces, or in what was learned before, or is a slash
//!    command that the user typed or a command that an agent was sent to run; an identifier of
//!    code, which is none of these, may stand anywhere in the session,
//! 3. a ground says something of it: they share a word,
//! 4. no sentence of a tool, a file or a page says it, or a sentence of it, better than all that is
//!    trusted,
//! 5. where it replaces a key point, a ground or a call that is named says something of each
//!    sentence that is new.
//!
//! A page that talks a model into a key point can forge the numbers, but neither its names
//! nor its words stand where they must.

use std::collections::BTreeSet;

use serde_json::Value;

use super::names::names;
use super::reply::ReplyLesson;
use super::sentences::{SAYS_IT, TELLING, is_of, parts, plain, sentences};
use crate::clip::{head, told_head};
use crate::hint::hashes as words;
use crate::playbook::clean::clean_text;
use crate::transcript::words::ENGLISH;
use crate::transcript::{Bearing, Evidence, Shown, is_forbidden};

/// How much of a ground is quoted where it is only told of, in bytes.
const QUOTED: usize = 160;
/// How much of it a curator is shown, in bytes: a rule in the user's words must stand there whole.
const LISTED: usize = 600;
/// So many events before such a ground are looked at for it.
const BEFORE: u32 = 2;
/// As above, of a sentence of the assistant's own, which may tell what it was told.
const REPEATS_IT: usize = 80;
/// How many grounds of one text are looked at.
const MAX_GROUNDS: usize = 20;
/// The kind of an event in which a call failed.
const ERROR: &str = "error_event";
/// The kind of an event in which an agent reports that the assistant had sent.
const REPORT: &str = "hand_back";
/// The kind of an event in which the user refused a call.
const REFUSAL: &str = "rejection";

/// A text that a session would teach, and what is named for it.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
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
    evidence: &'a Evidence,
    /// The user's words and the assistant's calls, in lower case.
    own: Vec<String>,
    own_words: BTreeSet<u64>,
    /// What may be named besides, in lower case: what an event names beside its words, and what
    /// earlier sessions taught.
    known: Vec<String>,
}

impl<'a> Grounds<'a> {
    /// `None` where the events have no numbers: an older version chose them.
    pub fn of(evidence: &'a Evidence) -> Option<Self> {
        let is_numbered = evidence.shown.iter().all(|shown| shown.number > 0);
        let own = evidence.shown.iter().flat_map(|shown| &shown.own);
        let own: Vec<String> = own.map(|text| plain(text)).collect();
        let names = evidence.shown.iter().flat_map(|shown| &shown.names);
        is_numbered.then(|| Self {
            evidence,
            own_words: own.iter().flat_map(|text| words(text)).collect(),
            own,
            known: names.map(|text| plain(text)).collect(),
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
    fn is_met(&self, shown: &Shown) -> bool {
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
    fn is_against(&self, shown: &Shown, named: &[u32]) -> bool {
        let works = |number: &&u32| {
            let is_call = self.numbered(**number).any(|s| s.bearing == Bearing::Call);
            is_call && !self.numbered(**number + 1).any(|shown| shown.kind == ERROR)
        };
        let mut later = named.iter().filter(|number| **number > shown.number);
        let is_past = shown.kind == ERROR && later.any(|number| works(&number));
        self.is_met(shown) && (shown.bearing.is_ground() || is_past)
    }

    /// Accepts a claim with the quotation of its ground, or says why not.
    pub fn accept(&self, claim: &Claim<'_>) -> Result<String, String> {
        if claim.grounds.is_empty() {
            return Err("it names no ground".to_owned());
        }
        let text = clean_text(claim.text);
        let mut grounds = self.among(claim.grounds);
        if !claim.sources.is_empty() {
            grounds.retain(|shown| self.is_against(shown, claim.grounds));
        }
        if grounds.is_empty() {
            return Err("no ground of it is the user's words or an outcome".to_owned());
        }
        self.has_all_names(&text, claim.sources)?;
        let about = match text.as_str() {
            "" => words(&claim.sources.join(" ")),
            text => words(text),
        };
        let Some(ground) = grounds.iter().find(|ground| self.says_of(ground, &about)) else {
            return Err("its grounds say nothing of it".to_owned());
        };
        // What replaces a key point is told at once: each sentence that is new has an event.
        let is_said = |part: &str| self.is_grounded(part, claim.grounds);
        let mut new = parts(&text)
            .into_iter()
            .filter(|part| !is_of(part, claim.sources));
        if !claim.sources.is_empty() && !new.all(is_said) {
            return Err("its grounds say nothing of a part of it".to_owned());
        }
        self.is_not_of_others(&text, claim.sources)?;
        Ok(self.quote(ground.number, QUOTED).unwrap_or_default())
    }

    /// Tells whether the user said something in one of the named events: in words of their own, or
    /// in what they refused.
    pub fn is_said(&self, text: &str, named: &[u32]) -> bool {
        self.says(text, named, |shown| match shown.bearing {
            Bearing::Words => true,
            Bearing::Outcome => shown.kind == REFUSAL,
            _ => false,
        })
    }

    /// Tells whether one of the named events is a check that failed and passed later, or its
    /// passing, and says something of a text.
    pub fn has_passed_later(&self, text: &str, named: &[u32]) -> bool {
        self.says(text, named, |shown| shown.bearing == Bearing::PassedLater)
    }

    fn says(&self, text: &str, named: &[u32], is_such: impl Fn(&Shown) -> bool) -> bool {
        let text = clean_text(text);
        let named = named.iter().take(MAX_GROUNDS);
        let shown = named.flat_map(|number| self.numbered(*number));
        let such: Vec<&Shown> = shown.filter(|shown| is_such(shown)).collect();
        let is_said = |about: &str| {
            let about = words(about);
            such.iter().any(|shown| self.says_of(shown, &about))
        };
        is_said(&text) && parts(&text).into_iter().all(is_said)
    }

    /// Tells whether one of the named events that is a ground, or a call, says something of a
    /// sentence.
    pub(super) fn is_grounded(&self, part: &str, named: &[u32]) -> bool {
        let part = words(part);
        let named = named.iter().take(MAX_GROUNDS);
        let mut shown = named.flat_map(|number| self.numbered(*number));
        shown.any(|shown| {
            let is_such = shown.bearing == Bearing::Call || self.is_met(shown);
            is_such && self.says_of(shown, &part)
        })
    }

    /// The grounds of what is new among the named events.
    pub fn among(&self, named: &[u32]) -> Vec<&'a Shown> {
        let named = named.iter().take(MAX_GROUNDS);
        let shown = named.flat_map(|number| self.numbered(*number));
        shown.filter(|shown| self.is_met(shown)).collect()
    }

    /// Accepts a correction of key points that name what is gone from the project's files: the
    /// files themselves are its ground, and `why` says what they show. It says what the points
    /// said, with names of theirs, of `why`, of the user's or of a call.
    pub fn accept_of_stale(
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
    pub fn accept_of_lessons(&self, text: &str, lessons: &[&str]) -> Result<String, String> {
        self.says_no_more(text, lessons)?;
        self.is_not_of_others(&clean_text(text), lessons)?;
        Ok(head(&lessons.join("; "), QUOTED).to_owned())
    }

    /// Makes sure that a text has the words of `sources`, and names of theirs, of the user's or of
    /// a call.
    fn says_no_more(&self, text: &str, sources: &[&str]) -> Result<(), String> {
        let text = clean_text(text);
        self.has_all_names(&text, sources)?;
        let (said, before) = (words(&text), words(&sources.join(" ")));
        let is_before = |part: &&str| !words(part).is_disjoint(&before);
        let is_said = parts(&text).iter().all(is_before);
        if !is_said || said.intersection(&before).count() * 100 < SAYS_IT * said.len() {
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

    fn numbered(&self, number: u32) -> impl Iterator<Item = &'a Shown> {
        let shown = self.evidence.shown.iter();
        shown.filter(move |shown| shown.number == number)
    }

    /// Returns a ground on one line; of what the user said only their own words.
    fn quote(&self, number: u32, max: usize) -> Option<String> {
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

    fn has_all_names(&self, text: &str, sources: &[&str]) -> Result<(), String> {
        let text = &text.replace('\\', "");
        let sources: Vec<String> = sources.iter().map(|text| plain(text)).collect();
        let is_written = |name: &super::names::Name| {
            let shown = self.evidence.shown.iter();
            let mut entries = shown.filter_map(|shown| self.evidence.entry(shown.number));
            name.is_identifier && entries.any(|entry| name.stands_in(&plain(entry)))
        };
        let stands = |name: &super::names::Name| {
            let mut own = self.own.iter().chain(&sources).chain(&self.known);
            own.any(|text| name.stands_in(text)) || is_written(name)
        };
        match names(text).into_iter().find(|name| !stands(name)) {
            Some(name) => Err(format!(
                "`{}` stands neither in the user's words nor in a call",
                name.text
            )),
            None => Ok(()),
        }
    }

    /// Tells whether a ground is about something: they share a word. What the user says is also
    /// about the calls just before it, and where it says little ("no, not so") about all that
    /// stands there; of words in another language nobody can tell.
    fn says_of(&self, ground: &Shown, about: &BTreeSet<u64>) -> bool {
        let own = ground.own.join("\n");
        let mut said = words(&own);
        if ground.bearing == Bearing::Words {
            let mut plain = own.split(|c: char| !(c.is_alphanumeric() || c == '\''));
            let before = ground.number.saturating_sub(BEFORE)..ground.number;
            let calls = before.clone().flat_map(|number| self.numbered(number));
            let calls = calls.filter(|shown| shown.bearing == Bearing::Call);
            if said.len() < TELLING {
                let before = before.filter_map(|number| self.evidence.entry(number));
                said.extend(before.flat_map(words));
            } else if !plain.any(|word| ENGLISH.has(&word.to_lowercase())) {
                return true;
            }
            said.extend(calls.flat_map(|call| words(&call.own.join("\n"))));
        }
        about.is_empty() || !said.is_disjoint(about)
    }

    /// Makes sure that neither a text nor a part of it is said better by others.
    fn is_not_of_others(&self, text: &str, sources: &[&str]) -> Result<(), String> {
        let mut parts = parts(text).into_iter().filter(|part| !is_of(part, sources));
        if self.is_of_others(text, sources) || parts.any(|part| self.is_of_others(part, sources)) {
            return Err("a tool or a page says it, and neither the user nor an outcome".to_owned());
        }
        Ok(())
    }

    /// Tells whether a sentence that is neither the user's nor a call says a text better than
    /// all that is trusted.
    fn is_of_others(&self, text: &str, sources: &[&str]) -> bool {
        let text = words(text);
        let mut trusted: BTreeSet<u64> = sources.iter().flat_map(|text| words(text)).collect();
        trusted.extend(&self.own_words);
        let known = text.intersection(&trusted).count();
        let says_it = |shown: &Shown| {
            let (least, weight) = match shown.bearing {
                Bearing::Call => return false,
                Bearing::Text => (REPEATS_IT, 2),
                _ => (SAYS_IT, 1),
            };
            let entry = self.evidence.entry(shown.number).unwrap_or_default();
            sentences(entry).any(|sentence| {
                let said = text.intersection(&words(sentence)).count();
                said * 100 >= least * text.len() && said > known * weight
            })
        };
        self.evidence.shown.iter().any(says_it)
    }
}

/// Reads the numbers that a reply names as grounds: `[3, "#17"]`, `5`.
pub fn numbers(said: Option<&Value>) -> Vec<u32> {
    let number = |said: &Value| match said {
        Value::Number(number) => u32::try_from(number.as_u64()?).ok(),
        Value::String(text) => text.trim().trim_start_matches('#').parse().ok(),
        _ => None,
    };
    match said {
        Some(Value::Array(items)) => items.iter().filter_map(number).collect(),
        Some(one) => number(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Tells whether a template asks for grounds: one that does not gets what it says unasked.
pub fn asks_for_grounds(template: &str) -> bool {
    template.contains("\"grounds\"")
}
