//! The backend that needs no network: the rules answer as a model would, in JSON.

use super::{AccountStep, Ask, Backend, BackendName, BackendReply, BackendResult, TokenCount};
use crate::reflect::rules::{self, SummaryLimits};
use crate::transcript::Facts;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    facts: &'a Facts,
    limits: SummaryLimits,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(facts: &'a Facts, limits: SummaryLimits) -> Self {
        Self { facts, limits }
    }
}

impl Backend for Rules<'_> {
    fn name(&self) -> BackendName {
        BackendName::Rules
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        let text = match ask.step {
            AccountStep::Reflector => rules::reflect(self.facts, self.limits),
            // Without a model no curator runs, and the gate has asked the rules before.
            AccountStep::Curator | AccountStep::Gate => String::from("{}"),
        };
        let reply = BackendReply {
            text,
            model: BackendName::Rules.word().to_owned(),
            tokens: TokenCount::default(),
            attempts: 1,
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}
