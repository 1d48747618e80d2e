//! Measures a hook's cost for the user: its time as a multiple of `/bin/true`'s, and its size.
//!
//! Installs the programs with `./install.sh`, then starts them and `/bin/true` in turn, many times.
//! Prints a table of medians and ratios, from which README's figures come; an exceeded limit fails
//! the run. `--rounds N` sets the number of starts.
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

/// The default number of starts of each case.
const ROUNDS: usize = 200;
/// The starts of each case that are not counted.
const WARM_UP: usize = 5;
/// The age of the files at the first start: users start sessions seconds after the last change, not
/// within the clock tick in which it was written.
const SETTLE: Duration = Duration::from_secs(3);
/// The largest size of a hook's binary, which contains the C library.
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

/// Returns the time below which a tenth of the starts stayed; a busy machine disturbs it least.
fn lowest_tenth(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 10]
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

/// Prints the table of times; returns `true` if every limit is kept.
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

/// Prints the table of sizes; returns `true` if the limit is kept.
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
