//! The backend that needs no network: the rules answer as a model would, in JSON.

use super::{Answer, Ask, Backend, Name, Reply, Step, Tokens};
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
    fn name(&self) -> Name {
        Name::Rules
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> Answer<'a> {
        let text = match ask.step {
            Step::Reflector => rules::reflect(self.facts, self.playbook, self.limits),
            Step::Curator => rules::curate(self.facts, self.playbook),
            // What rules can tell of a turn, the gate has told before it asks.
            Step::Gate => String::from("{}"),
        };
        let reply = Reply {
            text,
            model: Name::Rules.word().to_owned(),
            tokens: Tokens::default(),
            attempts: 1,
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}
