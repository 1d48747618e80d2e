//! A backend that masks another one's answers: a model can repeat a secret from a template or from
//! its training, and a server can quote a key.

use super::{Ask, Backend, BackendName, BackendResult};
use crate::redact::Masker;

pub(crate) struct Masked<'a> {
    backend: Box<dyn Backend + 'a>,
    masker: Masker,
}

impl<'a> Masked<'a> {
    pub(crate) fn new(backend: Box<dyn Backend + 'a>, masker: Masker) -> Self {
        Self { backend, masker }
    }
}

impl Backend for Masked<'_> {
    fn name(&self) -> BackendName {
        self.backend.name()
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        Box::pin(async move {
            match self.backend.answer(ask).await {
                Ok(mut reply) => {
                    reply.text = self.masker.mask_json(&reply.text).into_owned();
                    reply.model = self.masker.mask(&reply.model).into_owned();
                    Ok(reply)
                }
                Err(mut failure) => {
                    failure.message = self.masker.mask(&failure.message).into_owned();
                    Err(failure)
                }
            }
        })
    }
}
