//! The faults to prove, from the arguments of the run.

use std::fmt;

use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;

use crate::point::{Fault, with_fates};

enum Fates {
    Drawn(u64),
    All,
}

pub(crate) struct Wanted {
    fates: Fates,
    /// The processes to hit; empty for all.
    roles: Vec<String>,
    pub(crate) votes: Votes,
}

#[derive(Clone, Copy)]
pub(crate) enum Votes {
    File,
    Local,
}

impl Votes {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Local => "local",
        }
    }
}

impl Wanted {
    /// Reads `all`, `local` (votes in the memory), `seed=N` and the names of processes.
    pub(crate) fn by_arguments() -> Self {
        let mut wanted = Self {
            fates: Fates::Drawn(rand::random()),
            roles: Vec::new(),
            votes: Votes::File,
        };
        for arg in std::env::args().skip(1) {
            if arg == "all" {
                wanted.fates = Fates::All;
            } else if arg == Votes::Local.word() {
                wanted.votes = Votes::Local;
            } else if let Some(seed) = arg.strip_prefix("seed=") {
                wanted.fates = Fates::Drawn(seed.parse().expect("a number after `seed=`"));
            } else if !arg.starts_with('-') {
                wanted.roles.push(arg);
            }
        }
        wanted
    }

    pub(crate) fn of(&self, points: &[Fault]) -> Vec<Fault> {
        let struck = points
            .iter()
            .filter(|point| self.roles.is_empty() || self.roles.contains(&point.role));
        match self.fates {
            Fates::All => struck.flat_map(with_fates).collect(),
            Fates::Drawn(seed) => {
                let mut random = SmallRng::seed_from_u64(seed);
                let one = |point| with_fates(point).choose(&mut random).cloned();
                struck.filter_map(one).collect()
            }
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fates {
            Fates::All => f.write_str("each point is struck in every way"),
            Fates::Drawn(seed) => write!(f, "each point is struck once: seed={seed}"),
        }
    }
}
