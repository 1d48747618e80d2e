//! A backend whose answers are masked before anyone sees them: a model can repeat a secret
//! that stands in a template or that it was trained on, a server can quote a key.

use super::{Answer, Ask, Backend, Name};
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
    fn name(&self) -> Name {
        self.backend.name()
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> Answer<'a> {
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
