//! Which items are shown, and how much of each, within a budget of tokens.
//!
//! First, whatever the budget, the user's messages, the headlines of errors and the first citation of each
//! key point; then whole items by rank, the latest first. In a first round each rank takes at
//! most half of what is left, so that no rank takes all; what the notes of gaps did not take is
//! used in further rounds.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use super::evidence::{self, Evidence, ShownEvent};
use super::item::{Detail, Item};
use super::sanitizer::Sanitizer;
use super::tokens;

/// What the note of a gap before an item costs at most, in tokens.
const GAP: u64 = 24;
/// How often what was reserved for gaps that are not there is used for more.
const REFUNDS: usize = 32;

#[derive(Clone)]
struct ChosenItem {
    detail: Detail,
    text: String,
    cost: u64,
}

struct Choice<'a> {
    items: &'a [Item],
    sanitizer: &'a Sanitizer,
    chosen: Vec<Option<ChosenItem>>,
    left: u64,
    /// The place of the first error like it; for all else its own.
    first_alike: Vec<usize>,
}

/// Chooses from `items`, which stand in order of time; `all` is what happened in all.
pub(crate) fn choose(items: &[Item], all: u64, sanitizer: &Sanitizer, budget: u64) -> Evidence {
    let mut choice = Choice {
        items,
        sanitizer,
        chosen: items.iter().map(|_| None).collect(),
        // The gap after the last item.
        left: budget.saturating_sub(GAP),
        first_alike: first_alike(items),
    };
    choice.take_needed();
    let mut order: Vec<usize> = (0..items.len()).rev().collect();
    order.sort_by_key(|&i| Reverse(items[i].rank));
    for rank in order.chunk_by(|&a, &b| items[a].rank == items[b].rank) {
        choice.fill(rank, choice.left / 2);
    }
    choice.fill(&order, 0);
    for _ in 0..REFUNDS {
        let used = tokens::estimate(&choice.text(all).0);
        choice.left = budget.saturating_sub(used + GAP);
        let before = choice.chosen.clone();
        if !choice.fill(&order, 0) {
            break;
        }
        // A call that parts a row of calls can take more than its own words.
        if tokens::estimate(&choice.text(all).0) > budget {
            choice.chosen = before;
            break;
        }
    }
    choice.write(all)
}

/// Returns for each item its own place; for an error that of the first one like it.
fn first_alike(items: &[Item]) -> Vec<usize> {
    let mut firsts = HashMap::new();
    let places = items.iter().enumerate();
    let first = places.map(|(i, item)| match item.error_key() {
        Some(key) => *firsts.entry(key).or_insert(i),
        None => i,
    });
    first.collect()
}

impl Choice<'_> {
    /// Takes at least the headline of what is never left out, whatever the budget; of errors
    /// that are alike the first, which counts the others.
    fn take_needed(&mut self) {
        for i in 0..self.items.len() {
            if self.items[i].is_needed() && self.first_alike[i] == i {
                let chosen = self.written(i, Detail::Headline);
                self.left = self.left.saturating_sub(chosen.cost);
                self.chosen[i] = Some(chosen);
            }
        }
    }

    fn written(&self, i: usize, detail: Detail) -> ChosenItem {
        let text = self.items[i].write(detail, self.sanitizer);
        let cost = tokens::estimate(&text) + 1 + GAP;
        ChosenItem { detail, text, cost }
    }

    /// Returns for each item how many errors like it are only counted on it.
    fn counted(&self) -> Vec<u64> {
        let mut counted = vec![0; self.items.len()];
        for (i, first) in self.first_alike.iter().enumerate() {
            if self.items[i].is_needed() && self.chosen[i].is_none() {
                counted[*first] += self.items[i].count;
            }
        }
        counted
    }

    /// Takes whole items in order as long as more than `unused` tokens stay; returns `true` when
    /// it took any.
    fn fill(&mut self, order: &[usize], unused: u64) -> bool {
        let mut taken = false;
        for &i in order {
            if self.left >= unused + GAP {
                taken |= self.take(i, unused);
            }
        }
        taken
    }

    fn take(&mut self, i: usize, unused: u64) -> bool {
        let before = match &self.chosen[i] {
            Some(chosen) if chosen.detail == Detail::Whole => return false,
            Some(chosen) => chosen.cost,
            None => 0,
        };
        let room = self.left + before - unused;
        // To write an item takes time, and most are tried when the budget is used up.
        if tokens::at_least(self.items[i].body.len() as u64) > room {
            return false;
        }
        let chosen = self.written(i, Detail::Whole);
        if chosen.cost > room {
            return false;
        }
        self.left = self.left + before - chosen.cost;
        self.chosen[i] = Some(chosen);
        true
    }

    fn chosen(&self) -> impl Iterator<Item = (usize, &Item, &ChosenItem)> {
        let all = self.items.iter().zip(&self.chosen).enumerate();
        all.filter_map(|(i, (item, chosen))| Some((i, item, chosen.as_ref()?)))
    }

    /// Writes what is chosen, with notes of what is not; returns the numbers of what is, too.
    fn text(&self, all: u64) -> (String, Vec<u32>) {
        let counted = self.counted();
        let chosen = self.chosen().map(|(i, item, chosen)| {
            let text = match counted[i] {
                0 => Cow::Borrowed(chosen.text.as_str()),
                more => format!("{}\n  → {more} more like it", chosen.text).into(),
            };
            (item, text)
        });
        match chosen.collect::<Vec<_>>().as_slice() {
            [] => Default::default(),
            chosen => evidence::join(chosen, all),
        }
    }

    fn write(self, all: u64) -> Evidence {
        let (text, numbers) = self.text(all);
        let (mut count, mut cut) = (0, 0);
        let mut shown: Vec<ShownEvent> = Vec::new();
        for ((_, item, chosen), number) in self.chosen().zip(numbers) {
            count += 1;
            cut += u64::from(item.is_cut || chosen.detail == Detail::Headline);
            let event = item.shown(number, self.sanitizer);
            match shown.last_mut() {
                _ if item.is_branch() => {}
                // Calls in a row share a line and its number.
                Some(last) if last.number == number => last.calls.extend(event.calls),
                _ => shown.push(event),
            }
        }
        Evidence {
            tokens: tokens::estimate(&text),
            left_out: all.saturating_sub(count),
            cut,
            text,
            shown,
        }
    }
}
