//! `playbook completions`, `playbook man`: made of the definitions that `--help` comes from.

use std::io::{self, Write as _};

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::aot;
use clap_mangen::Man;

use super::args::{self, Cli, Shell};
use super::commands;
use super::output::say;
use crate::fsx;

pub(super) fn completions(args: &args::Completions) -> anyhow::Result<()> {
    let shell = match args.shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    let mut script = Vec::new();
    aot::generate(shell, &mut Cli::command(), NAME, &mut script);
    print(&script)
}

const NAME: &str = "playbook";

#[expect(clippy::disallowed_methods, reason = "others may read the pages")]
pub(super) fn pages(args: &args::Man) -> anyhow::Result<()> {
    if args.markdown {
        return print(commands::reference().as_bytes());
    }
    let mut cli = Cli::command();
    cli.build();
    let Some(folder) = &args.dir else {
        return print(&page(&cli)?);
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("could not create folder: {}", folder.display()))?;
    for command in with_all_below(&cli) {
        let name = format!("{}.1", command.get_display_name().unwrap_or(NAME));
        fsx::quick(&folder.join(&name), &page(command)?)?;
        say!("{name}");
    }
    Ok(())
}

/// A command and all its own that are shown to users.
fn with_all_below(command: &clap::Command) -> Vec<&clap::Command> {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    std::iter::once(command)
        .chain(shown.flat_map(with_all_below))
        .collect()
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone())
        .render(&mut page)
        .context("could not make the manual page")?;
    Ok(page)
}

fn print(bytes: &[u8]) -> anyhow::Result<()> {
    io::stdout().lock().write_all(bytes)?;
    Ok(())
}
