//! The bounded collector: events in, evidence within a budget out.

use super::event::{Event, EventKind};
use super::tokens;

/// How many bytes of texts are held at most.
const MAX_HELD: usize = 2 << 20;

/// What would be sent to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Evidence {
    /// The events chosen, in order of time.
    pub text: String,
    /// The estimate of its tokens.
    pub tokens: u64,
    /// How many events were left out.
    pub left_out: u64,
}

#[derive(Debug)]
struct Item {
    seq: u64,
    value: u8,
    text: String,
}

/// Takes events one by one and keeps what may be chosen.
#[derive(Debug, Default)]
pub struct Collector {
    items: Vec<Item>,
    held: usize,
    seq: u64,
}

impl Collector {
    /// Takes one event.
    pub fn push(&mut self, event: Event) {
        self.seq += 1;
        let (value, text) = match event.kind {
            EventKind::Prompt(p) => (
                if p.correction { 9 } else { 7 },
                format!("USER: {}", p.text),
            ),
            EventKind::Rejection { call, words } => (
                9,
                format!(
                    "USER REJECTED {} `{}`: {}",
                    call.tool,
                    call.input,
                    words.unwrap_or_default()
                ),
            ),
            EventKind::Interrupt => (9, "USER INTERRUPTED".to_owned()),
            EventKind::Text { text, cites } => (
                if cites.is_empty() { 3 } else { 10 },
                format!("CLAUDE: {text}"),
            ),
            EventKind::ToolError { call, failure } => (
                8,
                format!(
                    "TOOL ERROR {} `{}`: {}",
                    call.tool, call.input, failure.text
                ),
            ),
            EventKind::Check { check, .. } => {
                (6, format!("CHECK {}: {}", check.runner, check.line))
            }
            EventKind::ApiError(text) => (6, format!("API ERROR: {text}")),
            EventKind::ToolCall(call) => (1, format!("CALL {} `{}`", call.tool, call.input)),
            EventKind::Compaction => (1, "COMPACTION".to_owned()),
            EventKind::HandBack(text) => (2, format!("SUBAGENT: {text}")),
            EventKind::ToolResult(_) => return,
        };
        self.held += text.len();
        self.items.push(Item {
            seq: self.seq,
            value,
            text,
        });
        if self.held > MAX_HELD {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        self.items
            .sort_by_key(|i| (std::cmp::Reverse(i.value), i.seq));
        while self.held > MAX_HELD / 2 {
            let Some(item) = self.items.pop() else { break };
            self.held -= item.text.len();
        }
        self.items.sort_by_key(|i| i.seq);
    }

    /// Chooses and writes the evidence in at most `budget` tokens.
    pub fn finish(mut self, budget: u64) -> Evidence {
        self.items
            .sort_by_key(|i| (std::cmp::Reverse(i.value), i.seq));
        let mut tokens = 0;
        let total = self.seq;
        let mut chosen: Vec<Item> = Vec::new();
        for item in self.items {
            let cost = tokens::estimate(&item.text) + 2;
            if tokens + cost <= budget {
                tokens += cost;
                chosen.push(item);
            }
        }
        chosen.sort_by_key(|i| i.seq);
        let text: Vec<&str> = chosen.iter().map(|i| i.text.as_str()).collect();
        let text = text.join("\n");
        Evidence {
            tokens: tokens::estimate(&text),
            left_out: total - chosen.len() as u64,
            text,
        }
    }
}
