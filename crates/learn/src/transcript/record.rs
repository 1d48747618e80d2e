//! One record of a transcript that may be part of the conversation.
//!
//! Its strings are either borrowed from its line ([`Str`]) or, for a record that is kept
//! beside its bytes, places in them ([`Span`]).

use jiff::Timestamp;

use super::hash::RecordHash;
use super::json::Value;
use super::text::{Span, Str};

/// How many blocks of a message are read.
const MAX_BLOCKS: usize = 10_000;

/// A record that may be part of the conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct TranscriptRecord<S> {
    pub kind: Speaker,
    pub marks: Marks,
    pub hash: Option<RecordHash>,
    pub time: Option<Timestamp>,
    pub uuid: Option<S>,
    pub cwd: Option<S>,
    pub message: Option<S>,
    /// The first block of the message; recent clients write one to a record.
    first: Option<Block<S>>,
    rest: Vec<Block<S>>,
}

/// Who speaks in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The user, a tool's answer, or the client in the user's name.
    #[default]
    User,
    Assistant,
    /// The client, of a compaction.
    Boundary,
    /// A hook, of what it told the model.
    Hook,
    /// The user, while the agent works.
    Queued,
    /// A subagent, in the session's own file.
    Aside,
    /// The client, of what it does to the queue of what was typed.
    Queue,
}

/// What can be said of a record with yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordFlag {
    /// `isSidechain`: a subagent's line.
    Sidechain = 1,
    /// `isMeta`: written by the client.
    Meta = 2,
    /// `isCompactSummary`.
    CompactSummary = 4,
    /// `isVisibleInTranscriptOnly`.
    TranscriptOnly = 8,
    /// No answer of the model, but a note that there is none.
    ApiError = 16,
    /// The user did not allow a call.
    Refused = 32,
    /// Its origin is no person.
    NotTyped = 64,
    /// A rule, a hook or a classifier did not allow a call.
    Forbidden = 128,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    pub(crate) fn has(self, mark: RecordFlag) -> bool {
        self.0 & mark as u8 != 0
    }

    pub(crate) fn set(&mut self, mark: RecordFlag, on: bool) {
        if on {
            self.0 |= mark as u8;
        } else {
            self.0 &= !(mark as u8);
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Block<S> {
    /// The content itself is a string.
    Whole(S),
    /// A bare string in the list of blocks.
    Bare(S),
    /// `{"type":"text","text":..}`.
    Text(S),
    ToolUse {
        id: Option<S>,
        name: Option<S>,
        input: Option<Value<S>>,
    },
    ToolResult {
        id: Option<S>,
        is_error: bool,
        content: Option<Value<S>>,
    },
    /// What a hook told the model after the failure of a call, or with a prompt; what the
    /// user typed while the agent worked.
    Told {
        tool_use: Option<S>,
        content: Value<S>,
    },
    /// Anything else: thinking, images, documents.
    Other,
}

impl<S: Copy> TranscriptRecord<S> {
    /// Returns the blocks of the message, in order.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block<S>> {
        self.first.iter().chain(&self.rest).copied()
    }

    pub(crate) fn only_block(&self) -> Option<Block<S>> {
        self.first.filter(|_| self.rest.is_empty())
    }

    pub(crate) fn clear(&mut self) {
        (self.first, self.rest) = (None, Vec::new());
    }

    /// Adds a block; more than any client writes are dropped.
    pub(crate) fn push(&mut self, block: Block<S>) {
        if self.first.is_none() {
            self.first = Some(block);
        } else if self.rest.len() < MAX_BLOCKS {
            self.rest.push(block);
        }
    }

    /// Returns the record with its strings in another form.
    pub(crate) fn map<T>(&self, form: impl Fn(S) -> T + Copy) -> TranscriptRecord<T> {
        TranscriptRecord {
            kind: self.kind,
            marks: self.marks,
            hash: self.hash,
            time: self.time,
            uuid: self.uuid.map(form),
            cwd: self.cwd.map(form),
            message: self.message.map(form),
            first: self.first.map(|block| block.map(form)),
            rest: self.rest.iter().map(|block| block.map(form)).collect(),
        }
    }
}

impl<S> Block<S> {
    fn map<T>(self, form: impl Fn(S) -> T + Copy) -> Block<T> {
        match self {
            Self::Whole(text) => Block::Whole(form(text)),
            Self::Bare(text) => Block::Bare(form(text)),
            Self::Text(text) => Block::Text(form(text)),
            Self::ToolUse { id, name, input } => Block::ToolUse {
                id: id.map(form),
                name: name.map(form),
                input: input.map(|value| value.map(form)),
            },
            Self::ToolResult {
                id,
                is_error,
                content,
            } => Block::ToolResult {
                id: id.map(form),
                is_error,
                content: content.map(|value| value.map(form)),
            },
            Self::Told { tool_use, content } => Block::Told {
                tool_use: tool_use.map(form),
                content: content.map(form),
            },
            Self::Other => Block::Other,
        }
    }
}

impl TranscriptRecord<Str<'_>> {
    /// Returns the record with its strings as places in `bytes`, which they borrow from.
    pub(crate) fn in_place(&self, bytes: &[u8]) -> TranscriptRecord<Span> {
        self.map(|text| text.span(bytes))
    }
}

impl TranscriptRecord<Span> {
    /// Returns the record with its strings borrowed from `bytes`, in which they stand.
    pub(crate) fn on<'a>(&self, bytes: &'a [u8]) -> TranscriptRecord<Str<'a>> {
        self.map(|span| span.on(bytes))
    }
}
