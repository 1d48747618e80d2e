//! Which items are shown, and how much of each, within a budget of tokens.
//!
//! First every cited key point in its shortest form, so that none is lost; then by rank,
//! breadth before depth: the telling items short, the telling items in full, then what
//! is left of the budget for the rest, the latest first.

use std::cmp::Reverse;

use super::collector::{Item, Rank};
use super::evidence::{self, Evidence, Form, Shown, Tally};
use super::keep::Keeper;
use super::tokens;

/// What the note of a gap before an item costs at most, in tokens.
const GAP: u64 = 24;
/// With less than this left nothing more is tried.
const CRUMBS: u64 = GAP + 8;

/// A chosen form of one item.
struct Chosen {
    form: Form,
    text: String,
    cost: u64,
}

struct Choice<'a> {
    items: &'a [Item],
    keeper: &'a Keeper,
    chosen: Vec<Option<Chosen>>,
    left: u64,
}

/// Chooses from `items`, which stand in order of time; `all` is what happened in all.
pub(crate) fn choose(items: &[Item], all: Tally, keeper: &Keeper, budget: u64) -> Evidence {
    let mut choice = Choice {
        items,
        keeper,
        chosen: items.iter().map(|_| None).collect(),
        // The gap after the last item.
        left: budget.saturating_sub(GAP),
    };
    for i in (0..items.len()).filter(|&i| !items[i].quotes.is_empty()) {
        choice.take(i, Form::Quotes);
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&i| (Reverse(items[i].rank), items[i].seq));
    let telling = order.partition_point(|&i| items[i].rank >= Rank::Prompt);
    let (telling, rest) = order.split_at_mut(telling);
    choice.take_all(telling, Form::Short);
    choice.take_all(telling, Form::Full);
    rest.sort_by_key(|&i| (Reverse(items[i].rank), Reverse(items[i].seq)));
    choice.take_all(rest, Form::Short);
    choice.take_all(rest, Form::Full);
    choice.write(all)
}

impl Choice<'_> {
    fn take_all(&mut self, order: &[usize], form: Form) {
        for &i in order {
            if self.left < CRUMBS {
                return;
            }
            self.take(i, form);
        }
    }

    /// Takes an item in a form, if that fits and shows more than what is taken of it.
    fn take(&mut self, i: usize, form: Form) {
        let before = match &self.chosen[i] {
            Some(chosen) if chosen.form >= form => return,
            Some(chosen) => chosen.cost,
            None => 0,
        };
        let text = evidence::write(&self.items[i], form, self.keeper);
        if form > Form::Quotes && !self.shows_quotes(i, &text) {
            return;
        }
        let cost = tokens::estimate(&text) + 1 + GAP;
        if cost <= self.left + before {
            self.left = self.left + before - cost;
            self.chosen[i] = Some(Chosen { form, text, cost });
        }
    }

    /// Tells whether a text still shows each key point first cited in the item.
    fn shows_quotes(&self, i: usize, text: &str) -> bool {
        self.items[i]
            .quotes
            .iter()
            .all(|cite| text.contains(&format!("[{}]", cite.id)))
    }

    fn write(self, all: Tally) -> Evidence {
        let mut shown = Vec::new();
        let mut texts = Vec::new();
        for (item, chosen) in self.items.iter().zip(self.chosen) {
            if let Some(chosen) = chosen {
                shown.push(Shown {
                    kind: item.kind.to_owned(),
                    offset: item.offset,
                    uuid: item.uuid.clone(),
                    time: item.time.map(|t| t.to_string()),
                });
                texts.push((item, chosen.text));
            }
        }
        let text = if texts.is_empty() {
            String::new()
        } else {
            evidence::join(&texts, all)
        };
        Evidence {
            tokens: tokens::estimate(&text),
            left_out: all.total().saturating_sub(shown.len() as u64),
            text,
            shown,
        }
    }
}
