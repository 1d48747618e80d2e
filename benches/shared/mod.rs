//! The tools that the benches share: building the binaries, and timing a process.

use std::error::Error;
use std::io::{PipeReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) type Fallible<T> = Result<T, Box<dyn Error>>;

/// Reads `--rounds N`, or returns the default; skips the arguments that cargo adds.
pub(crate) fn rounds(default: usize) -> Fallible<usize> {
    let mut rounds = default;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--rounds" {
            rounds = args.next().ok_or("--rounds needs a number")?.parse()?;
        }
    }
    if rounds == 0 {
        return Err("--rounds needs a number above 0".into());
    }
    Ok(rounds)
}

/// Installs the programs as users do, below the target folder; returns the folder of the hooks and
/// of `playbook`.
pub(crate) fn build() -> Fallible<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| package.join("target"), PathBuf::from);
    let home = target.join("benched");
    let mut install = Command::new(package.join("install.sh"));
    // With cargo's variables for this package, build scripts of others would run again.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let of_the_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "OUT_DIR"];
        if of_the_package.iter().any(|of| name.starts_with(of)) {
            install.env_remove(&*name);
        }
    }
    let installed = install
        .arg("--prefix")
        .arg(&home)
        .env("CARGO_TARGET_DIR", &target)
        .env("CLAUDE_CONFIG_DIR", home.join("claude"))
        .env("PLAYBOOK_CONFIG_DIR", home.join("config"))
        .env("PLAYBOOK_STATE_DIR", home.join("state"))
        .stdout(std::io::stderr())
        .status()?;
    if !installed.success() {
        return Err("could not install the programs".into());
    }
    Ok(home.join("claude/playbook/bin"))
}

/// Returns the time from the start of a process to its end, as its parent sees it.
pub(crate) fn timed(mut command: Command, input: &[u8]) -> Fallible<Duration> {
    // The input fits into the pipe, so no thread has to write it during the measurement.
    let (reader, mut writer) = std::io::pipe()?;
    writer.write_all(input)?;
    drop(writer);
    let (printed, theirs): (PipeReader, _) = std::io::pipe()?;
    command.stdin(reader).stdout(theirs).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.spawn()?.wait()?;
    let took = start.elapsed();
    drop(command);
    read_all(printed)?;
    if status.success() {
        Ok(took)
    } else {
        Err(format!("a process failed: {status}").into())
    }
}

fn read_all(mut reader: PipeReader) -> Fallible<()> {
    reader.read_to_end(&mut Vec::new())?;
    Ok(())
}
