//! One record of a transcript: the few keys that decide what it is, and what it then is.
//!
//! `#[serde(tag = "type")]` would copy each record before it knows its type, so the type is
//! a key as the others are. Texts are not decoded here.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::hash::RecordHash;
use super::json::{self, Object, Raw, Str, each_item};
use super::refusal::DeniedBy;
use super::stats::Reason;

/// The most blocks of a message that are read.
const MAX_BLOCKS: usize = 10_000;

/// A record that may be part of the conversation.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    pub content: Content<'a>,
    pub hash: Option<RecordHash>,
    pub time: Option<Timestamp>,
    pub uuid: Option<&'a str>,
    pub cwd: Option<Str<'a>>,
    /// The id of the message that it is a part of.
    pub message_id: Option<&'a str>,
    /// A subagent's line.
    pub is_sidechain: bool,
    /// The record that it follows.
    pub parent: Option<RecordHash>,
    /// It follows from a prompt that a later one replaced.
    pub is_replaced: bool,
    pub author: Author,
    /// The plan that the user approved, where the client hands it over.
    pub plan: Option<Str<'a>>,
    pub branch: Option<&'a str>,
}

/// Who wrote a record of the user's, by the client's marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// A person; an older client has no marks.
    Person,
    /// A program or a timer: `claude -p`, the SDK, cron.
    Program,
    /// Another session, a notification, the client.
    Other,
}

/// What a record says, by who speaks in it.
#[derive(Debug)]
pub(crate) enum Content<'a> {
    /// The user, or a tool's answer.
    User {
        blocks: Vec<Block<'a>>,
        denied: DeniedBy,
    },
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
    /// A hook, of what it told the model after the failure of a call, or with a prompt.
    Hook {
        tool_use: Option<&'a str>,
        content: &'a RawValue,
    },
    /// The user, while the agent works.
    Queued(&'a RawValue),
    /// A subagent, in the session's own file.
    Aside(Vec<Block<'a>>),
    /// The client, of what it does to the queue of what was typed.
    Queue {
        operation: &'a str,
        content: Raw<'a>,
    },
}

/// A part of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Block<'a> {
    Text(Str<'a>),
    ToolUse {
        id: Option<&'a str>,
        name: Option<&'a str>,
        input: Raw<'a>,
    },
    ToolResult {
        id: Option<&'a str>,
        is_error: bool,
        content: Raw<'a>,
    },
    /// Anything else: thinking, images, documents.
    Other,
}

/// The keys of a record that are read.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Keys<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    subtype: Raw<'a>,
    uuid: Raw<'a>,
    parent_uuid: Raw<'a>,
    logical_parent_uuid: Raw<'a>,
    timestamp: Raw<'a>,
    git_branch: Raw<'a>,
    cwd: Raw<'a>,
    is_sidechain: Raw<'a>,
    is_meta: Raw<'a>,
    is_compact_summary: Raw<'a>,
    is_visible_in_transcript_only: Raw<'a>,
    is_api_error_message: Raw<'a>,
    tool_denial_kind: Raw<'a>,
    prompt_source: Raw<'a>,
    turn_origin: Raw<'a>,
    entrypoint: Raw<'a>,
    plan_content: Raw<'a>,
    origin: Object<Origin<'a>>,
    message: Object<Message<'a>>,
    attachment: Object<Attachment<'a>>,
    /// What is done to the queue of what was typed, and with which text.
    operation: Raw<'a>,
    content: Raw<'a>,
    /// What a record of progress holds.
    data: Raw<'a>,
}

/// Who typed a prompt, where the client says so.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Origin<'a> {
    #[serde(borrow)]
    kind: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    model: Raw<'a>,
    content: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    hook_event: Raw<'a>,
    #[serde(rename = "toolUseID")]
    tool_use_id: Raw<'a>,
    content: Raw<'a>,
    prompt: Raw<'a>,
    command_mode: Raw<'a>,
    is_meta: Raw<'a>,
    /// Another session can type, too.
    origin: Object<Origin<'a>>,
}

/// What an older client tells of a subagent while it works.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Progress<'a> {
    #[serde(borrow)]
    message: Object<ProgressRecord<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProgressRecord<'a> {
    #[serde(borrow)]
    message: Object<Message<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BlockKeys<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    text: Raw<'a>,
    id: Raw<'a>,
    name: Raw<'a>,
    input: Raw<'a>,
    tool_use_id: Raw<'a>,
    content: Raw<'a>,
    is_error: Raw<'a>,
}

impl<'a> Keys<'a> {
    /// Returns the record's own hash and that of the record it follows.
    pub(crate) fn chain(&self) -> [Option<RecordHash>; 2] {
        let parent = self.parent_uuid.or(self.logical_parent_uuid);
        [self.uuid, parent].map(|uuid| {
            // The hash is of the bytes between the quotes, whatever they are.
            let uuid = uuid.and_then(Str::of)?;
            Some(RecordHash::of(uuid.raw().as_bytes()))
        })
    }

    fn author(&self, origin: Option<&str>) -> Author {
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

    /// Returns the record, or why it is none that counts.
    pub(crate) fn decide(self) -> Result<Record<'a>, Reason> {
        let kind = json::name(self.kind).ok_or(Reason::NoMessage)?;
        let of_subagent = self.data.filter(|_| kind == "progress");
        let of_subagent = of_subagent.and_then(subagents_message);
        let message = match kind {
            "progress" => of_subagent.as_ref(),
            _ => self.message.0.as_ref(),
        };
        let blocks = || message.map(Message::blocks).ok_or(Reason::NoMessage);
        let is_transcript_only = json::is_true(self.is_visible_in_transcript_only);
        let is_compact = json::is_true(self.is_compact_summary);
        let [hash, parent] = self.chain();
        let mut origin = self
            .origin
            .0
            .as_ref()
            .and_then(|origin| json::name(origin.kind));
        let attachment = self.attachment.0.as_ref().filter(|_| kind == "attachment");
        if let Some(of_it) = attachment.and_then(|it| it.origin.0.as_ref()) {
            origin = json::name(of_it.kind).or(origin);
        }
        let author = self.author(origin);
        let mut content = match kind {
            "user" if is_compact || is_transcript_only => {
                blocks().map(|_| Content::Summary { is_compact })?
            }
            "user" if json::is_true(self.is_meta) => Content::Meta(blocks()?),
            "user" => Content::User {
                blocks: blocks()?,
                denied: DeniedBy::of(json::name(self.tool_denial_kind)),
            },
            "assistant" => Content::Assistant(blocks()?),
            "system" if json::name(self.subtype) == Some("compact_boundary") => Content::Boundary,
            "progress" => Content::Aside(blocks().map_err(|_| Reason::Bookkeeping)?),
            "attachment" => {
                let attachment = attachment.ok_or(Reason::Bookkeeping)?;
                attachment.content().ok_or(Reason::Bookkeeping)?
            }
            "queue-operation" => Content::Queue {
                operation: json::name(self.operation).ok_or(Reason::Bookkeeping)?,
                content: self.content,
            },
            _ => return Err(Reason::Bookkeeping),
        };
        let is_synthetic = message.and_then(|m| json::name(m.model)) == Some("<synthetic>");
        let mut is_api_error = json::is_true(self.is_api_error_message);
        if is_synthetic && !is_api_error {
            // What else the client writes there (`No response requested.`) says nothing.
            is_api_error = content.begins("API Error");
            if !is_api_error {
                return Err(Reason::Meta);
            }
        }
        if let (Content::Assistant(blocks), true) = (&mut content, is_api_error) {
            content = Content::ApiError(std::mem::take(blocks));
        }
        Ok(Record {
            content,
            hash,
            parent,
            time: json::name(self.timestamp).and_then(|time| time.parse().ok()),
            uuid: json::name(self.uuid),
            cwd: self.cwd.and_then(Str::of),
            message_id: message.and_then(|message| json::name(message.id)),
            is_sidechain: json::is_true(self.is_sidechain),
            is_replaced: false,
            author,
            plan: self.plan_content.and_then(Str::of),
            branch: json::name(self.git_branch),
        })
    }
}

/// Returns what an older client tells of a subagent: its calls, and what the user refused of
/// them. All else is passed over by a search for their signs.
fn subagents_message(data: &RawValue) -> Option<Message<'_>> {
    let signs = ["\"tool_use\"", "\"The user doesn't want to"];
    if !signs.iter().any(|sign| data.get().contains(sign)) {
        return None;
    }
    let progress: Object<Progress<'_>> = serde_json::from_str(data.get()).ok()?;
    progress.0?.message.0?.message.0
}

impl Content<'_> {
    /// Returns `true` where a text of a message begins so.
    fn begins(&self, beginning: &str) -> bool {
        let (Self::User { blocks, .. }
        | Self::Meta(blocks)
        | Self::Assistant(blocks)
        | Self::Aside(blocks)) = self
        else {
            return false;
        };
        let mut blocks = blocks.iter();
        blocks.any(|block| matches!(block, Block::Text(text) if text.raw().starts_with(beginning)))
    }
}

impl<'a> Message<'a> {
    /// Returns the blocks in order; more than any client writes are dropped.
    fn blocks(&self) -> Vec<Block<'a>> {
        let mut blocks = Vec::new();
        if let Some(content) = self.content {
            blocks.extend(Str::of(content).map(Block::Text));
            each_item(content, |Object(keys): Object<BlockKeys<'a>>| {
                if blocks.len() < MAX_BLOCKS {
                    blocks.push(keys.map_or(Block::Other, BlockKeys::decide));
                }
            });
        }
        blocks
    }
}

impl<'a> BlockKeys<'a> {
    fn decide(self) -> Block<'a> {
        match json::name(self.kind) {
            Some("text") => {
                let text = self.text.and_then(Str::of);
                text.map_or(Block::Other, Block::Text)
            }
            Some("tool_use") => Block::ToolUse {
                id: json::name(self.id),
                name: json::name(self.name),
                input: self.input,
            },
            Some("tool_result") => Block::ToolResult {
                id: json::name(self.tool_use_id),
                is_error: json::is_true(self.is_error),
                content: self.content,
            },
            _ => Block::Other,
        }
    }
}

impl<'a> Attachment<'a> {
    /// Returns what a hook told the model about a failure or a prompt that may hold a hint of
    /// ours, and what the user typed while the agent worked.
    fn content(&self) -> Option<Content<'a>> {
        match json::name(self.kind)? {
            "hook_additional_context" => {
                let tool_use = match json::name(self.hook_event)? {
                    "PostToolUseFailure" => Some(json::name(self.tool_use_id)?),
                    "UserPromptSubmit" => None,
                    _ => return None,
                };
                let content = self.content.filter(|text| text.get().contains("- ["))?;
                Some(Content::Hook { tool_use, content })
            }
            "queued_command"
                if !json::is_true(self.is_meta)
                    && json::name(self.command_mode).is_none_or(|mode| mode == "prompt") =>
            {
                self.prompt.map(Content::Queued)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn decide(line: &str) -> Result<Record<'_>, Reason> {
        let keys: Keys<'_> = serde_json::from_str(line).unwrap();
        keys.decide()
    }

    #[test]
    fn keys_are_in_any_order() {
        let line = r#" { "message" : {"content":[{"text":"new","type":"text"}],"role":"x","id":"m"} , "uuid" : "u", "isMeta":true, "type" : "assistant"}"#;
        let record = decide(line).unwrap();
        assert_eq!((record.message_id, record.uuid), (Some("m"), Some("u")));
        assert!(matches!(&record.content, Content::Assistant(blocks)
                if matches!(blocks[..], [Block::Text(text)] if text.raw() == "new")));
    }

    #[rstest]
    #[case::user(r#""user-rejected""#, DeniedBy::User)]
    #[case::rule_or_hook(r#""permission-rule""#, DeniedBy::Settings)]
    #[case::classifier(r#""automode-blocked""#, DeniedBy::Settings)]
    #[case::of_a_later_client(r#""policy""#, DeniedBy::Settings)]
    #[case::escape_or_exit(r#""interrupted""#, DeniedBy::Unsaid)]
    #[case::none("null", DeniedBy::Unsaid)]
    fn who_did_not_allow_a_call_is_the_clients_word(#[case] kind: &str, #[case] want: DeniedBy) {
        let line =
            format!(r#"{{"type":"user","toolDenialKind":{kind},"message":{{"content":"no"}}}}"#);
        let record = decide(&line).unwrap();
        assert!(matches!(record.content, Content::User { denied, .. } if denied == want));
    }

    #[rstest]
    #[case::older_client("{}", Author::Person)]
    #[case::typed(
        r#"{"turnOrigin":"human","promptSource":"typed","entrypoint":"cli"}"#,
        Author::Person
    )]
    #[case::phone(
        r#"{"promptSource":"sdk","entrypoint":"remote_mobile","origin":{"kind":"human"}}"#,
        Author::Person
    )]
    #[case::sdk(
        r#"{"turnOrigin":"sdk","promptSource":"sdk","entrypoint":"sdk-py"}"#,
        Author::Program
    )]
    #[case::older_sdk(r#"{"entrypoint":"sdk-cli"}"#, Author::Program)]
    #[case::sdk_says_human(
        r#"{"promptSource":"sdk","entrypoint":"sdk-py","origin":{"kind":"human"}}"#,
        Author::Program
    )]
    #[case::cron(
        r#"{"promptSource":"system","origin":{"kind":"cron"}}"#,
        Author::Program
    )]
    #[case::notification(
        r#"{"promptSource":"system","origin":{"kind":"task-notification"}}"#,
        Author::Other
    )]
    #[case::session(r#"{"origin":{"kind":"peer"}}"#, Author::Other)]
    fn the_author_is_known_by_the_clients_marks(#[case] marks: &str, #[case] want: Author) {
        let mut line: serde_json::Value = serde_json::from_str(marks).unwrap();
        line["type"] = "user".into();
        line["message"] = serde_json::json!({"content": "go"});
        assert_eq!(decide(&line.to_string()).unwrap().author, want);
    }

    #[test]
    fn a_key_of_another_type_counts_as_absent() {
        let line = r#"{"type":"user","uuid":7,"isMeta":"yes","message":{"content":7},"origin":1}"#;
        let record = decide(line).unwrap();
        assert!(record.hash.is_none() && record.author == Author::Person);
        assert!(matches!(record.content, Content::User { blocks, .. } if blocks.is_empty()));
        let line = r#"{"type":["assistant"],"message":{"content":"x"}}"#;
        assert_eq!(decide(line).err(), Some(Reason::NoMessage));
        let line = r#"{"type":"assistant","message":"x"}"#;
        assert_eq!(decide(line).err(), Some(Reason::NoMessage));
    }
}
