//! What a hook costs the user: its time as a multiple of `/bin/true`'s, and its size.
//!
//! Installs the programs by `./install.sh`, then starts them and `/bin/true` in turn,
//! the same way, many times. Medians and ratios go to stdout as a table, of which README has what a user asks for; a
//! broken limit fails the run. `--rounds N` sets how often each is started.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]

mod cases;
#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../shared/mod.rs"]
mod shared;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use cases::{Case, cases};
use common::env::Hook;
use shared::Fallible;

/// How often each case is started, unless told otherwise.
const ROUNDS: usize = 200;
/// Starts of each case that are not counted.
const WARM_UP: usize = 5;
/// How long the files lie before the first start: users start sessions seconds after the
/// last change, not within the tick of the clock in which it was written.
const SETTLE: Duration = Duration::from_secs(3);
/// Largest size of a hook binary, which has the C library in it.
const MAX_SIZE: u64 = 1_750 << 10;
fn main() -> Fallible<ExitCode> {
    let rounds = shared::rounds(ROUNDS)?;
    let bin = shared::build()?;
    let mut cases = cases(&bin)?;
    std::thread::sleep(SETTLE);
    for group in &mut cases {
        for round in 0..WARM_UP + rounds {
            for case in &mut *group {
                let (plain, took) = case.pair()?;
                if round >= WARM_UP {
                    case.plain.push(plain);
                    case.times.push(took);
                }
            }
        }
    }
    let mut cases: Vec<Case> = cases.into_iter().flatten().collect();
    let speed_is_kept = print_times(&mut cases, rounds);
    let size_is_kept = print_sizes(&bin)?;
    Ok(if speed_is_kept && size_is_kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn median(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 2]
}

/// The time that a tenth of the starts stayed below: what a busy machine disturbs least.
fn lowest_tenth(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 10]
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

/// Prints the table of times; tells whether every limit is kept.
fn print_times(cases: &mut [Case], rounds: usize) -> bool {
    println!(
        "\n| hook | median | `/bin/true` | ratio | limit | ratio of the lowest tenths |\n\
         |---|---:|---:|---:|---:|---:|"
    );
    let mut is_kept = true;
    for case in cases {
        case.plain.sort_unstable();
        case.times.sort_unstable();
        let (plain, took) = (median(&case.plain), median(&case.times));
        let is_within = case.limit.is_kept(took, plain);
        is_kept &= is_within;
        println!(
            "| {} | {} | {} | {:.2} | {}{} | {:.2} |",
            case.name,
            milliseconds(took),
            milliseconds(plain),
            ratio(took, plain),
            case.limit,
            broken(is_within),
            ratio(lowest_tenth(&case.times), lowest_tenth(&case.plain)),
        );
    }
    println!("\n{rounds} rounds");
    is_kept
}

/// Prints the table of sizes; tells whether the limit is kept.
fn print_sizes(bin: &Path) -> Fallible<bool> {
    println!("\n| binary | KiB | limit |\n|---|---:|---:|");
    let mut is_kept = true;
    for hook in Hook::ALL {
        let size = fs::metadata(bin.join(hook.name()))?.len();
        is_kept &= size <= MAX_SIZE;
        println!(
            "| {} | {} | {}{} |",
            hook.name(),
            size.div_ceil(1024),
            MAX_SIZE / 1024,
            broken(size <= MAX_SIZE),
        );
    }
    Ok(is_kept)
}

fn broken(is_kept: bool) -> &'static str {
    if is_kept { "" } else { " BROKEN" }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
