//! Holds items in bounded memory, in order of time.
//!
//! What is telling is held longest; of plain texts and calls only the latest are held, as a
//! ring. When the telling ones are too many, the least telling half of them goes.

use std::collections::{HashSet, VecDeque};

use super::item::{Item, Rank};

/// How many bytes of telling items are held.
const MAX_TELLING: usize = 2 << 20;
/// How many bytes of the latest other items are held.
const MAX_RECENT: usize = 192 << 10;

/// Items in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    telling: Vec<Item>,
    telling_size: usize,
    recent: VecDeque<Item>,
    recent_size: usize,
}

impl Shelf {
    /// Takes an item, which is the latest, and returns it.
    pub(crate) fn put(&mut self, item: Item) -> &mut Item {
        let size = item.size();
        if is_telling(item.rank) {
            if self.telling_size > MAX_TELLING {
                self.shrink();
            }
            self.telling_size += size;
            let place = self.telling.len();
            self.telling.push(item);
            return &mut self.telling[place];
        }
        self.recent_size += size;
        while self.recent_size > MAX_RECENT
            && let Some(old) = self.recent.pop_front()
        {
            self.recent_size -= old.size().min(self.recent_size);
            self.keep_raised(old);
        }
        let place = self.recent.len();
        self.recent.push_back(item);
        &mut self.recent[place]
    }

    /// Returns the telling item of an event.
    pub(crate) fn telling(&mut self, seq: u64) -> Option<&mut Item> {
        let place = self
            .telling
            .binary_search_by_key(&seq, |item| item.seq)
            .ok()?;
        self.telling.get_mut(place)
    }

    /// Returns the latest text of the assistant among about the last `among` items.
    pub(crate) fn last_text(&mut self, among: usize) -> Option<&mut Item> {
        let is_text = |item: &&mut Item| item.kind == "assistant_text";
        let newest = |item: Option<&Item>| item.map_or(0, |item| item.seq);
        let end = newest(self.recent.back()).max(newest(self.telling.last()));
        let recent = self.recent.iter_mut().rev().take(among).find(is_text);
        let telling = self.telling.iter_mut().rev().take(among).find(is_text);
        let text = match (recent, telling) {
            (Some(a), Some(b)) => Some(if a.seq > b.seq { a } else { b }),
            (a, b) => a.or(b),
        };
        text.filter(|item| among > 1 || item.seq == end)
    }

    /// Returns all items in order of time.
    pub(crate) fn into_items(self) -> Vec<Item> {
        let mut items = self.telling;
        items.extend(self.recent);
        items.sort_by_key(|item| item.seq);
        items
    }

    /// Keeps an old item of the ring if it has become telling.
    fn keep_raised(&mut self, item: Item) {
        if is_telling(item.rank) {
            let place = self.telling.partition_point(|other| other.seq < item.seq);
            self.telling_size += item.size();
            self.telling.insert(place, item);
        }
    }

    /// Lets the least telling half go, of equals the older ones; but what is needed to
    /// show each cited key point once stays.
    fn shrink(&mut self) {
        let mut order: Vec<usize> = (0..self.telling.len()).collect();
        order.sort_by_key(|&i| (self.telling[i].rank, self.telling[i].seq));
        let mut going = HashSet::new();
        for i in order {
            if self.telling_size <= MAX_TELLING / 2 {
                break;
            }
            let item = &mut self.telling[i];
            let before = item.size();
            if item.quotes.is_empty() {
                going.insert(item.seq);
                self.telling_size -= before.min(self.telling_size);
            } else {
                item.body = String::new();
                self.telling_size -= (before - item.size()).min(self.telling_size);
            }
        }
        self.telling.retain(|item| !going.contains(&item.seq));
    }
}

fn is_telling(rank: Rank) -> bool {
    rank >= Rank::Prompt
}
