//! Reads records in outline: the few keys that decide what a record is.
//!
//! Keys may stand in any order and may stand twice (the last one wins); a key of an
//! unexpected type counts as absent. Texts are not decoded here.

use memchr::memmem;

use super::hash::RecordHash;
use super::json::{JsonCursor, JsonFault, Value};
use super::record::{Block, RecordFlag, Speaker, TranscriptRecord};
use super::stats::Reason;
use super::text::Str;
use super::time;

/// Keys that only decide what a record is.
#[derive(Default)]
struct Deciding<'a> {
    told: Option<(Speaker, Block<Str<'a>>)>,
    kind: Option<Str<'a>>,
    subtype: Option<Str<'a>>,
    timestamp: Option<Str<'a>>,
    origin: Option<Str<'a>>,
    source: Option<Str<'a>>,
    model: Option<Str<'a>>,
    /// What is done to the queue of what was typed, and with which text.
    operation: Option<Str<'a>>,
    content: Option<Value<Str<'a>>>,
    /// What a record of progress holds.
    data: Option<Value<Str<'a>>>,
    has_message: bool,
    api_error: bool,
}

/// Reads the object at the cursor: a record, or why it is none that counts.
pub(crate) fn read<'a>(
    cursor: &mut JsonCursor<'a>,
) -> Result<Result<TranscriptRecord<Str<'a>>, Reason>, JsonFault> {
    let mut record = TranscriptRecord::default();
    let mut deciding = Deciding::default();
    cursor.object(|cursor, key| {
        if key.is("message") {
            return message(cursor, &mut record, &mut deciding);
        }
        if key.is("attachment") {
            deciding.told = attachment(cursor, &mut deciding.origin)?;
            return Ok(());
        }
        if key.is("origin") {
            deciding.origin = origin(cursor)?;
            return Ok(());
        }
        let value = cursor.value()?;
        // The length first: so few keys are compared byte by byte.
        let key = key.raw();
        match key.len() {
            3 if key == b"cwd" => record.cwd = value.str(),
            4 if key == b"type" => deciding.kind = value.str(),
            4 if key == b"data" => deciding.data = Some(value),
            4 if key == b"uuid" => record.uuid = value.str(),
            6 if key == b"isMeta" => record.marks.set(RecordFlag::Meta, value.is_true()),
            7 if key == b"subtype" => deciding.subtype = value.str(),
            7 if key == b"content" => deciding.content = Some(value),
            9 if key == b"timestamp" => deciding.timestamp = value.str(),
            9 if key == b"operation" => deciding.operation = value.str(),
            11 if key == b"isSidechain" => record.marks.set(RecordFlag::Sidechain, value.is_true()),
            12 if key == b"promptSource" => deciding.source = value.str(),
            14 if key == b"toolDenialKind" => {
                deny(value.str(), &mut record);
            }
            16 if key == b"isCompactSummary" => {
                record
                    .marks
                    .set(RecordFlag::CompactSummary, value.is_true());
            }
            17 if key == b"isApiErrorMessage" => deciding.api_error = value.is_true(),
            25 if key == b"isVisibleInTranscriptOnly" => {
                record
                    .marks
                    .set(RecordFlag::TranscriptOnly, value.is_true());
            }
            _ => {}
        }
        Ok(())
    })?;
    if let Some(Value::Nested(data)) = deciding.data
        && deciding.kind.is_some_and(|kind| kind.is("progress"))
    {
        progress(data, &mut record, &mut deciding)?;
    }
    Ok(deciding.decide(record))
}

/// Reads what an older client tells of a subagent while it works: its calls, and what the user
/// refused of them. All else is passed over by a search for their signs.
fn progress<'a>(
    data: Str<'a>,
    record: &mut TranscriptRecord<Str<'a>>,
    deciding: &mut Deciding<'a>,
) -> Result<(), JsonFault> {
    let has = |sign: &[u8]| memmem::find(data.raw(), sign).is_some();
    if !has(b"\"tool_use\"") && !has(b"\"The user doesn't want to") {
        return Ok(());
    }
    JsonCursor::new(data.raw()).object(|cursor, key| {
        if !key.is("message") || cursor.peek() != Some(b'{') {
            return cursor.value().map(drop);
        }
        cursor.object(|cursor, key| {
            if key.is("message") {
                return message(cursor, record, deciding);
            }
            cursor.value().map(drop)
        })
    })
}

impl<'a> Deciding<'a> {
    /// What is done to the queue of what the user typed while the agent works.
    fn queued(&self) -> Option<(Speaker, Block<Str<'a>>)> {
        let operation = self.operation?;
        let told = Block::Told {
            tool_use: Some(operation),
            content: self.content.unwrap_or(Value::Str(operation)),
        };
        Some((Speaker::Queue, told))
    }

    fn decide(
        &self,
        mut record: TranscriptRecord<Str<'a>>,
    ) -> Result<TranscriptRecord<Str<'a>>, Reason> {
        let kind = self.kind.ok_or(Reason::NoMessage)?;
        let told = match kind.raw() {
            b"attachment" => self.told,
            b"queue-operation" => self.queued(),
            _ => None,
        };
        record.kind = match kind.raw() {
            b"user" => Speaker::User,
            b"assistant" => Speaker::Assistant,
            b"system" if self.subtype.is_some_and(|s| s.is("compact_boundary")) => {
                Speaker::Boundary
            }
            b"progress" if self.has_message => Speaker::Aside,
            _ => told.ok_or(Reason::Bookkeeping)?.0,
        };
        if let Some((_, told)) = told {
            record.clear();
            record.push(told);
        } else if record.kind != Speaker::Boundary && !self.has_message {
            return Err(Reason::NoMessage);
        }
        let person = self.origin.is_none_or(|kind| kind.is("human"))
            && self.source.is_none_or(|source| !source.is("system"));
        let synthetic = self.model.is_some_and(|m| m.is("<synthetic>"));
        let api_error = self.api_error || (synthetic && reports_api_error(&record));
        if synthetic && !api_error {
            return Err(Reason::Meta);
        }
        record.marks.set(RecordFlag::NotTyped, !person);
        record.marks.set(RecordFlag::ApiError, api_error);
        record.hash = record.uuid.map(|uuid| RecordHash::of(uuid.raw()));
        record.time = self.timestamp.and_then(|t| time::read(t.raw()));
        Ok(record)
    }
}

/// Tells whether the client reports in the model's name that there is no answer; what else it
/// writes there (`No response requested.`) says nothing.
fn reports_api_error(record: &TranscriptRecord<Str<'_>>) -> bool {
    record.blocks().any(|block| match block {
        Block::Whole(text) | Block::Bare(text) | Block::Text(text) => {
            text.raw().starts_with(b"API Error")
        }
        _ => false,
    })
}

/// Notes who did not allow a call, by the client's word for it.
///
/// `user-rejected` is the user's. `interrupted` and `cancelled` are what became of a call, and may be
/// anybody's: there the answer says more. All others (`permission-rule`, which hooks have too,
/// `automode-blocked`, …) are nobody's wish, and so is what a later client calls otherwise.
fn deny(kind: Option<Str<'_>>, record: &mut TranscriptRecord<Str<'_>>) {
    let is = |wanted: &[&str]| kind.is_some_and(|kind| wanted.iter().any(|word| kind.is(word)));
    let is_users = is(&["user-rejected"]);
    let says_nothing = kind.is_none() || is(&["interrupted", "cancelled"]);
    record.marks.set(RecordFlag::Refused, is_users);
    record
        .marks
        .set(RecordFlag::Forbidden, !is_users && !says_nothing);
}

/// Reads an attachment; those count in which a hook told the model something about a failure
/// or a prompt that may hold a hint of ours, and what the user typed while the agent worked.
///
/// Its `from` is who typed it, where the client says so: another session can.
fn attachment<'a>(
    cursor: &mut JsonCursor<'a>,
    from: &mut Option<Str<'a>>,
) -> Result<Option<(Speaker, Block<Str<'a>>)>, JsonFault> {
    if cursor.peek() != Some(b'{') {
        return cursor.value().map(|_| None);
    }
    let (mut kind, mut event, mut tool_use, mut content) = (None, None, None, None);
    let (mut prompt, mut mode, mut is_meta) = (None, None, false);
    cursor.object(|cursor, key| {
        if key.is("origin") {
            *from = origin(cursor)?;
            return Ok(());
        }
        let value = cursor.value()?;
        match key.raw() {
            b"type" => kind = value.str(),
            b"hookEvent" => event = value.str(),
            b"toolUseID" => tool_use = value.str(),
            b"content" => content = Some(value),
            b"prompt" => prompt = Some(value),
            b"commandMode" => mode = value.str(),
            b"isMeta" => is_meta = value.is_true(),
            _ => {}
        }
        Ok(())
    })?;
    let told = |tool_use, content| Block::Told { tool_use, content };
    Ok(match kind.map(Str::raw) {
        Some(b"hook_additional_context") => {
            let content = content.filter(may_hint);
            let tool_use = match event.map(Str::raw) {
                Some(b"PostToolUseFailure") if tool_use.is_some() => tool_use,
                Some(b"UserPromptSubmit") => None,
                _ => return Ok(None),
            };
            content.map(|content| (Speaker::Hook, told(tool_use, content)))
        }
        Some(b"queued_command") if !is_meta && mode.is_none_or(|mode| mode.is("prompt")) => {
            prompt.map(|prompt| (Speaker::Queued, told(None, prompt)))
        }
        _ => None,
    })
}

/// Tells whether a text may hold the id of a hint.
fn may_hint(content: &Value<Str<'_>>) -> bool {
    let (Value::Str(raw) | Value::Nested(raw)) = content else {
        return false;
    };
    memmem::find(raw.raw(), b"- [").is_some()
}

fn origin<'a>(cursor: &mut JsonCursor<'a>) -> Result<Option<Str<'a>>, JsonFault> {
    if cursor.peek() != Some(b'{') {
        return cursor.value().map(|_| None);
    }
    let mut kind = None;
    cursor.object(|cursor, key| {
        let value = cursor.value()?;
        if key.is("kind") {
            kind = value.str();
        }
        Ok(())
    })?;
    Ok(kind)
}

fn message<'a>(
    cursor: &mut JsonCursor<'a>,
    record: &mut TranscriptRecord<Str<'a>>,
    deciding: &mut Deciding<'a>,
) -> Result<(), JsonFault> {
    record.message = None;
    record.clear();
    deciding.model = None;
    deciding.has_message = cursor.peek() == Some(b'{');
    if !deciding.has_message {
        return cursor.value().map(drop);
    }
    cursor.object(|cursor, key| {
        if key.is("content") {
            record.clear();
            return blocks(cursor, record);
        }
        let value = cursor.value()?;
        match key.raw() {
            b"id" => record.message = value.str(),
            b"model" => deciding.model = value.str(),
            _ => {}
        }
        Ok(())
    })
}

fn blocks<'a>(
    cursor: &mut JsonCursor<'a>,
    record: &mut TranscriptRecord<Str<'a>>,
) -> Result<(), JsonFault> {
    if cursor.peek() != Some(b'[') {
        if let Some(text) = cursor.value()?.str() {
            record.push(Block::Whole(text));
        }
        return Ok(());
    }
    cursor.array(|cursor| {
        let block = if cursor.peek() == Some(b'{') {
            block(cursor)?
        } else {
            cursor.value()?.str().map_or(Block::Other, Block::Bare)
        };
        record.push(block);
        Ok(())
    })
}

fn block<'a>(cursor: &mut JsonCursor<'a>) -> Result<Block<Str<'a>>, JsonFault> {
    let (mut kind, mut text, mut id, mut name) = (None, None, None, None);
    let (mut input, mut result, mut content, mut is_error) = (None, None, None, false);
    cursor.object(|cursor, key| {
        let value = cursor.value()?;
        match key.raw() {
            b"type" => kind = value.str(),
            b"text" => text = value.str(),
            b"id" => id = value.str(),
            b"name" => name = value.str(),
            b"input" => input = Some(value),
            b"tool_use_id" => result = value.str(),
            b"content" => content = Some(value),
            b"is_error" => is_error = value.is_true(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(match kind.map(Str::raw) {
        Some(b"text") => text.map_or(Block::Other, Block::Text),
        Some(b"tool_use") => Block::ToolUse { id, name, input },
        Some(b"tool_result") => Block::ToolResult {
            id: result,
            is_error,
            content,
        },
        _ => Block::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn outline(line: &[u8]) -> Result<TranscriptRecord<Str<'_>>, Reason> {
        read(&mut JsonCursor::new(line)).unwrap()
    }

    #[test]
    fn keys_stand_in_any_order_and_the_last_of_two_wins() {
        let line = br#" { "message" : {"content":"old","content":[{"text":"new","type":"text"}],"role":"x","id":"m"} , "type":"user", "isMeta":true, "isMeta":false, "type" : "assistant"}"#;
        let record = outline(line).unwrap();
        assert_eq!(record.kind, Speaker::Assistant);
        assert!(!record.marks.has(RecordFlag::Meta));
        assert!(record.message.unwrap().is("m"));
        assert!(matches!(record.only_block(), Some(Block::Text(t)) if t.is("new")));
    }

    #[rstest]
    #[case::user(r#""user-rejected""#, [true, false])]
    #[case::rule_or_hook(r#""permission-rule""#, [false, true])]
    #[case::classifier(r#""automode-blocked""#, [false, true])]
    #[case::of_a_later_client(r#""policy""#, [false, true])]
    #[case::escape_or_exit(r#""interrupted""#, [false, false])]
    #[case::none("null", [false, false])]
    fn who_did_not_allow_a_call_is_the_clients_word(#[case] kind: &str, #[case] want: [bool; 2]) {
        let line =
            format!(r#"{{"type":"user","toolDenialKind":{kind},"message":{{"content":"no"}}}}"#);
        let record = outline(line.as_bytes()).unwrap();
        let has = [RecordFlag::Refused, RecordFlag::Forbidden].map(|mark| record.marks.has(mark));
        assert_eq!(has, want);
    }

    #[test]
    fn a_key_of_another_type_counts_as_absent() {
        let line = br#"{"type":"user","uuid":7,"isMeta":"yes","message":{"content":7},"origin":1}"#;
        let record = outline(line).unwrap();
        assert!(record.hash.is_none() && record.only_block().is_none());
        assert!(!record.marks.has(RecordFlag::Meta) && !record.marks.has(RecordFlag::NotTyped));
        let line = br#"{"type":["assistant"],"message":{"content":"x"}}"#;
        assert_eq!(outline(line).err(), Some(Reason::NoMessage));
        let line = br#"{"type":"assistant","message":"x"}"#;
        assert_eq!(outline(line).err(), Some(Reason::NoMessage));
    }
}
