//! Measures a full scan for facts and evidence.
//!
//! `cargo bench --bench scan [-- 4M 200M 1G]` generates transcripts into a temporary folder. A
//! child of this program scans each as the worker does. The best of a few runs counts; the page
//! cache is warm. The limits are 60 ms for 4 MB, 1.2 s for 200 MB, and 96 MiB of memory.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use playbook::transcript::{Range, ReadOptions};
use playbook::transcript_file::{complete_end, scan};

const SCAN: &str = "--scan-file";
/// The default token budget of the evidence.
const BUDGET: u64 = 24_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .peekable();
    if arguments.next_if(|a| a == SCAN).is_some() {
        let path = arguments.next().ok_or("no file to scan")?;
        return scan_file(Path::new(&path));
    }
    let mut sizes: Vec<String> = arguments.collect();
    if sizes.is_empty() {
        sizes = ["4M", "200M", "1G"].map(str::to_owned).to_vec();
    }
    let folder = tempfile::tempdir()?;
    let mut out = std::io::stdout();
    writeln!(out, "| file | scan | MB/s | peak RSS (≤ 96 MiB) |")?;
    writeln!(out, "|---|---|---|---|")?;
    for size in &sizes {
        let path = folder.path().join(format!("{size}.jsonl"));
        generate(&path, size)?;
        writeln!(out, "{}", row(size, &path)?)?;
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

fn generate(path: &Path, size: &str) -> Result<(), Box<dyn Error>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/gen_transcript.py");
    let status = Command::new("python3")
        .arg(script)
        .arg(path)
        .args(["--bytes", size])
        .stdout(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err("the generator failed".into())
    }
}

fn row(size: &str, path: &Path) -> Result<String, Box<dyn Error>> {
    let bytes = std::fs::metadata(path)?.len();
    let runs = if bytes < 200 << 20 { 15 } else { 5 };
    let me = std::env::current_exe()?;
    let mut scan = Duration::MAX;
    let mut rss = String::new();
    for _ in 0..runs {
        let (took, said) = time(Command::new(&me).arg(SCAN).arg(path))?;
        scan = scan.min(took);
        rss = said;
    }
    Ok(format!(
        "| {size} | {:.0} ms | {:.0} | {} |",
        scan.as_secs_f64() * 1000.0,
        Duration::from_micros(bytes).as_secs_f64() / scan.as_secs_f64(),
        rss.trim(),
    ))
}

fn time(command: &mut Command) -> Result<(Duration, String), Box<dyn Error>> {
    let start = Instant::now();
    let output = command.stderr(Stdio::inherit()).output()?;
    let took = start.elapsed();
    if !output.status.success() {
        return Err(format!("could not run {command:?}").into());
    }
    Ok((took, String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Scans one file, then prints the peak memory.
fn scan_file(path: &Path) -> Result<(), Box<dyn Error>> {
    let range = Range {
        start: 0,
        end: complete_end(path, 0)?,
    };
    let digest = scan(path, range, &ReadOptions::default(), &mut |_, _| false)?;
    let evidence = digest.evidence.finish(BUDGET);
    if evidence.tokens == 0 || digest.facts.citations.is_empty() {
        return Err("the scan found nothing".into());
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: Option<u64> = peak.and_then(|p| p.trim().trim_end_matches(" kB").parse().ok());
    let mut out = std::io::stdout();
    match kib {
        Some(kib) => writeln!(out, "{} MiB", kib.div_ceil(1024))?,
        None => writeln!(out, "not known here")?,
    }
    Ok(())
}
