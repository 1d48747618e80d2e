//! The backend that needs no network: the rules answer as a model would, in JSON.

use super::{AccountStep, Ask, Backend, BackendName, BackendReply, BackendResult, TokenCount};
use crate::playbook::Playbook;
use crate::reflect::rules::{self, SummaryLimits};
use crate::transcript::Facts;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    facts: &'a Facts,
    playbook: &'a Playbook,
    limits: SummaryLimits,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(facts: &'a Facts, playbook: &'a Playbook, limits: SummaryLimits) -> Self {
        Self {
            facts,
            playbook,
            limits,
        }
    }
}

impl Backend for Rules<'_> {
    fn name(&self) -> BackendName {
        BackendName::Rules
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        let text = match ask.step {
            AccountStep::Reflector => rules::reflect(self.facts, self.playbook, self.limits),
            AccountStep::Curator => rules::curate(self.facts, self.playbook),
            // What rules can tell of a turn, the gate has told before it asks.
            AccountStep::Gate => String::from("{}"),
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
