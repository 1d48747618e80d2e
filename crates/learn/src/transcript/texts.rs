//! The texts of a record, read before it is the record's turn.
//!
//! Nothing here depends on other records, so that a thread can do it ahead.

use super::json::JsonFault;
use super::record::{Block, RecordFlag, Speaker, TranscriptRecord};
use super::standing;
use super::text::Str;
use super::user::{self, UserText};
use crate::redact::Masker;

/// What was written in a record, block by block.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    decoded: Vec<Result<String, JsonFault>>,
    /// Whether the masker would leave them as they are.
    pub are_clean: bool,
    /// The standing instructions in the prompt that the only text is.
    orders: Option<Vec<String>>,
}

impl Texts {
    /// Reads the texts of a record in which the user or the assistant may speak.
    pub(crate) fn of(record: &TranscriptRecord<Str<'_>>, masker: &Masker) -> Self {
        let by_client = [
            RecordFlag::Meta,
            RecordFlag::CompactSummary,
            RecordFlag::TranscriptOnly,
        ];
        let speaks = match record.kind {
            Speaker::Assistant => true,
            Speaker::User => !by_client.iter().any(|mark| record.marks.has(*mark)),
            _ => false,
        };
        let blocks = record.blocks().filter(|_| speaks);
        let decoded: Vec<_> = blocks
            .filter_map(|block| match block {
                Block::Whole(text) | Block::Bare(text) | Block::Text(text) => Some(text.decode()),
                _ => None,
            })
            .map(|text| text.map(Into::into))
            .collect();
        let is_clean = |text: &Result<String, _>| text.as_ref().is_ok_and(|t| !masker.finds(t));
        let are_clean = decoded.iter().all(is_clean);
        Self {
            decoded,
            are_clean,
            orders: None,
        }
    }

    /// Looks for the standing instructions in what was typed in a record of this kind, ahead of
    /// who asks for them.
    pub(crate) fn look_for_orders(&mut self, kind: Speaker) {
        if let [Ok(text)] = self.decoded.as_slice()
            && self.are_clean
            && kind == Speaker::User
            && let UserText::Prompt(text) = user::classify(text)
        {
            self.orders = Some(standing::instructions(text.trim()));
        }
    }

    /// The texts of the blocks that have one, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<&str, JsonFault>> {
        let decoded = self.decoded.iter();
        decoded.map(|text| text.as_deref().map_err(|fault| *fault))
    }

    /// The standing instructions in what was typed in the record.
    pub(crate) fn orders(&self, typed: &str) -> Vec<String> {
        let known = self.orders.clone();
        known.unwrap_or_else(|| standing::instructions(typed))
    }
}
