//! Pseudo-random numbers from a seed, and the number of test rounds.

const VARIABLE: &str = "PLAYBOOK_TEST_SEED";

/// Returns `true` if tests run a quarter of an hour, as before a release.
pub(crate) fn is_heavy() -> bool {
    std::env::var_os("HEAVY").is_some()
}

pub(crate) struct Chance(u64);

impl Chance {
    /// Returns the seed from the variable, else a new one, and prints it.
    pub(crate) fn seed() -> u64 {
        let wanted = std::env::var(VARIABLE)
            .ok()
            .and_then(|seed| seed.parse().ok());
        let seed = wanted.unwrap_or_else(rand::random);
        println!("seed: {VARIABLE}={seed}");
        seed
    }

    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn word<'a>(&mut self, words: &'a str) -> &'a str {
        let words: Vec<&str> = words.split(' ').collect();
        words[self.index(words.len())]
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }
}
