//! Turns the tables of rules into static ones.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script runs under cargo, not under us"
)]

mod needs;
mod screen;
mod secrets;
mod table;

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let write = |name: &str, text: String| {
        fs::write(out.join(name), text).expect("OUT_DIR can be written to");
    };
    write(
        "secrets.rs",
        secrets::secrets(&table::read("data/secrets.toml")),
    );
    write(
        "screen.rs",
        screen::screen(&table::read("data/screen.toml")),
    );
}
