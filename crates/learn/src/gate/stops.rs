//! Replays a transcript: each stop in it, with the gate's verdict.

use jiff::Timestamp;
use serde::Serialize;

use super::turn::Turn;
use super::verdict::GateVerdict;
use crate::transcript::{Event, EventKind, EventPlace, Via};

#[derive(Clone, Debug, Serialize)]
pub struct TurnEnd {
    /// The start of the agent's last message, in bytes from the start of the file.
    pub offset: u64,
    pub uuid: Option<String>,
    pub time: Option<Timestamp>,
    #[serde(flatten)]
    pub verdict: GateVerdict,
}

#[derive(Debug, Default)]
pub struct Stops {
    turn: Turn,
    last: Option<TurnEnd>,
    found: Vec<TurnEnd>,
}

impl Stops {
    pub fn see(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::Prompt(prompt)
                if matches!(prompt.via, Via::Typed | Via::Plan | Via::Command(_)) =>
            {
                self.end_turn();
            }
            EventKind::Text { .. } => self.last = Some(TurnEnd::at(event.place)),
            _ => {}
        }
        self.turn.see(event);
    }

    pub fn finish(mut self) -> Vec<TurnEnd> {
        self.end_turn();
        self.found
    }

    /// Ends a turn. One without a last message, stopped by the user or cut off, has no stop.
    fn end_turn(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        if let (Some(mut stop), Some(message)) = (self.last.take(), turn.message()) {
            stop.verdict = turn.verdict(message);
            self.found.push(stop);
        }
    }
}

impl TurnEnd {
    fn at(place: &EventPlace) -> Self {
        Self {
            offset: place.offset,
            uuid: place.uuid.clone(),
            time: place.time,
            verdict: GateVerdict::default(),
        }
    }
}
