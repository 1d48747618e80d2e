//! Feeds mutated inputs to everything that reads what others wrote.
//!
//! `cargo run --release --example fuzz -- --minutes 1 all`, or one target instead of `all`. `--seed
//! N` repeats a run, `--executions N` ends one earlier. Prints the number of executions and the
//! slowest one of each target. An input that breaks a promise or takes longer than a second is kept
//! below `target/fuzz/` and fails the run.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]

#[path = "../../fuzz/bodies.rs"]
mod bodies;
#[path = "../soak/dice.rs"]
#[allow(dead_code, reason = "the soak rolls them in more ways")]
mod dice;
mod mutate;

use std::error::Error;
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bodies::{TARGETS, Target};
use mutate::Mutator;

/// The time above which an input is a finding.
const TOO_LONG: Duration = Duration::from_secs(1);

struct Wanted {
    limit: Duration,
    seed: u64,
    executions: u64,
    targets: Vec<Target>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = wanted()?;
    // A finding is printed once, by us.
    panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::stdout();
    writeln!(out, "| target | seed | executions | findings | slowest |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    let (mut all, mut bad) = (0, 0);
    for (name, body) in &wanted.targets {
        let mut mutator = Mutator::new(wanted.seed);
        let begun = Instant::now();
        let (mut executions, mut findings, mut slowest) = (0_u64, 0_u64, Duration::ZERO);
        while begun.elapsed() < wanted.limit && executions < wanted.executions {
            let input = mutator.next();
            let start = Instant::now();
            let broke = panic::catch_unwind(AssertUnwindSafe(|| body(&input)));
            let took = start.elapsed();
            executions += 1;
            slowest = slowest.max(took);
            if broke.is_err() || took > TOO_LONG {
                findings += 1;
                let why = broke
                    .err()
                    .map_or_else(|| format!("took {took:?}"), |panic| said(panic.as_ref()));
                keep(name, findings, &input, &why)?;
            }
        }
        writeln!(
            out,
            "| {name} | {} | {executions} | {findings} | {:.0} ms |",
            wanted.seed,
            slowest.as_secs_f64() * 1_000.0
        )?;
        all += executions;
        bad += findings;
    }
    bodies::clean_up();
    writeln!(out, "| all | {} | {all} | {bad} | |", wanted.seed)?;
    if bad > 0 {
        return Err(format!("{bad} findings; the inputs are in target/fuzz").into());
    }
    Ok(())
}

fn wanted() -> Result<Wanted, Box<dyn Error>> {
    let mut wanted = Wanted {
        limit: Duration::from_secs(60),
        seed: std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)?
            .as_secs(),
        executions: u64::MAX,
        targets: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("no value after {arg}"));
        match arg.as_str() {
            "--minutes" => wanted.limit = Duration::from_secs_f64(60.0 * value()?.parse::<f64>()?),
            "--seed" => wanted.seed = value()?.parse()?,
            "--executions" => wanted.executions = value()?.parse()?,
            "all" => wanted.targets.extend(TARGETS),
            name => {
                let known = TARGETS.iter().find(|(known, _)| *known == name);
                wanted
                    .targets
                    .push(*known.ok_or(format!("no target `{name}`"))?);
            }
        }
    }
    if wanted.targets.is_empty() {
        wanted.targets.extend(TARGETS);
    }
    Ok(wanted)
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic").to_owned()
}

fn keep(name: &str, number: u64, input: &[u8], why: &str) -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from("target/fuzz").join(name);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(number.to_string()), input)?;
    let mut told: String = why.chars().take(600).collect();
    told = told.replace('\n', " ");
    writeln!(std::io::stderr(), "{name} {number}: {told}")?;
    Ok(())
}
