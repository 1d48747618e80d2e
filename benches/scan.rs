//! How long a full scan to facts and evidence takes, as ratios measured in one run.
//!
//! `cargo bench --bench scan [-- 200M 1G]` generates transcripts into a
//! temporary folder and runs, interleaved and each in a process of its own: `wc -l`, and our
//! scan, as the worker does it, in a child of this program. Of each the best of a few runs
//! counts; the page cache is warm.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use playbook::transcript::{Range, ReadOptions};
use playbook::transcript_file::{complete_end, scan};

/// The first argument of the child that scans one file.
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
        sizes = vec!["200M".to_owned(), "1G".to_owned()];
    }
    let folder = tempfile::tempdir()?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "| file | wc -l | scan | scan / wc (≤ 4) | MB/s | peak RSS (≤ 32 MiB) |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|")?;
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
    let mut wc = Duration::MAX;
    let mut scan = Duration::MAX;
    let mut rss = String::new();
    for _ in 0..runs {
        wc = wc.min(time(Command::new("wc").arg("-l").arg(path))?.0);
        let (took, said) = time(Command::new(&me).arg(SCAN).arg(path))?;
        scan = scan.min(took);
        rss = said;
    }
    let ms = |d: Duration| d.as_secs_f64() * 1000.0;
    Ok(format!(
        "| {size} | {:.0} ms | {:.0} ms | {:.1} | {:.0} | {} |",
        ms(wc),
        ms(scan),
        ms(scan) / ms(wc),
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

/// Scans one file, then says how much memory that took.
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
