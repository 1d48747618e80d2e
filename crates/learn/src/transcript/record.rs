//! One record of a transcript: the few keys that decide what it is, and what it then is.
//!
//! `#[serde(tag = "type")]` would copy each record before it knows its type, so the type is
//! a key as the others are.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::calls::DeniedBy;
use super::event::EventPlace;
use super::json::{self, Raw};
use crate::errors::first_eight;

/// The most blocks of a message that are read; no client writes more.
const MAX_BLOCKS: usize = 10_000;

/// A record's uuid as 64 bits: the first 8 bytes of its SHA-256, big-endian.
///
/// The hash is stored (jobs, memory), so it must never change. The uuid is hashed as the
/// bytes between its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordHash(pub u64);

pub(crate) struct Record<'a> {
    pub keys: Keys<'a>,
    pub content: Content<'a>,
    pub author: Author,
    message_id: Option<&'a str>,
}

/// The author of a record of the user's, by the client's marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Author {
    /// A person; an older client has no marks.
    #[default]
    Person,
    /// A program or a timer: `claude -p`, the SDK, cron.
    Program,
    /// Another session, a notification, the client.
    Other,
}

/// The content of a record, by who speaks in it.
#[derive(Debug)]
pub(crate) enum Content<'a> {
    /// The user, or a tool's answer.
    User(Vec<Block<'a>>),
    /// The client, in the user's name.
    Meta(Vec<Block<'a>>),
    /// The summary of a compaction, or a note for who reads the transcript.
    Summary {
        is_compact: bool,
    },
    Assistant(Vec<Block<'a>>),
    /// The client, in the model's name: there is no answer.
    ApiError(Vec<Block<'a>>),
    /// The client, of a compaction.
    Boundary,
    /// The user, while the agent works.
    Queued(Raw<'a>),
    /// A subagent, in the session's own file.
    Aside(Vec<Block<'a>>),
    /// The client, of what it does to the queue of what was typed.
    Queue {
        operation: &'a str,
        text: Raw<'a>,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Block<'a> {
    Text(Cow<'a, str>),
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Raw<'a>,
    },
    ToolResult {
        id: &'a str,
        is_error: bool,
        content: Raw<'a>,
    },
    /// Anything else: thinking, images, documents.
    Other,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Keys<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Raw<'a>,
    subtype: Raw<'a>,
    uuid: Raw<'a>,
    parent_uuid: Raw<'a>,
    logical_parent_uuid: Raw<'a>,
    timestamp: Raw<'a>,
    pub git_branch: Raw<'a>,
    pub cwd: Raw<'a>,
    pub is_sidechain: Raw<'a>,
    is_meta: Raw<'a>,
    is_compact_summary: Raw<'a>,
    is_visible_in_transcript_only: Raw<'a>,
    is_api_error_message: Raw<'a>,
    tool_denial_kind: Raw<'a>,
    permission_decision: Raw<'a>,
    api_block_index: Raw<'a>,
    prompt_source: Raw<'a>,
    turn_origin: Raw<'a>,
    entrypoint: Raw<'a>,
    /// The plan that the user approved, where the client hands it over.
    pub plan_content: Raw<'a>,
    /// The session that a record was copied from.
    pub request_session_id: Raw<'a>,
    origin: Raw<'a>,
    // Read at once: it is most of a record's bytes.
    #[serde(borrow, deserialize_with = "json::if_object")]
    message: Option<Part<'a>>,
    pub attachment: Raw<'a>,
    /// The operation on the queue of what was typed, and its text.
    operation: Raw<'a>,
    content: Raw<'a>,
    /// The content of a record of progress.
    data: Raw<'a>,
}

/// An attachment of the client's: the words of hooks, what was typed while the agent worked.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Raw<'a>,
    pub hook_event: Raw<'a>,
    pub content: Raw<'a>,
    prompt: Raw<'a>,
    command_mode: Raw<'a>,
    is_meta: Raw<'a>,
    /// Another session can type, too.
    origin: Raw<'a>,
}

/// The keys of a message, of a block in it, and of what holds such.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    id: Raw<'a>,
    model: Raw<'a>,
    message: Raw<'a>,
    content: Raw<'a>,
    text: Raw<'a>,
    name: Raw<'a>,
    input: Raw<'a>,
    tool_use_id: Raw<'a>,
    is_error: Raw<'a>,
}

impl<'a> Keys<'a> {
    /// Returns the record's own hash and that of the record it follows.
    pub(crate) fn chain(&self) -> [Option<RecordHash>; 2] {
        let parent = self.parent_uuid.or(self.logical_parent_uuid);
        [self.uuid, parent].map(|uuid| {
            let uuid = json::quoted(uuid)?;
            Some(RecordHash(first_eight(uuid.as_bytes())))
        })
    }

    /// Returns `true` for a record of a client that marks who wrote and refused what.
    pub(crate) fn is_marked(&self) -> bool {
        let marks = [
            self.origin,
            self.prompt_source,
            self.turn_origin,
            self.tool_denial_kind,
            self.permission_decision,
            self.api_block_index,
        ];
        marks.iter().any(Option::is_some)
    }

    pub(crate) fn denied(&self) -> DeniedBy {
        DeniedBy::of(json::name(self.tool_denial_kind))
    }

    fn author(&self, attachment: Option<&Attachment<'_>>) -> Author {
        #[derive(Deserialize)]
        struct Origin<'o> {
            #[serde(borrow)]
            kind: Raw<'o>,
        }
        let kind = |origin| json::name(json::object::<Origin<'_>>(origin)?.kind);
        let of_attachment = attachment.and_then(|attachment| kind(attachment.origin));
        let origin = of_attachment.or_else(|| kind(self.origin));
        let entrypoint = json::name(self.entrypoint).unwrap_or_default();
        let turn = json::name(self.turn_origin);
        match (origin, turn, json::name(self.prompt_source)) {
            (Some("cron"), ..) => Author::Program,
            (Some(kind), ..) if kind != "human" => Author::Other,
            (_, _, Some("system")) => Author::Other,
            // A phone or the web types through the SDK.
            (Some(_), ..) if entrypoint.starts_with("remote") => Author::Person,
            (_, Some("human"), _) | (_, _, Some("typed")) => Author::Person,
            (_, Some(_), _) | (_, _, Some("sdk")) => Author::Program,
            _ if entrypoint.starts_with("sdk") => Author::Program,
            _ => Author::Person,
        }
    }

    /// Returns the record if it may be part of the conversation.
    pub(crate) fn decide(self) -> Option<Record<'a>> {
        let kind = json::name(self.kind)?;
        let (mut message, mut attachment) = (None, None);
        match kind {
            "user" | "assistant" => message = self.message,
            "progress" => message = subagents_message(self.data),
            "attachment" => attachment = json::object::<Attachment<'_>>(self.attachment),
            _ => {}
        }
        let content = match kind {
            "user" => self.of_user(message?),
            "assistant" => self.of_assistant(message?)?,
            "progress" => Content::Aside(message?.blocks()),
            "system" if json::name(self.subtype) == Some("compact_boundary") => Content::Boundary,
            "attachment" => Content::Queued(Some(attachment.as_ref()?.typed()?)),
            "queue-operation" => Content::Queue {
                operation: json::name(self.operation)?,
                text: self.content,
            },
            _ => return None,
        };
        Some(Record {
            author: self.author(attachment.as_ref()),
            content,
            message_id: message.and_then(|message| json::name(message.id)),
            keys: self,
        })
    }

    fn of_user(&self, message: Part<'a>) -> Content<'a> {
        let is_compact = json::is_true(self.is_compact_summary);
        if is_compact || json::is_true(self.is_visible_in_transcript_only) {
            Content::Summary { is_compact }
        } else if json::is_true(self.is_meta) {
            Content::Meta(message.blocks())
        } else {
            Content::User(message.blocks())
        }
    }

    fn of_assistant(&self, message: Part<'a>) -> Option<Content<'a>> {
        let is_synthetic = json::name(message.model) == Some("<synthetic>");
        let blocks = message.blocks();
        let is_failure =
            |block: &Block<'_>| matches!(block, Block::Text(text) if text.starts_with("API Error"));
        if json::is_true(self.is_api_error_message) || is_synthetic && blocks.iter().any(is_failure)
        {
            Some(Content::ApiError(blocks))
        } else if is_synthetic {
            // All else that the client writes there (`No response requested.`) says nothing.
            None
        } else {
            Some(Content::Assistant(blocks))
        }
    }
}

/// Searches for signs of a subagent's calls and refusals, which an older client writes there.
fn subagents_message(data: Raw<'_>) -> Option<Part<'_>> {
    let signs = ["\"tool_use\"", "\"The user doesn't want to"];
    let has_sign = |data: &str| signs.iter().any(|sign| data.contains(sign));
    let progress: Part<'_> = json::object(data.filter(|data| has_sign(data.get())))?;
    let record: Part<'_> = json::object(progress.message)?;
    json::object(record.message)
}

impl Record<'_> {
    pub(crate) fn place(&self, offset: u64) -> EventPlace {
        let owned = |name: Option<&str>| name.map(str::to_owned);
        EventPlace {
            offset,
            uuid: owned(json::name(self.keys.uuid)),
            time: json::name(self.keys.timestamp).and_then(|time| time.parse().ok()),
            message_id: owned(self.message_id),
        }
    }
}

impl<'a> Part<'a> {
    fn blocks(self) -> Vec<Block<'a>> {
        if let Some(text) = json::text(self.content) {
            return vec![Block::Text(text)];
        }
        let items = json::items::<Part<'_>>(self.content).into_iter();
        let blocks = items.map(|part| part.map_or(Block::Other, Self::block));
        blocks.take(MAX_BLOCKS).collect()
    }

    fn block(self) -> Block<'a> {
        match json::name(self.kind) {
            Some("text") => json::text(self.text).map_or(Block::Other, Block::Text),
            Some("tool_use") => Block::ToolUse {
                id: json::name(self.id).unwrap_or_default(),
                name: json::name(self.name).unwrap_or_default(),
                input: self.input,
            },
            Some("tool_result") => Block::ToolResult {
                id: json::name(self.tool_use_id).unwrap_or_default(),
                is_error: json::is_true(self.is_error),
                content: self.content,
            },
            _ => Block::Other,
        }
    }
}

impl<'a> Attachment<'a> {
    /// Returns the text that the user typed while the agent worked.
    fn typed(&self) -> Raw<'a> {
        let is_prompt = json::name(self.kind) == Some("queued_command")
            && !json::is_true(self.is_meta)
            && json::name(self.command_mode).is_none_or(|mode| mode == "prompt");
        self.prompt.filter(|_| is_prompt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(line: &str) -> Option<Record<'_>> {
        serde_json::from_str::<Keys<'_>>(line).unwrap().decide()
    }

    #[test]
    fn the_hash_never_changes() {
        // printf abc | sha256sum
        let record = decide(r#"{"type":"user","uuid":"abc","message":{}}"#);
        let [hash, _] = record.unwrap().keys.chain();
        assert_eq!(hash, Some(RecordHash(0xba78_16bf_8f01_cfea)));
    }

    #[test]
    fn keys_are_in_any_order() {
        let line = r#" { "message" : {"content":[{"text":"new","type":"text"}],"role":"x","id":"m"} , "uuid" : "u", "isMeta":true, "type" : "assistant"}"#;
        let record = decide(line).unwrap();
        let place = record.place(0);
        let ids = (place.message_id.unwrap(), place.uuid.unwrap());
        assert_eq!(ids, ("m".to_owned(), "u".to_owned()));
        assert!(matches!(&record.content, Content::Assistant(blocks)
                if matches!(&blocks[..], [Block::Text(text)] if text == "new")));
    }

    #[test]
    fn a_key_of_another_type_counts_as_absent() {
        let line = r#"{"type":"user","uuid":7,"isMeta":"yes","message":{"content":7},"origin":1}"#;
        let record = decide(line).unwrap();
        assert!(record.keys.chain()[0].is_none() && record.author == Author::Person);
        assert!(matches!(record.content, Content::User(blocks) if blocks.is_empty()));
        let line = r#"{"type":["assistant"],"message":{"content":"x"}}"#;
        assert!(decide(line).is_none());
        let line = r#"{"type":"assistant","message":"x"}"#;
        assert!(decide(line).is_none());
    }
}
