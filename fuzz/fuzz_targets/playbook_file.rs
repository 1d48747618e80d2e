//! See `bodies.rs`: `playbook_file`.
#![no_main]

#[path = "../bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::playbook_file(bytes));
