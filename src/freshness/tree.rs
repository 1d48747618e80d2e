//! The files of a commit, as git has them.
//!
//! Only what is committed counts: what lies in the work tree alone may be on its way, and
//! what is missing there may come back. A file's text is read from the work tree where its
//! hash is the commit's, which is quicker, else from the repository. Git is never asked what
//! the work tree has: to tell, it may run filters that the repository's settings name.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::git::Git;
use crate::digest::hex;
use crate::fsx;
use crate::playbook_freshness::{FoundIn, Search};

/// A larger file is not looked through.
const MAX_FILE: u64 = 1 << 20;
/// So much is looked through in all.
const MAX_ALL: u64 = 1 << 30;
/// So much of the repository is read at once.
const AT_ONCE: u64 = 16 << 20;
/// The length of an object's name in repositories that have no SHA-256.
const SHA1_DIGITS: usize = 40;
/// More threads than that are not quicker on one disk.
const MAX_THREADS: usize = 4;

pub(super) struct WorkTree {
    pub(super) git: Git,
    pub(super) head: String,
    /// Other commits that may be the newest of the main branch.
    pub(super) mains: Vec<String>,
}

struct TrackedFile {
    path: String,
    object: String,
    has_text: bool,
}

impl WorkTree {
    /// The work tree that a folder lies in; `None` where git knows none, or no commit.
    pub(super) async fn of(mut git: Git) -> Option<Self> {
        let asked = ["rev-parse", "--show-toplevel", "HEAD^{commit}"];
        let told = git.lines(&asked).await?;
        let [top, head] = <[String; 2]>::try_from(told).ok()?;
        git.folder = PathBuf::from(top);
        let mains = mains(&git, &head).await?;
        Some(Self { git, head, mains })
    }

    /// Searches the files of a commit.
    pub(super) async fn search(&self, commit: &str, search: &Search<'_>) -> Option<FoundIn> {
        let listed = self
            .git
            .ask(&["ls-tree", "-r", "-z", "--full-tree", commit])
            .await?;
        let files: Vec<TrackedFile> = records(&listed).filter_map(TrackedFile::parse).collect();
        let (mut found, rest) = tokio::task::block_in_place(|| self.on_threads(&files, search));
        self.in_repository(&rest, search, &mut found).await;
        Some(found)
    }

    /// Searches what the work tree has; with the files that it does not have.
    fn on_threads<'f>(
        &self,
        files: &'f [TrackedFile],
        search: &Search<'_>,
    ) -> (FoundIn, Vec<&'f TrackedFile>) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let size = files.len().div_ceil(threads.min(MAX_THREADS)).max(1);
        let read = AtomicU64::new(0);
        let (mut found, mut rest) = (FoundIn::default(), Vec::new());
        std::thread::scope(|scope| {
            let parts = files.chunks(size).map(|files| {
                let read = &read;
                scope.spawn(move || self.in_work_tree(files, search, read))
            });
            let parts: Vec<_> = parts.collect();
            for part in parts {
                match part.join() {
                    Ok((more, not_there)) => {
                        found.join(more);
                        rest.extend(not_there);
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        (found, rest)
    }

    fn in_work_tree<'f>(
        &self,
        files: &'f [TrackedFile],
        search: &Search<'_>,
        read: &AtomicU64,
    ) -> (FoundIn, Vec<&'f TrackedFile>) {
        let (mut found, mut rest) = (FoundIn::default(), Vec::new());
        for file in files {
            search.file(&file.path, &mut found);
            if !file.has_text || !search.wants(&file.path) {
                continue;
            }
            if read.load(Ordering::Relaxed) > MAX_ALL || Instant::now() > self.git.until {
                found.lacks(&file.path);
                continue;
            }
            let there = fsx::read(&self.git.folder.join(&file.path), MAX_FILE).ok();
            match there.filter(|bytes| file.is(bytes)) {
                Some(bytes) => {
                    read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                    search.text(&file.path, &bytes, &mut found);
                }
                None => rest.push(file),
            }
        }
        (found, rest)
    }

    /// Searches texts that only the repository has, some at a time.
    async fn in_repository(
        &self,
        files: &[&TrackedFile],
        search: &Search<'_>,
        found: &mut FoundIn,
    ) {
        let Some(sizes) = self.sizes(files).await else {
            return files.iter().for_each(|file| found.lacks(&file.path));
        };
        let (mut batch, mut waiting, mut all) = (Vec::new(), 0, 0);
        for (n, (file, size)) in files.iter().zip(sizes).enumerate() {
            match size {
                Some(size) if size <= MAX_FILE && all + size <= MAX_ALL => {
                    batch.push((*file, size));
                    (waiting, all) = (waiting + size, all + size);
                }
                Some(size) if size > MAX_FILE => {}
                _ => found.lacks(&file.path),
            }
            if waiting > AT_ONCE || n + 1 == files.len() {
                self.batch(&std::mem::take(&mut batch), search, found).await;
                waiting = 0;
            }
        }
    }

    /// The size of each file; `None` of one that the repository has not.
    async fn sizes(&self, files: &[&TrackedFile]) -> Option<Vec<Option<u64>>> {
        if files.is_empty() {
            return Some(Vec::new());
        }
        let asked = ["cat-file", "--batch-check=%(objectsize)", "--buffer"];
        let told = self
            .git
            .ask_with(&asked, &objects(files.iter().copied()))
            .await?;
        let told = String::from_utf8(told).ok()?;
        let sizes: Vec<_> = told.lines().map(|size| size.parse().ok()).collect();
        (sizes.len() == files.len()).then_some(sizes)
    }

    async fn batch(&self, files: &[(&TrackedFile, u64)], search: &Search<'_>, found: &mut FoundIn) {
        if files.is_empty() {
            return;
        }
        let asked = ["cat-file", "--batch=%(objecttype)", "--buffer"];
        let input = objects(files.iter().map(|(file, _)| *file));
        let told = self.git.ask_with(&asked, &input).await.unwrap_or_default();
        let mut rest = told.as_slice();
        for (file, size) in files {
            let size = usize::try_from(*size).unwrap_or(usize::MAX);
            let text = rest
                .strip_prefix(b"blob\n")
                .filter(|text| text.len() > size);
            let Some((text, after)) = text.map(|text| text.split_at(size)) else {
                found.lacks(&file.path);
                continue;
            };
            search.text(&file.path, text, found);
            rest = &after[1..];
        }
    }
}

fn objects<'f>(files: impl Iterator<Item = &'f TrackedFile>) -> Vec<u8> {
    let lines: Vec<&str> = files.flat_map(|file| [&file.object, "\n"]).collect();
    lines.concat().into_bytes()
}

impl TrackedFile {
    /// Reads an entry of `ls-tree`: mode, type, object, and the path behind a tab.
    fn parse(entry: &str) -> Option<Self> {
        let (about, path) = entry.split_once('\t')?;
        let [mode, _, object] = <[&str; 3]>::try_from(about.split(' ').collect::<Vec<_>>()).ok()?;
        Some(Self {
            path: path.to_owned(),
            object: object.to_owned(),
            // Neither a link nor a submodule, and not the file that holds the points.
            has_text: mode.starts_with("100") && !path.ends_with(".claude/playbook.json"),
        })
    }

    /// Tells whether these bytes are what the commit has, by the name that git gives them.
    fn is(&self, bytes: &[u8]) -> bool {
        let head = format!("blob {}\0", bytes.len());
        let hash = match self.object.len() {
            SHA1_DIGITS => hex(&Sha1::new()
                .chain_update(head)
                .chain_update(bytes)
                .finalize()),
            _ => hex(&Sha256::new()
                .chain_update(head)
                .chain_update(bytes)
                .finalize()),
        };
        hash == self.object
    }
}

/// The newest commits of the main branch, here and where it comes from, unless one of them is
/// checked out.
async fn mains(git: &Git, head: &str) -> Option<Vec<String>> {
    const MAIN: [&str; 3] = ["main", "master", "trunk"];
    let format = "--format=%(refname)|%(objectname)|%(symref)|%(HEAD)";
    let asked = [
        "for-each-ref",
        format,
        "refs/heads",
        "refs/remotes/origin/HEAD",
    ];
    let lines = git.lines(&asked).await?;
    let refs = lines.iter().map(|line| line.split('|').collect::<Vec<_>>());
    let refs: Vec<_> = refs
        .filter_map(|parts| <[&str; 4]>::try_from(parts).ok())
        .collect();
    let origin = refs
        .iter()
        .find(|[name, ..]| *name == "refs/remotes/origin/HEAD");
    let named = origin.and_then(|[_, _, to, _]| to.strip_prefix("refs/remotes/origin/"));
    let local = |main: &str| {
        let is_it = |name: &str| name.strip_prefix("refs/heads/") == Some(main);
        refs.iter().find(|[name, ..]| is_it(name))
    };
    let local = match named {
        Some(main) => local(main),
        None => MAIN.into_iter().find_map(local),
    };
    let known = origin.into_iter().chain(local);
    let is_here = known
        .clone()
        .any(|[_, commit, _, here]| *commit == head || *here == "*");
    let mut mains: Vec<String> = known.map(|[_, commit, ..]| (*commit).to_owned()).collect();
    mains.dedup();
    Some(if is_here { Vec::new() } else { mains })
}

/// The records that git ends with a zero byte; a path that is not UTF-8 is none that a point
/// could name.
fn records(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let records = bytes.split(|byte| *byte == 0);
    records
        .filter_map(|record| std::str::from_utf8(record).ok())
        .filter(|r| !r.is_empty())
}
