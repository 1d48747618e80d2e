//! The command line: a file per command or group, one place for errors and exit statuses. A command
//! builds one object, which `--json` prints and a template of `screens/` lays out.

mod agent;
mod answer;
mod args;
mod bench;
mod bootstrap;
mod change_text;
mod config;
mod doctor;
mod edit_commands;
mod export;
mod gate;
pub(crate) mod generate;
mod guard;
mod help;
mod install;
mod jobs;
mod log;
mod manual;
pub(crate) mod memory;
mod merge;
mod output;
mod prelude;
mod promote;
mod redact;
mod reflect;
mod report;
mod restore;
mod sandbox;
mod session;
mod show;
mod status;
mod trust;
mod worker;

use std::process::ExitCode;

use args::{Cli, Command, LessonAction};
use output::say;
use session::NamedSession;

use crate::hook::HookEvent;
pub use crate::prepare::hook;
use crate::queue::apply::PlaybookEdit;
use crate::queue::curate::CuratorWish;

const OK: u8 = 0;
const USER_ERROR: u8 = 1;
/// The status of `seen` if it could not find out whether an error is known.
const UNKNOWN: u8 = 2;

pub fn main() -> ExitCode {
    let cli = match help::parse() {
        Ok(cli) => cli,
        Err(error) => {
            // With a closed pipe only the status can report the error.
            _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USER_ERROR));
        }
    };
    let failure = match &cli.command {
        // Status 1 means that the error is not known.
        Some(Command::Seen(_)) => UNKNOWN,
        _ => USER_ERROR,
    };
    match run(cli) {
        Ok(status) => ExitCode::from(status),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::from(OK),
        Err(error) => {
            output::error(&error);
            ExitCode::from(failure)
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<u8> {
    if cli.all {
        help::print_all()?;
        return Ok(OK);
    }
    let Some(command) = cli.command else {
        return status::run(&cli.status).map(|()| OK);
    };
    let done = match command {
        // Hooks are dispatched before parsing; only an unknown event gets here.
        Command::Hook { list, .. } => {
            let names = if list { &HookEvent::ALL[..] } else { &[] };
            for event in names {
                say!("{}", event.name());
            }
            Ok(())
        }
        Command::Seen(args) => return memory::seen(&args),
        Command::Generate(args) => return generate::run(&args),
        Command::Doctor(args) => return doctor::run(&args),
        Command::Bootstrap(args) => return bootstrap::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Report(args) => {
            report::run(&NamedSession::look(args.on.project.as_deref())?, &args)
        }
        Command::Dream { sources, on } => {
            let wish = CuratorWish::Dream(usize::try_from(sources).unwrap_or(usize::MAX));
            reflect::curate(&NamedSession::on(&on)?, wish, on.json)
        }
        Command::Demo { json } => sandbox::demo(json),
        Command::Recall(args) => memory::recall(&NamedSession::that_learned_of(&args.of)?, &args),
        Command::Stats(args) => memory::stats(&NamedSession::that_learned_of(&args)?, &args),
        Command::Forget(args) => {
            let project = args.project.as_ref().and_then(Option::as_deref);
            memory::forget(&NamedSession::that_learned(project, &args.whose)?, &args)
        }
        Command::Lesson(LessonAction::Add(args)) => {
            memory::add_lesson(&NamedSession::on(&args.on)?, &args)
        }
        Command::Lesson(LessonAction::Outcome(args)) => {
            memory::lesson_outcome(&NamedSession::on(&args.on)?, &args)
        }
        Command::Config(args) => config::run(&args),
        Command::Install(args) => install::run(&args),
        Command::Uninstall(args) => install::uninstall(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Worker(args) => worker::run(&args),
        Command::Mcp => worker::server(["mcp".into()]),
        Command::Server { arguments } => worker::server(arguments),
        Command::Reflect(args) => reflect::run(&NamedSession::on(&args.on)?, &args),
        Command::Evidence(args) => reflect::evidence(&NamedSession::open(None)?, &args),
        Command::Gate(args) => gate::run(&args),
        Command::Guard(args) => guard::run(&args),
        Command::Show(args) => show::run(&NamedSession::look(args.on.project.as_deref())?, &args),
        Command::Log(args) => log::run(&NamedSession::on(&args.on)?, &args),
        Command::Undo(args) => edit_commands::undo(&args),
        Command::Add(args) => edit_commands::add(args),
        Command::Edit(args) => edit_commands::edit(args),
        Command::Remove { id, reason, on } => {
            edit_commands::run(&on, &PlaybookEdit::Remove { point: id, reason })
        }
        Command::MergeFiles(args) => merge::files(&args),
        Command::Pin(args) => edit_commands::pin(args),
        Command::Promote(args) => promote::run(&args),
        Command::Export { on, .. } => export::run(&NamedSession::on(&on)?, on.json),
        Command::Redact(args) => redact::run(&args),
        Command::Trust(args) => {
            trust::trust(&NamedSession::look(args.on.project.as_deref())?, &args)
        }
        Command::Review(args) => {
            trust::review(&NamedSession::open(args.project.as_deref())?, &args)
        }
        Command::Jobs(args) => jobs::run(&NamedSession::look(None)?, &args),
        Command::Completions(args) => manual::run(&args),
    };
    done.map(|()| OK)
}
