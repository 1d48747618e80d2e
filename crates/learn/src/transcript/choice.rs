//! Which items are shown, and how much of each, within a budget of tokens.
//!
//! First, whatever the budget, the user's messages and the headlines of errors; then every cited
//! key point in its shortest form, so that none is lost; then by rank,
//! breadth before depth: the telling items short, spread over the session, each rank
//! with its share, and what the user asked and objected to at once in full; then the telling
//! items in full; then the rest, the latest first. What was reserved for notes of gaps that are
//! not there is then used in the same order.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use super::evidence::{self, Evidence, ItemForm, ShownEvent};
use super::item::{Item, ItemRank};
use super::sanitizer::Sanitizer;
use super::tokens;

/// What the note of a gap before an item costs at most, in tokens.
const GAP: u64 = 24;
/// What the budget is first used for: each rank until so many percent of it are used. What
/// they leave goes to all of them in the same order.
const SHARES: [(ItemRank, u64); 7] = [
    (ItemRank::Ends, 20),
    (ItemRank::Disagreement, 50),
    (ItemRank::Error, 70),
    (ItemRank::Use, 80),
    (ItemRank::Context, 85),
    (ItemRank::Setback, 90),
    (ItemRank::Prompt, 95),
];
/// With less than this left nothing more is tried.
const CRUMBS: u64 = GAP + 8;

/// How often what was reserved for gaps that are not there is used for more.
const REFUNDS: usize = 32;

#[derive(Clone)]
struct ChosenItem {
    form: ItemForm,
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
    for i in (0..items.len()).filter(|&i| !items[i].quotes.is_empty()) {
        choice.take(i, ItemForm::Quotes);
    }
    let order = order(items);
    choice.fill(&order, budget);
    for _ in 0..REFUNDS {
        let used = tokens::estimate(&choice.text(all).0);
        choice.left = budget.saturating_sub(used + GAP);
        let before = choice.chosen.clone();
        if !choice.fill(&order, budget) {
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

/// In which order and form items are taken, and how many percent of the budget stay unused
/// for what follows.
fn order(items: &[Item]) -> Vec<(usize, ItemForm, u64)> {
    let mut order = Vec::new();
    let mut telling = Vec::new();
    for (rank, share) in SHARES {
        let of_rank = (0..items.len()).filter(|&i| items[i].rank == rank);
        let places = spread(&of_rank.collect::<Vec<_>>());
        let in_form = |form| places.iter().map(move |&i| (i, form, 100 - share));
        order.extend(in_form(ItemForm::Short));
        if rank >= ItemRank::Disagreement {
            order.extend(in_form(ItemForm::Full));
        }
        telling.extend(places.iter().copied());
    }
    let mut rest: Vec<usize> = (0..items.len())
        .filter(|&i| items[i].rank < ItemRank::Prompt)
        .collect();
    rest.sort_by_key(|&i| (Reverse(items[i].rank), Reverse(items[i].seq)));
    for places in [telling, rest] {
        for form in [ItemForm::Short, ItemForm::Full] {
            order.extend(places.iter().map(|&i| (i, form, 0)));
        }
    }
    order
}

/// Orders places so that any number of the first ones is spread over all: the middle, then
/// the quarters, then the eighths, and so on.
fn spread(places: &[usize]) -> Vec<usize> {
    let bits = places.len().next_power_of_two().trailing_zeros();
    (0..1_usize << bits)
        .map(|n| {
            n.reverse_bits()
                .checked_shr(usize::BITS - bits)
                .unwrap_or(0)
        })
        .filter_map(|n| places.get(n).copied())
        .collect()
}

impl Choice<'_> {
    /// Takes at least the headline of what is never left out, whatever the budget; of errors
    /// that are alike the first, which counts the others.
    fn take_needed(&mut self) {
        for i in 0..self.items.len() {
            if self.items[i].is_needed() && self.first_alike[i] == i {
                let form = ItemForm::Headline;
                let text = evidence::write(&self.items[i], form, self.sanitizer);
                let cost = tokens::estimate(&text) + 1 + GAP;
                self.left = self.left.saturating_sub(cost);
                self.chosen[i] = Some(ChosenItem { form, text, cost });
            }
        }
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

    /// Takes items in order while there is room; tells whether any was taken.
    fn fill(&mut self, order: &[(usize, ItemForm, u64)], budget: u64) -> bool {
        let mut taken = false;
        for &(i, form, unused) in order {
            if self.left >= CRUMBS.max(budget / 100 * unused) {
                taken |= self.take(i, form);
            }
        }
        taken
    }

    /// Takes an item in a form, if that fits and shows more than what is taken of it; tells
    /// whether it did.
    fn take(&mut self, i: usize, form: ItemForm) -> bool {
        let size = evidence::size(&self.items[i], form);
        let before = match &self.chosen[i] {
            Some(chosen) if chosen.form >= form => return false,
            Some(chosen)
                if chosen.form != ItemForm::Headline
                    && evidence::size(&self.items[i], chosen.form) == size =>
            {
                return false;
            }
            Some(chosen) => chosen.cost,
            None => 0,
        };
        // To write an item takes time, and most are tried when the budget is used up.
        if tokens::at_least(size as u64) > self.left + before {
            return false;
        }
        let text = evidence::write(&self.items[i], form, self.sanitizer);
        if form > ItemForm::Quotes && !self.shows_quotes(i, &text) {
            return false;
        }
        let cost = tokens::estimate(&text) + 1 + GAP;
        let fits = cost <= self.left + before;
        if fits {
            self.left = self.left + before - cost;
            self.chosen[i] = Some(ChosenItem { form, text, cost });
        }
        fits
    }

    fn shows_quotes(&self, i: usize, text: &str) -> bool {
        self.items[i]
            .quotes
            .iter()
            .all(|cite| text.contains(&format!("[{}]", cite.id)))
    }

    /// Writes what is chosen, with notes of what is not; returns the numbers of what is, too.
    fn text(&self, all: u64) -> (String, Vec<u32>) {
        let items = self.items.iter().zip(&self.chosen).zip(self.counted());
        let chosen: Vec<(&Item, Cow<'_, str>)> = items
            .filter_map(|((item, chosen), more)| {
                let text = &chosen.as_ref()?.text;
                let text = match more {
                    0 => Cow::Borrowed(text.as_str()),
                    more => format!("{text}\n  → {more} more like it").into(),
                };
                Some((item, text))
            })
            .collect();
        if chosen.is_empty() {
            Default::default()
        } else {
            evidence::join(&chosen, all)
        }
    }

    fn write(self, all: u64) -> Evidence {
        let (text, numbers) = self.text(all);
        let chosen = self.items.iter().zip(&self.chosen);
        let chosen = chosen.filter_map(|(item, chosen)| Some((item, chosen.as_ref()?.form)));
        let is_cut = |(item, form): &(&Item, ItemForm)| {
            item.is_cut || evidence::size(item, *form) < evidence::size(item, ItemForm::Full)
        };
        let cut = chosen.clone().filter(is_cut).count() as u64;
        let shown = chosen.zip(numbers);
        let shown = shown.map(|((item, _), number)| ShownEvent::of(item, number, self.sanitizer));
        let mut events: Vec<ShownEvent> = Vec::new();
        let mut count = 0;
        for event in shown {
            count += 1;
            if event.kind == evidence::BRANCH {
                continue;
            }
            match events.last_mut() {
                // Calls in a row share a line and its number.
                Some(last) if last.number == event.number => last.join(event),
                _ => events.push(event),
            }
        }
        let shown = events;
        Evidence {
            tokens: tokens::estimate(&text),
            left_out: all.saturating_sub(count),
            cut,
            text,
            shown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_spread_order_are_far_apart() {
        assert_eq!(spread(&[10, 11, 12, 13, 14]), [10, 14, 12, 11, 13]);
        assert_eq!(spread(&[7]), [7]);
        assert!(spread(&[]).is_empty());
        let mut all = spread(&(0..1000).collect::<Vec<_>>());
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
    }
}
