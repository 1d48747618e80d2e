//! What two texts must share to be about the same thing for certain.
//!
//! A prompt touches a hint when one line of it has a name that the hint has, too (a path, a
//! command, an identifier), or two rare words; a folder that one of its paths goes through is worth
//! no more than a word, as all of a project may lie there. What every text about software has tells
//! nothing, nor does what many hints have: see [`telling`]. In doubt nothing is touched.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::particular::{
    command, commands, compound, compounds, folders_on_the_way, gather, is_plain, is_program,
};
use super::words::{cut, hash};

/// A name or a rare word, by its hash; the lowest bit tells which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Term(u64);

const NAME: u64 = 1;
/// What the terms of one line must be worth together.
const NEEDED: u32 = 2;
/// So many lines with terms are what a person types. In a plan or a page that is handed over a
/// name in common is chance: for each time so many the whole must share one more.
const TYPED_LINES: usize = 20;
/// Of so many hints one in eight may have a name, and one in twenty a word; a few always may.
const HINTS_TO_A_NAME: usize = 8;
const HINTS_TO_A_WORD: usize = 20;
const FEW: usize = 3;
impl Term {
    pub(super) fn name(text: &str) -> Self {
        Self(hash(&format!("={}", text.to_lowercase())) | NAME)
    }

    pub(super) fn word(text: &str) -> Self {
        Self(hash(&format!("={}", text.to_lowercase())) & !NAME)
    }

    /// A command is a name, but for those of git: each project uses them, and a text that has one
    /// is seldom about it.
    fn command(text: &str) -> Self {
        if text.starts_with("git ") {
            Self::word(text)
        } else {
            Self::name(text)
        }
    }

    fn is_name(self) -> bool {
        self.0 & NAME == NAME
    }

    fn worth(self) -> u32 {
        if self.is_name() { NEEDED } else { 1 }
    }

    /// The number that it is known by in files.
    pub fn to_bits(self) -> u64 {
        self.0
    }
}

/// Leaves of each hint's terms those that few hints have.
pub fn telling(hints: &mut [BTreeSet<Term>]) {
    let mut having: BTreeMap<Term, usize> = BTreeMap::new();
    for term in hints.iter().flatten() {
        *having.entry(*term).or_default() += 1;
    }
    let most = |share: usize| (hints.len() / share).max(FEW);
    let (names, words) = (most(HINTS_TO_A_NAME), most(HINTS_TO_A_WORD));
    for terms in hints {
        terms.retain(|term| having[term] <= if term.is_name() { names } else { words });
    }
}

pub fn terms(hint: &str) -> BTreeSet<Term> {
    let mut found = BTreeSet::new();
    for line in cut(hint).lines() {
        found.extend(named(line));
        found.extend(quoted(line).filter_map(compound).map(Term::name));
    }
    found
}

fn named(line: &str) -> BTreeSet<Term> {
    let mut found = BTreeSet::new();
    gather(line, &mut found);
    let quoted = quoted(line).filter_map(|span| command(span.split_whitespace()));
    let commands = quoted.chain(commands(line, is_program));
    found.extend(commands.map(|command| Term::command(&command)));
    found
}

fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[derive(Debug)]
pub struct PromptTerms(Vec<LineTerms>);

/// The terms of a line, and the folders that its paths go through.
#[derive(Debug)]
struct LineTerms {
    found: BTreeSet<Term>,
    folders: BTreeSet<Term>,
}

impl LineTerms {
    /// What the terms of a hint are worth here; of folders one word's worth, however many.
    fn worth<'t>(&self, hint: impl IntoIterator<Item = &'t Term>) -> u32 {
        let (mut found, mut folders) = (0, 0);
        for term in hint {
            if self.found.contains(term) {
                found += term.worth();
            } else if self.folders.contains(term) {
                folders = 1;
            }
        }
        found + folders
    }
}

impl PromptTerms {
    /// Reads a prompt up to a length that no one types.
    pub fn of(prompt: &str) -> Self {
        let lines: BTreeSet<&str> = cut(prompt).lines().collect();
        let terms = lines.into_iter().map(|line| {
            let mut found = named(line);
            // A hint has the commands that it names as such; in a prompt any words may be one,
            // but for those that a sentence has, too.
            let any = commands(line, |program, what| !is_plain(program) || !is_plain(what));
            found.extend(any.map(|command| Term::command(&command)));
            found.extend(compounds(line));
            let folders = folders_on_the_way(line).collect();
            LineTerms { found, folders }
        });
        let has_any = |line: &LineTerms| !(line.found.is_empty() && line.folders.is_empty());
        Self(terms.filter(has_any).collect())
    }

    pub fn all(&self) -> BTreeSet<Term> {
        let lines = self.0.iter();
        let terms = lines.flat_map(|line| line.found.iter().chain(&line.folders));
        terms.copied().collect()
    }

    /// How well the prompt touches a hint that has these terms; `None` when it does not for
    /// certain.
    pub fn touch(&self, hint: &[Term]) -> Option<u32> {
        let best = self.0.iter().map(|line| line.worth(hint)).max()?;
        let of_term = |term: &Term| self.0.iter().map(|line| line.worth([term])).max();
        let all: u32 = hint.iter().filter_map(of_term).sum();
        let times = u32::try_from(self.0.len() / TYPED_LINES).unwrap_or(u32::MAX);
        let is_certain = best >= NEEDED && all >= NEEDED.saturating_mul(times.saturating_add(1));
        is_certain.then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touches(prompt: &str, hint: &str) -> bool {
        let terms: Vec<Term> = terms(hint).into_iter().collect();
        PromptTerms::of(prompt).touch(&terms).is_some()
    }

    /// The cases of a kind in which a prompt touches the hint, and the others.
    fn touched(kind: &str) -> [Vec<&'static str>; 2] {
        let lines = include_str!("terms.tsv").lines();
        let fields = lines.map(|line| line.split('\t').collect::<Vec<_>>());
        let cases = fields.filter(|fields| fields[0] == kind);
        let (touched, others): (Vec<_>, _) =
            cases.partition(|fields| touches(&fields[2].replace("\\n", "\n"), fields[3]));
        [touched, others].map(|cases| cases.iter().map(|fields| fields[1]).collect())
    }

    #[test]
    fn a_prompt_touches_what_it_shares_a_name_or_two_rare_words_with() {
        let [touched, others] = touched("touches");
        assert_eq!((touched.len(), others), (20, vec![]));
    }

    #[test]
    fn in_doubt_it_touches_nothing() {
        let [touched, others] = touched("in doubt");
        assert_eq!((touched, others.len()), (vec![], 20));
    }

    #[test]
    fn one_name_in_a_plan_that_is_handed_over_is_chance() {
        let steps: Vec<String> = (0..50).map(|n| format!("- change step{n}_one")).collect();
        let steps = steps.join("\n");
        let plan = |line: &str| format!("{steps}\n{line}");
        let hint = "`save_plan_ref`, `tax_rate` and `src/billing/invoice.rs` belong together";
        assert!(!touches(&plan("rename save_plan_ref"), hint));
        let all = "rename save_plan_ref and tax_rate in src/billing/invoice.rs";
        assert!(touches(&plan(all), hint));
    }

    #[test]
    fn what_many_hints_have_tells_nothing() {
        let mut hints: Vec<_> = (0..40)
            .map(|n| terms(&format!("shop_core and zebra: quokka{n}x")))
            .collect();
        hints.push(terms("shop_core, zebra, tokenizer"));
        telling(&mut hints);
        let left: Vec<Term> = hints.pop().unwrap().into_iter().collect();
        assert_eq!(left, [Term::word("tokenizer")]);
    }

    #[test]
    fn more_in_common_touches_better() {
        let hint: Vec<Term> = terms("`save_plan_ref` and a greedy tokenizer")
            .into_iter()
            .collect();
        let touch = |prompt| PromptTerms::of(prompt).touch(&hint);
        assert!(touch("save_plan_ref, the greedy tokenizer") > touch("save_plan_ref"));
    }
}
