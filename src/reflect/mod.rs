//! The judging of a session.
pub mod extract;
mod extract_parse;
