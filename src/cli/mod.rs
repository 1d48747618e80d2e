//! The command line: one file per subcommand, one place for errors and exit statuses.

mod args;
mod bench;
mod config;
mod cost;
mod dedup;
mod demo;
mod doctor;
mod evidence;
mod export;
mod fixtures;
mod hand;
mod jobs;
mod jobs_by_hand;
mod log;
mod output;
mod redact;
mod reflect;
mod restore;
mod session;
mod show;
mod story;
mod tell;
mod undo;
mod worker;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use session::Session;

/// Everything worked.
const OK: u8 = 0;
/// Something the user can mend: a file, a setting, a name.
const USER_ERROR: u8 = 1;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe leaves nobody to tell; the status says the rest.
            _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USER_ERROR));
        }
    };
    match run(cli) {
        Ok(()) => ExitCode::from(OK),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::from(OK),
        Err(error) => {
            output::error(&error);
            ExitCode::from(USER_ERROR)
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        // Answered before the command line is parsed; here only an unknown event is left.
        Command::Hook { .. } => Ok(()),
        Command::Demo(args) => demo::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Cost(args) => cost::run(&Session::look(None)?, &args),
        Command::Doctor(args) => doctor::run(&Session::look(args.project.as_deref())?, &args),
        Command::Bench(args) => bench::run(&args),
        Command::Fixtures(args) => fixtures::run(&args),
        Command::Worker(args) => worker::run(&args),
        Command::Reflect(args) => reflect::run(&Session::open(args.project.as_deref())?, &args),
        Command::Evidence(args) => evidence::run(&Session::open(None)?, &args),
        Command::Show(args) => show::run(&Session::look(args.project.as_deref())?, &args),
        Command::Log(args) => log::run(&Session::on(&args.on)?, &args),
        Command::Undo(args) => undo::run(&Session::on(&args.on)?, &args),
        Command::Restore(args) => restore::run(&Session::on(&args.on)?, &args),
        Command::Add(args) => hand::add(&Session::on(&args.on)?, args),
        Command::Edit(args) => hand::edit(&Session::on(&args.on)?, args),
        Command::Remove(args) => hand::remove(&Session::on(&args.on)?, args),
        Command::Merge(args) => hand::merge(&Session::on(&args.on)?, args),
        Command::Pin(args) => hand::pin(&Session::on(&args.on)?, args),
        Command::Unpin(args) => hand::unpin(&Session::on(&args.on)?, args),
        Command::Dedup(args) => dedup::run(&Session::on(&args.on)?, &args),
        Command::Export(args) => export::run(&Session::on(&args.on)?, &args),
        Command::Redact(args) => redact::run(&args),
        Command::Jobs(args) => jobs::run(&Session::look(None)?, &args),
    }
}
