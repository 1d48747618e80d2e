//! One record of a transcript, borrowed from its line.
//!
//! Keys may stand in any order and may stand twice (the last one wins); a key of an
//! unexpected type counts as absent. Nothing is decoded here.

use super::json::{Cursor, Fault, Str, Value};

/// The keys of a record that mean something to us.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record<'a> {
    pub(crate) kind: Option<Str<'a>>,
    pub(crate) subtype: Option<Str<'a>>,
    pub(crate) uuid: Option<Str<'a>>,
    pub(crate) timestamp: Option<Str<'a>>,
    pub(crate) denial: Option<Str<'a>>,
    pub(crate) origin: Option<Str<'a>>,
    pub(crate) prompt_source: Option<Str<'a>>,
    pub(crate) cwd: Option<Str<'a>>,
    pub(crate) message: Option<Message<'a>>,
    pub(crate) marks: Marks,
}

/// The keys of a record that are either `true` or as good as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// `isSidechain`: a subagent's line.
    Sidechain = 1,
    /// `isMeta`: written by the client.
    Meta = 2,
    /// `isCompactSummary`.
    CompactSummary = 4,
    /// `isVisibleInTranscriptOnly`.
    TranscriptOnly = 8,
    /// `isApiErrorMessage`.
    ApiError = 16,
}

/// The marks a record carries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    /// Tells whether the record carries `mark`.
    pub(crate) fn has(self, mark: Mark) -> bool {
        self.0 & mark as u8 != 0
    }

    fn set(&mut self, mark: Mark, value: Value<'_>) {
        if value.is_true() {
            self.0 |= mark as u8;
        } else {
            self.0 &= !(mark as u8);
        }
    }
}

/// The `message` of a user or assistant record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message<'a> {
    pub(crate) id: Option<Str<'a>>,
    pub(crate) role: Option<Str<'a>>,
    pub(crate) model: Option<Str<'a>>,
    pub(crate) blocks: Vec<Block<'a>>,
}

/// One block of a message's content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Block<'a> {
    /// The content itself is a string.
    Whole(Str<'a>),
    /// A bare string in the list of blocks.
    Bare(Str<'a>),
    /// `{"type":"text","text":..}`.
    Text(Str<'a>),
    /// A tool call.
    ToolUse {
        id: Option<Str<'a>>,
        name: Option<Str<'a>>,
        input: Option<Value<'a>>,
    },
    /// What a tool answered.
    ToolResult {
        id: Option<Str<'a>>,
        is_error: bool,
        content: Option<Value<'a>>,
    },
    /// Anything else: thinking, images, documents.
    Other,
}

/// Reads the object at the cursor.
pub(crate) fn read<'a>(cursor: &mut Cursor<'a>) -> Result<Record<'a>, Fault> {
    let mut record = Record::default();
    cursor.object(|cursor, key| {
        if key.is("message") {
            record.message = message(cursor)?;
            return Ok(());
        }
        if key.is("origin") {
            record.origin = origin(cursor)?;
            return Ok(());
        }
        let value = cursor.value()?;
        match key.raw() {
            b"type" => record.kind = value.str(),
            b"subtype" => record.subtype = value.str(),
            b"uuid" => record.uuid = value.str(),
            b"timestamp" => record.timestamp = value.str(),
            b"toolDenialKind" => record.denial = value.str(),
            b"promptSource" => record.prompt_source = value.str(),
            b"cwd" => record.cwd = value.str(),
            b"isSidechain" => record.marks.set(Mark::Sidechain, value),
            b"isMeta" => record.marks.set(Mark::Meta, value),
            b"isCompactSummary" => record.marks.set(Mark::CompactSummary, value),
            b"isVisibleInTranscriptOnly" => record.marks.set(Mark::TranscriptOnly, value),
            b"isApiErrorMessage" => record.marks.set(Mark::ApiError, value),
            _ => {}
        }
        Ok(())
    })?;
    Ok(record)
}

fn origin<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Str<'a>>, Fault> {
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

fn message<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Message<'a>>, Fault> {
    if cursor.peek() != Some(b'{') {
        return cursor.value().map(|_| None);
    }
    let mut message = Message::default();
    cursor.object(|cursor, key| {
        if key.is("content") {
            message.blocks.clear();
            return blocks(cursor, &mut message.blocks);
        }
        let value = cursor.value()?;
        match key.raw() {
            b"id" => message.id = value.str(),
            b"role" => message.role = value.str(),
            b"model" => message.model = value.str(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(Some(message))
}

fn blocks<'a>(cursor: &mut Cursor<'a>, blocks: &mut Vec<Block<'a>>) -> Result<(), Fault> {
    if cursor.peek() != Some(b'[') {
        blocks.extend(cursor.value()?.str().map(Block::Whole));
        return Ok(());
    }
    cursor.array(|cursor| {
        let block = if cursor.peek() == Some(b'{') {
            block(cursor)?
        } else {
            cursor.value()?.str().map_or(Block::Other, Block::Bare)
        };
        blocks.push(block);
        Ok(())
    })
}

fn block<'a>(cursor: &mut Cursor<'a>) -> Result<Block<'a>, Fault> {
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

    #[test]
    fn keys_stand_in_any_order_and_the_last_of_two_wins() {
        let line = br#" { "message" : {"content":"old","content":[{"text":"new","type":"text"}],"role":"x","id":"m"} , "type":"user", "isMeta":true, "isMeta":false, "type" : "assistant"}"#;
        let record = read(&mut Cursor::new(line)).unwrap();
        assert!(record.kind.unwrap().is("assistant"));
        assert!(!record.marks.has(Mark::Meta));
        let message = record.message.unwrap();
        assert!(message.id.unwrap().is("m"));
        assert!(matches!(message.blocks[..], [Block::Text(t)] if t.is("new")));
    }

    #[test]
    fn a_key_of_another_type_counts_as_absent() {
        let line = br#"{"type":["assistant"],"uuid":7,"isMeta":"yes","message":"x","origin":1}"#;
        let record = read(&mut Cursor::new(line)).unwrap();
        assert!(record.kind.is_none() && record.uuid.is_none());
        assert!(
            !record.marks.has(Mark::Meta) && record.message.is_none() && record.origin.is_none()
        );
    }

    #[test]
    fn two_objects_on_a_line_are_both_read() {
        let mut cursor = Cursor::new(br#"{"type":"a"}{"type":"b"}"#);
        assert!(read(&mut cursor).unwrap().kind.unwrap().is("a"));
        assert_eq!(cursor.position(), 12);
        assert!(read(&mut cursor).unwrap().kind.unwrap().is("b"));
        assert_eq!(cursor.peek(), None);
    }
}
