//! Proves for minutes what the tests prove for seconds: with any kills, failures of the model and a
//! full disk, every vote counts once.
//!
//! `cargo run --release --example soak -- [--minutes N] [--seed N]` plays 64 sessions at the same
//! time. They start, are compacted, end, are resumed or forked, or their client dies. Hooks and
//! workers are killed (`kill -9`, by their ids), the model's server misbehaves, and the small file
//! system with state and projects fills up. In the end the votes in the playbooks are compared with
//! the citations. Everything random but time follows from the seed.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]

#[path = "../../tests/common/api.rs"]
mod api;
mod dice;
mod disk;
mod model;
mod player;
#[path = "../../tests/common/session.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod session;
mod trouble;
mod world;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use dice::Dice;
use player::Player;
use world::World;

/// Errors that keep the soak from running at all.
type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PLAYERS: u64 = 8;

fn main() -> Fallible<ExitCode> {
    let (minutes, seed) = arguments(std::env::args().skip(1))?;
    println!("seed {seed}");
    let world = World::new(&build()?, seed)?;
    println!("{}", world.disk.describe());
    let deadline = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let pace = Duration::from_secs_f64(minutes * 60.0 / f64::from(world::CITATIONS_PER_PLAYER));
    let cited = thread::scope(|scope| -> Fallible<Vec<world::Citation>> {
        let players: Vec<_> = (0..PLAYERS)
            .map(|n| {
                let world = &world;
                scope.spawn(move || Player::new(world, n, Dice::new(seed ^ n)).play(deadline, pace))
            })
            .collect();
        scope.spawn(|| trouble::kill(&world, Dice::new(seed ^ 0x6b69_6c6c)));
        scope.spawn(|| trouble::fill_the_disk(&world, Dice::new(seed ^ 0x6469_736b)));
        scope.spawn(|| trouble::be_the_user(&world, Dice::new(seed ^ 0x7573_6572)));
        let mut cited = Vec::new();
        let mut broken = None;
        for player in players {
            match player.join() {
                Ok(Ok(citations)) => cited.extend(citations),
                Ok(Err(error)) => broken = Some(error),
                Err(_) => broken = Some("a player panicked".into()),
            }
        }
        world.calm.store(true, SeqCst);
        broken.map_or(Ok(cited), Err)
    })?;
    world.come_to_rest()?;
    let votes = world.count(&cited)?;
    println!("{}", world.summary(&votes));
    Ok(if votes.doubled == 0 && votes.lost == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn arguments(mut arguments: impl Iterator<Item = String>) -> Fallible<(f64, u64)> {
    let (mut minutes, mut seed) = (3.0, rand::random());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or("a number is missing");
        match argument.as_str() {
            "--minutes" => minutes = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    Ok((minutes, seed))
}

/// Builds the binaries in the profile of this program, without fault points, as users have them.
/// Returns their folder.
fn build() -> Fallible<PathBuf> {
    let own = std::env::current_exe()?;
    let bin = own.parent().and_then(Path::parent);
    let bin = bin.ok_or("an example is two folders deep")?.to_owned();
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["build", "--quiet", "--bins"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    if command.status()?.success() {
        Ok(bin)
    } else {
        Err("could not build the binaries".into())
    }
}
