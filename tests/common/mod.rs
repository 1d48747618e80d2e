//! What the tests by promise share: an environment of their own for each, the loopback
//! Messages API, and the transcripts of sessions as the client writes them.
#![allow(
    dead_code,
    unused_macros,
    reason = "each test file uses its own part of this"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

/// The text says each of these.
macro_rules! has {
    ($text:expr, $($word:expr),+ $(,)?) => {{
        let text = &$text[..];
        $(assert!(text.contains($word), "does not say {:?}: {text}", $word);)+
    }};
}

/// The text says none of these.
macro_rules! lacks {
    ($text:expr, $($word:expr),+ $(,)?) => {{
        let text = &$text[..];
        $(assert!(!text.contains($word), "says {:?}: {text}", $word);)+
    }};
}

pub mod api;
pub(crate) mod env;
pub(crate) mod git;
pub(crate) mod hook;
pub(crate) mod learned;
pub(crate) mod lived;
pub(crate) mod prelude;
pub(crate) mod processes;
pub(crate) mod programs;
pub(crate) mod queue;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod setup;
pub(crate) mod story;
