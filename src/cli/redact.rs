//! `playbook redact`: a filter that masks secrets as Playbook does.

use std::io::{self, Write as _};

use super::prelude::*;
use crate::config;
use crate::redact::{self, StreamError};

pub(super) fn run(args: &args::RedactArgs) -> anyhow::Result<()> {
    if args.rules {
        let rules = redact::rule_ids();
        if args.json {
            return output::json(&json!({ "rules": rules }));
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
    let counts = match redact::filter(&secrecy.masker, io::stdin().lock(), &mut out) {
        Ok(counts) => counts,
        // A closed pipe is reported as such.
        Err(StreamError::Write(error)) => return Err(error.into()),
        Err(error) => return Err(error.into()),
    };
    out.flush()?;
    if args.count {
        let mut stderr = io::stderr().lock();
        for (rule, count) in &counts {
            writeln!(stderr, "{count:>8}  {rule}").context("could not write the counts")?;
        }
    }
    Ok(())
}
