//! The backend without a network: the rules answer as a model would, in JSON.

use super::{AccountStep, Ask, Backend, BackendName, BackendReply, BackendResult, TokenCount};

/// Answers with the rules' reflection on a session, a JSON text.
pub(crate) struct Rules(pub(crate) String);

impl Backend for Rules {
    fn name(&self) -> BackendName {
        BackendName::Rules
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        let text = match ask.step {
            AccountStep::Reflector => self.0.clone(),
            // Without a model no curator runs, and the gate has consulted the rules already.
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
