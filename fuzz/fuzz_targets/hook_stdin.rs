//! See `bodies.rs`: `hook_stdin`.
#![no_main]

#[path = "../bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::hook_stdin(bytes));
