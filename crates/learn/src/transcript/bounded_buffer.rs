//! Holds items in bounded memory, in order of time.

use super::item::Item;
use crate::clip::boundary_before;

/// How many bytes of items are held.
const MAX_SIZE: usize = 2 << 20;

/// How much of the text of an item is kept that is never left out, in bytes.
const MAX_NEEDED: usize = 300;

/// Items in bounded memory. When they are too many, the least telling half of them goes, of
/// equals the older ones.
#[derive(Debug, Default)]
pub(crate) struct BoundedBuffer {
    /// In order of time.
    pub(super) items: Vec<Item>,
    size: usize,
}

impl BoundedBuffer {
    pub(crate) fn put(&mut self, item: Item) -> &mut Item {
        if self.size > MAX_SIZE {
            self.shrink();
        }
        self.size += item.size();
        // What was typed while the agent worked belongs where it was typed.
        let place = self
            .items
            .partition_point(|known| known.offset <= item.offset);
        let later = &mut self.items[place..];
        let mut item = item;
        item.before = later.first().map_or(item.before, |next| next.before);
        for later in later {
            later.before += 1;
        }
        self.items.insert(place, item);
        &mut self.items[place]
    }

    /// Returns the latest text of the assistant among the last items.
    pub(crate) fn last_text(&mut self, among: usize) -> Option<&mut Item> {
        let mut last = self.items.iter_mut().rev().take(among);
        last.find(|item| item.kind == "assistant_text")
    }

    /// Lets the least telling half go; but the beginning stays of what the record never leaves out.
    fn shrink(&mut self) {
        // Who holds the items takes some out and cuts others.
        self.size = self.items.iter().map(Item::size).sum();
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        // Of one rank they stay in order of time.
        order.sort_by_key(|&i| self.items[i].rank);
        let mut goes = vec![false; self.items.len()];
        for i in order {
            if self.size <= MAX_SIZE / 2 {
                break;
            }
            let item = &mut self.items[i];
            self.size = self.size.saturating_sub(item.size());
            if !item.is_needed() {
                goes[i] = true;
                continue;
            }
            let shorten = |text: &mut String| text.truncate(boundary_before(text, MAX_NEEDED));
            shorten(&mut item.body);
            item.words.iter_mut().for_each(shorten);
            item.is_cut = true;
            self.size += item.size();
        }
        let mut goes = goes.into_iter();
        self.items.retain(|_| !goes.next().unwrap_or_default());
    }
}
