//! The disturbances: kills, a full disk, retries.

use std::sync::atomic::Ordering::SeqCst;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::dice::Dice;
use crate::world::World;

fn pause(dice: &mut Dice, from: u64, to: u64) {
    sleep(Duration::from_millis(from + dice.below(to - from)));
}

pub(crate) fn kill(world: &World, mut dice: Dice) {
    while !world.calm.load(SeqCst) {
        pause(&mut dice, 20, 400);
        let processes = world.processes();
        if processes.is_empty() {
            continue;
        }
        let pid = Pid::from_raw(*dice.pick(&processes));
        if pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok()) {
            world.kills.fetch_add(1, SeqCst);
        }
    }
}

pub(crate) fn fill_the_disk(world: &World, mut dice: Dice) {
    while !world.calm.load(SeqCst) {
        pause(&mut dice, 1_000, 6_000);
        world.fillings.fetch_add(1, SeqCst);
        if !world.disk.fill() {
            world.fillings.store(0, SeqCst);
            return;
        }
        pause(&mut dice, 50, 1_500);
        world.disk.empty();
    }
    world.disk.empty();
}

/// Retries all jobs now and then, because a refused key would stop everything.
pub(crate) fn be_the_user(world: &World, mut dice: Dice) {
    while !world.calm.load(SeqCst) {
        pause(&mut dice, 2_000, 8_000);
        let mut command = world.command("playbook", 0);
        // The command may be killed, too, or find the disk full.
        _ = command.args(["jobs", "retry", "--all"]).output();
    }
}
