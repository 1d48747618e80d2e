//! What the quality gate would have said, were it on.

use serde_json::{Value, json};

use crate::gate::Stop;
use crate::queue::transcripts::Past;

#[derive(Debug, Default)]
pub(super) struct GateTally {
    /// How many turns ended.
    pub(super) stops: u64,
    /// Where it would have spoken, with what came next.
    pub(super) spoken: Vec<Value>,
}

impl GateTally {
    pub(super) fn stopped(&mut self, past: &Past, stops: Vec<Stop>, threshold: f64) {
        self.stops += stops.len() as u64;
        let failed = stops
            .into_iter()
            .filter(|stop| !stop.verdict.passes(threshold));
        let told = failed.map(|stop| {
            json!({
                "place": past.name(),
                "uuid": stop.uuid,
                "score": stop.verdict.quality_score,
                "told": stop.verdict.guidance,
                "answer": stop.answer,
                "failed_again": stop.failed_again,
            })
        });
        self.spoken.extend(told);
    }
}
