//! The tools that all tests share: an environment for each, the loopback Messages API, and
//! transcripts as the client writes them.
#![allow(
    dead_code,
    unused_macros,
    reason = "each test file uses its own part of this"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

macro_rules! has {
    ($text:expr, $($word:expr),+ $(,)?) => {{
        let text = &$text[..];
        $(assert!(text.contains($word), "does not say {:?}: {text}", $word);)+
    }};
}

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
