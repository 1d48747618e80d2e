//! One thing that was looked at.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CheckState {
    Good,
    Note,
    Bad,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    topic: &'static str,
    pub(super) state: CheckState,
    text: String,
    #[serde(rename = "do")]
    todo: Option<String>,
}

impl Check {
    pub(super) fn good(topic: &'static str, text: impl Into<String>) -> Self {
        Self::new(topic, CheckState::Good, text, None)
    }

    pub(super) fn note(topic: &'static str, text: impl Into<String>, todo: &str) -> Self {
        Self::new(topic, CheckState::Note, text, Some(todo))
    }

    pub(super) fn bad(topic: &'static str, text: impl Into<String>, todo: &str) -> Self {
        Self::new(topic, CheckState::Bad, text, Some(todo))
    }

    fn new(
        topic: &'static str,
        state: CheckState,
        text: impl Into<String>,
        todo: Option<&str>,
    ) -> Self {
        Self {
            topic,
            state,
            text: text.into(),
            todo: todo.map(str::to_owned),
        }
    }
}
