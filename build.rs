//! Links the binaries on Linux with glibc so that the hooks are small and start quickly.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script runs under cargo, not under us"
)]

use std::env;

/// The hooks: started in every session, gone after milliseconds.
const HOOKS: [&str; 6] = [
    "session-start",
    "session-end",
    "pre-compact",
    "subagent-stop",
    "post-tool-use-failure",
    "user-prompt-submit",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    link();
}

/// Tells the linker what it cannot know.
fn link() {
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    // Loading a library for the unwinder is a fifth of what a hook's start takes.
    println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    // A program at a fixed address has no 60 KB of relocations to carry and to apply.
    for hook in HOOKS {
        println!("cargo::rustc-link-arg-bin={hook}=-no-pie");
    }
}
