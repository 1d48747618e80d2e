//! Adds linker options on Linux with glibc that make the hooks small and quick to start.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script runs under cargo, not under us"
)]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    let is_static = target("FEATURE")
        .split(',')
        .any(|feature| feature == "crt-static");
    if target("OS") != "linux" || target("ENV") != "gnu" || is_static {
        return;
    }
    // Loading a library for the unwinder would take a fifth of a hook's start.
    println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    // A program at a fixed address needs no 60 KB of relocations.
    println!("cargo::rustc-link-arg-bins=-no-pie");
}
