//! `playbook redact`: a filter that masks what would be masked.

use std::io::{self, BufRead, Read, Write as _};

use anyhow::Context as _;

use super::args;
use super::output::{self, say};
use crate::config;
use crate::env::Env;
use crate::paths::Paths;
use crate::redact::{self, StreamError};
use crate::state_guard;

pub(super) fn run(args: &args::RedactArgs) -> anyhow::Result<()> {
    if args.rules {
        let rules = redact::rule_ids();
        if args.json {
            return output::json(&rules);
        }
        for rule in rules {
            say!("{rule}");
        }
        return Ok(());
    }
    let paths = Paths::resolve(&Env::from_process())?;
    state_guard::check_settings(&paths)?;
    let settings = config::load(&paths.config_file())?.secrets;
    let secrecy = settings.secrecy()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let counts = match redact::filter(
        &secrecy.masker,
        Uncoloured::new(io::stdin().lock()),
        &mut out,
    ) {
        Ok(counts) => counts,
        // A closed pipe is told as such.
        Err(StreamError::Write(error)) => return Err(error.into()),
        Err(error) => return Err(error.into()),
    };
    out.flush()?;
    if args.count {
        let mut told = io::stderr().lock();
        for (rule, count) in &counts {
            writeln!(told, "{count:>8}  {rule}").context("could not write the counts")?;
        }
    }
    Ok(())
}

/// What is read, without the colours of a terminal: a name and its value that stand in two of
/// them would not be known as a secret. All else stays, byte for byte.
struct Uncoloured<R> {
    input: R,
    within: Within,
    shown: Vec<u8>,
    taken: usize,
}

/// Where a byte stands.
#[derive(Clone, Copy)]
enum Within {
    Text,
    /// Just behind an escape character.
    Escape,
    /// In the numbers of a control sequence, such as `ESC [ 3 1 m`.
    Sequence,
}

impl<R> Uncoloured<R> {
    fn new(input: R) -> Self {
        Self {
            input,
            within: Within::Text,
            shown: Vec::new(),
            taken: 0,
        }
    }
}

impl Within {
    /// Takes a byte; what is shown of it and of those before it is added to `shown`.
    fn take(self, byte: u8, shown: &mut Vec<u8>) -> Self {
        const ESCAPE: u8 = 0x1b;
        match (self, byte) {
            (Self::Escape, b'[') | (Self::Sequence, b' '..=b'?') => return Self::Sequence,
            (Self::Sequence, b'@'..=b'~') => return Self::Text,
            (Self::Escape, _) => shown.push(ESCAPE),
            (Self::Text | Self::Sequence, _) => {}
        }
        if byte == ESCAPE {
            return Self::Escape;
        }
        shown.push(byte);
        Self::Text
    }
}

impl<R: BufRead> BufRead for Uncoloured<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.taken == self.shown.len() {
            let read = self.input.fill_buf()?;
            let length = read.len();
            if length == 0 {
                return Ok(&[]);
            }
            self.taken = 0;
            self.shown.clear();
            for byte in read {
                self.within = self.within.take(*byte, &mut self.shown);
            }
            self.input.consume(length);
        }
        Ok(&self.shown[self.taken..])
    }

    fn consume(&mut self, length: usize) {
        self.taken += length;
    }
}

impl<R: BufRead> Read for Uncoloured<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(to)?;
        self.consume(length);
        Ok(length)
    }
}
