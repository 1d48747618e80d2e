//! Finds and joins key points that say the same.
//!
//! Lexical and deterministic: no model, no download, the same answer everywhere. A text
//! is first brought into a canonical form: words that say nothing are left out, forms of a
//! word and a few synonyms become one, every negation becomes one sign, an opening clause
//! (`Before pushing, …`) goes to the end. Then two questions:
//!
//! 1. *Can they say the same?* The words of one must all stand in the other, in the same
//!    order, and what the other has more must be plain words: no negation, number, name or
//!    piece of code, nothing such as `only`, `if`, `before`. This tells `use tabs` from
//!    `never use tabs`, `tabs, not spaces` from `spaces, not tabs`, port 8080 from port
//!    8081, staging from production: cases in which any measure of overlap, also one of
//!    meaning, comes out high.
//! 2. *Is the rest close enough?* The cosine of the counts of character trigrams, less a
//!    tenth for each word that only one text has, must reach the threshold. Cosine and not
//!    Jaccard, because it falls off more evenly when one text is longer; trigrams and not
//!    words, so that a long extra word weighs more than a short one; the tenth, because in
//!    a long text even `desktop` or `dev` would weigh next to nothing.
//!
//! Precision before recall: a wrong merge loses a rule, a missed one costs a line. On
//! `pairs.tsv` (104 pairs that say the same, 155 that do not: opposites, near misses,
//! other numbers and names) the default joins no wrong pair and misses one right pair in
//! nine, all of them passive forms and other word order.

mod canon;
mod wording;
mod words;

use std::collections::HashSet;

use jiff::Timestamp;

use super::change::{ChangeKind, PointChange, PointState};
use super::document::PointPlace;
use super::edit::{ChangeCause, Editor};
use super::entry::{self, COUNTERS};
use super::model::Playbook;
use canon::Canon;
pub use wording::Wording;
use wording::{extra_words, similarity};

/// The default threshold, calibrated on `pairs.tsv`.
pub const DEFAULT_THRESHOLD: f64 = 0.95;
/// How many points are compared at most; ours stay far below it.
const MAX_COMPARED: usize = 10_000;

/// How similar two texts must be to count as one rule, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold(f64);

impl Threshold {
    /// Clamps to 0–1; what is no number is the default.
    pub fn new(value: f64) -> Self {
        if value.is_nan() {
            return Self::default();
        }
        Self(value.clamp(0.0, 1.0))
    }
}

impl Default for Threshold {
    fn default() -> Self {
        Self(DEFAULT_THRESHOLD)
    }
}

/// Which points are compared.
#[derive(Debug, Clone, Copy)]
pub enum DedupScope<'a> {
    /// All with all.
    All,
    /// The named ones with all.
    With(&'a HashSet<String>),
}

/// Joins each connected group of duplicates into its first point in canonical order,
/// which keeps its text, section and place and gets the votes of all; the other names
/// become aliases of it.
///
/// A pinned point is never joined into another: it survives, the first of several.
/// Points that could not say the same are never in one group.
pub fn dedup(
    playbook: &mut Playbook,
    threshold: Threshold,
    scope: DedupScope<'_>,
    now: Timestamp,
) -> Vec<PointChange> {
    let groups = groups(playbook, threshold, scope);
    let mut editor = Editor::new(playbook, now);
    for group in groups {
        join(&mut editor, &group);
    }
    editor.done.changes
}

fn join(editor: &mut Editor<'_>, group: &[String]) {
    let [survivor, others @ ..] = group else {
        return;
    };
    let places = editor.playbook.places();
    let mut gone: Vec<&PointPlace> = others.iter().filter_map(|name| places.get(name)).collect();
    // From the end, so that the indexes in front stay right.
    gone.sort_unstable_by(|a, b| (&b.title, b.index).cmp(&(&a.title, a.index)));
    let mut votes = [0_u64; 2];
    let mut used = None;
    let reason = format!("says the same as {survivor}");
    for place in gone {
        let Some(state) = editor.state(place) else {
            continue;
        };
        for (sum, counter) in votes.iter_mut().zip(COUNTERS) {
            *sum = sum.saturating_add(entry::count(&state.entry, counter));
        }
        used = used.max(state.note.used);
        let cause = ChangeCause::new(ChangeKind::Duplicate, &reason);
        editor.remove(place, Some(survivor), &cause);
    }
    let Some(place) = editor.playbook.places().remove(survivor) else {
        return;
    };
    let reason = format!("took in {}", others.join(", "));
    let cause = ChangeCause::new(ChangeKind::Absorb, &reason);
    editor.rewrite(&place, &cause, |fields| {
        for (&sum, counter) in votes.iter().zip(COUNTERS) {
            if sum > 0 {
                entry::raise(fields, counter, sum);
            }
        }
    });
    if let Some(note) = editor.playbook.meta.points.get_mut(survivor) {
        note.used = note.used.max(used);
    }
}

struct Candidate {
    name: String,
    canon: Canon,
    pinned: bool,
    touched: bool,
}

/// The groups of duplicates, each with the survivor first.
fn groups(playbook: &Playbook, threshold: Threshold, scope: DedupScope<'_>) -> Vec<Vec<String>> {
    let mut seen = HashSet::new();
    let candidates: Vec<Candidate> = playbook
        .points()
        // Of two points with one name it is not clear which one is meant.
        .filter(|point| seen.insert(point.name))
        .take(MAX_COMPARED)
        .map(|point| Candidate {
            name: point.name.to_owned(),
            canon: Canon::of(point.text),
            pinned: point.is_pinned(),
            touched: match scope {
                DedupScope::All => true,
                DedupScope::With(names) => names.contains(point.name),
            },
        })
        .collect();
    let mut pairs = Vec::new();
    for (i, first) in candidates.iter().enumerate().filter(|(_, c)| c.touched) {
        for (j, second) in candidates.iter().enumerate() {
            let is_new = i < j || (j < i && !second.touched);
            if is_new && similarity(&first.canon, &second.canon) >= Some(threshold.0) {
                pairs.push((i.min(j), i.max(j)));
            }
        }
    }
    pairs.sort_unstable();
    let compatible = |a: usize, b: usize| {
        let (a, b) = (&candidates[a], &candidates[b]);
        extra_words(&a.canon.tokens, &b.canon.tokens).is_some() && !(a.pinned && b.pinned)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of: Vec<Option<usize>> = vec![None; candidates.len()];
    for pair in pairs {
        unite(&mut groups, &mut group_of, pair, compatible);
    }
    groups
        .into_iter()
        .filter(|group| group.len() > 1)
        .map(|mut group| {
            group.sort_by_key(|&index| (!candidates[index].pinned, index));
            let name = |index: usize| candidates[index].name.clone();
            group.into_iter().map(name).collect()
        })
        .collect()
}

/// Joins the groups of two points where every pair between them is compatible.
fn unite(
    groups: &mut Vec<Vec<usize>>,
    group_of: &mut [Option<usize>],
    (a, b): (usize, usize),
    compatible: impl Fn(usize, usize) -> bool,
) {
    let mut group = |point: usize| {
        *group_of[point].get_or_insert_with(|| {
            groups.push(vec![point]);
            groups.len() - 1
        })
    };
    let (left, right) = (group(a), group(b));
    let fits = || {
        groups[left]
            .iter()
            .all(|&a| groups[right].iter().all(|&b| compatible(a, b)))
    };
    if left == right || !fits() {
        return;
    }
    for point in std::mem::take(&mut groups[right]) {
        group_of[point] = Some(left);
        groups[left].push(point);
    }
}

/// The names of the points whose text a list of changes made or changed.
pub(crate) fn touched(changes: &[PointChange]) -> HashSet<String> {
    let is_new = |change: &&PointChange| {
        let text = |state: &Option<PointState>| state.as_ref().map(|s| s.text().to_owned());
        change.after.is_some() && text(&change.after) != text(&change.before)
    };
    changes
        .iter()
        .filter(is_new)
        .map(|change| change.id.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    const PAIRS: &str = include_str!("pairs.tsv");

    fn pairs() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        PAIRS
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| {
                let mut fields = line.split('\t');
                let mut field = || fields.next().unwrap();
                (field(), field(), field())
            })
    }

    /// Right, wrong and missed joins of the calibration pairs.
    fn outcome(threshold: f64) -> (u32, u32, u32) {
        let mut outcome = (0, 0, 0);
        for (kind, a, b) in pairs() {
            let is_joined = similarity(&Canon::of(a), &Canon::of(b)) >= Some(threshold);
            match (kind == "same", is_joined) {
                (true, true) => outcome.0 += 1,
                (false, true) => outcome.1 += 1,
                (true, false) => outcome.2 += 1,
                (false, false) => {}
            }
        }
        outcome
    }

    #[test]
    fn the_default_threshold_is_precise_and_finds_most_duplicates() {
        let (right, wrong, missed) = outcome(DEFAULT_THRESHOLD);
        let precision = f64::from(right) / f64::from(right + wrong);
        let recall = f64::from(right) / f64::from(right + missed);
        println!("precision {precision:.3}, recall {recall:.3}");
        assert!(precision >= 0.99, "{precision}");
        assert!(recall >= 0.85, "{recall}");
    }

    #[test]
    fn opposites_and_other_numbers_and_names_are_never_joined_at_any_threshold() {
        for (kind, a, b) in pairs() {
            if ["opposite", "number", "identifier"].contains(&kind) {
                let similarity = similarity(&Canon::of(a), &Canon::of(b));
                assert_eq!(similarity, None, "{kind}: {a} / {b}");
            }
        }
    }

    /// Points with one harmful vote each; those whose name ends in `!` are pinned.
    fn playbook(points: &[(&str, &str, u64)]) -> Playbook {
        let mut file = json!({"sections": {}, "playbook": {"points": {}}});
        for section in ["OTHERS", "PATTERNS & APPROACHES"] {
            file["sections"][section] = json!([]);
        }
        for (name, text, helpful) in points {
            let (name, is_pinned) = (name.trim_end_matches('!'), name.ends_with('!'));
            let section = if name.starts_with("oth") {
                "OTHERS"
            } else {
                "PATTERNS & APPROACHES"
            };
            let point = json!({"name": name, "text": text, "helpful": helpful, "harmful": 1});
            file["sections"][section]
                .as_array_mut()
                .unwrap()
                .push(point);
            file["playbook"]["points"][name] = json!({"pinned": is_pinned});
        }
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    }

    #[rstest]
    #[case::across_sections_into_the_first_in_canonical_order(
        &[("oth-001", "Never use tabs", 2), ("oth-002", "Use tabs", 4),
            ("pat-001", "use the tabs", 3), ("oth-003", "Always use tabs.", 5)],
        DEFAULT_THRESHOLD, None, "pat-001 12/3, oth-001 2/1"
    )]
    #[case::what_a_job_did_not_touch_is_left_alone(
        &[("oth-001", "Use tabs", 0), ("oth-002", "Use the tabs", 0),
            ("oth-003", "Use spaces", 0), ("oth-004", "use spaces!", 0)],
        DEFAULT_THRESHOLD, Some("oth-004"), "oth-001 0/1, oth-002 0/1, oth-003 0/2"
    )]
    #[case::a_pinned_point_survives_and_two_pinned_ones_both_stay(
        &[("oth-001", "Use tabs", 0), ("oth-002!", "Use tabs", 0), ("oth-003!", "Use tabs", 0)],
        DEFAULT_THRESHOLD, None, "oth-002 0/2, oth-003 0/1"
    )]
    #[case::a_group_never_holds_two_points_that_cannot_say_the_same(
        &[("oth-001", "Deploy", 0), ("oth-002", "Deploy staging", 0),
            ("oth-003", "Deploy production", 0)],
        0.0, None, "oth-001 0/2, oth-003 0/1"
    )]
    fn duplicates_join(
        #[case] points: &[(&str, &str, u64)],
        #[case] threshold: f64,
        #[case] touched: Option<&str>,
        #[case] expected: &str,
    ) {
        let mut playbook = playbook(points);
        let names = touched.into_iter().map(str::to_owned).collect();
        let scope = touched.map_or(DedupScope::All, |_| DedupScope::With(&names));
        let now = "2026-11-21T00:00:00Z".parse().unwrap();
        let changes = dedup(&mut playbook, Threshold::new(threshold), scope, now);
        let shown = playbook
            .points()
            .map(|p| format!("{} {}/{}", p.name, p.helpful, p.harmful));
        assert_eq!(shown.collect::<Vec<_>>().join(", "), expected);
        let (last, gone) = changes.split_last().unwrap();
        assert_eq!(last.kind, ChangeKind::Absorb);
        for change in gone {
            assert_eq!(change.kind, ChangeKind::Duplicate);
            assert_eq!(playbook.named(&change.id).unwrap().name, last.id);
        }
    }
}
