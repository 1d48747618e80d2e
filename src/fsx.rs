//! The one place that writes files.
//!
//! Two strengths: `durable` survives a power cut (worker and CLI), `quick` survives
//! a crash of ours (hooks). Both write a temporary file in the target's folder and
//! rename it over the target, so a reader sees the old bytes or the new ones, never a
//! part. Files of ours are 0600 and folders 0700; a file that exists keeps its mode, and
//! a symlink stays a symlink: its target is replaced.

use std::fs::{self, DirEntry, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fault;

const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;
const NOT_REGULAR: &str = "not a regular file";
/// How many symlinks in a row are followed before the chain counts as a loop.
const MAX_LINKS: usize = 40;

/// A failed file operation: what was tried, on which path, and why it failed.
#[derive(Debug, thiserror::Error)]
#[error("could not {action}: {}: {source}", path.display())]
pub struct FsError {
    /// What was tried, as a verb and its object: `read playbook`.
    pub(crate) action: String,
    pub(crate) path: PathBuf,
    #[source]
    pub(crate) source: io::Error,
}

impl FsError {
    pub(crate) fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    pub(crate) fn is_link_loop(&self) -> bool {
        self.source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
    }
}

pub(crate) trait Context<T> {
    fn context(self, action: &str, path: &Path) -> Result<T, FsError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, action: &str, path: &Path) -> Result<T, FsError> {
        self.map_err(|source| FsError {
            action: action.to_owned(),
            path: path.to_owned(),
            source,
        })
    }
}

/// Whether a write must reach the disk before it counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    Quick,
    Durable,
}

/// Replaces `path` by `bytes` and returns when they are on disk.
pub(crate) fn durable(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    replace(path, bytes, Strength::Durable)
}

/// Replaces `path` by `bytes` without waiting for the disk.
pub(crate) fn quick(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    replace(path, bytes, Strength::Quick)
}

/// As [`durable`], if `path` still holds what `seen` says; tells whether it did.
///
/// Compared as late as can be: when the new bytes are on the disk.
pub(crate) fn durable_if_unchanged(
    path: &Path,
    seen: Option<&[u8]>,
    bytes: &[u8],
) -> Result<bool, FsError> {
    let is_unchanged = || {
        let max = seen.map_or(0, |seen| seen.len() as u64);
        match read_if_there(path, max) {
            Ok(now) => now.as_deref() == seen,
            // What cannot be read, or is longer, is something else.
            Err(_) => false,
        }
    };
    replace_if(path, bytes, Strength::Durable, is_unchanged)
}

fn replace(path: &Path, bytes: &[u8], strength: Strength) -> Result<(), FsError> {
    replace_if(path, bytes, strength, || true).map(drop)
}

fn replace_if(
    path: &Path,
    bytes: &[u8],
    strength: Strength,
    is_wanted: impl FnOnce() -> bool,
) -> Result<bool, FsError> {
    let write = || -> io::Result<bool> {
        let target = follow(path)?;
        let folder = parent(&target);
        let old = regular_if_there(&target)?;
        fault::write("replace: create")?;
        let mut file = temporary(folder)?;
        if let Some(old) = &old {
            keep_owner(file.as_file(), old)?;
            file.as_file()
                .set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
        }
        fault::write("replace: write")?;
        file.write_all(bytes)?;
        if strength == Strength::Durable {
            file.as_file().sync_all()?;
        }
        fault::write("replace: rename")?;
        if !is_wanted() {
            return Ok(false);
        }
        regular_if_there(&target)?;
        file.persist(&target).map_err(|e| e.error)?;
        if strength == Strength::Durable {
            fault::write("replace: sync")?;
            sync_dir(folder)?;
        }
        Ok(true)
    };
    write().context("write", path)
}

/// What is known of a regular file; `None` when nothing is there. Anything else must neither
/// be opened nor replaced: a device, a FIFO, a socket or a folder is nobody's file.
fn regular_if_there(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() => Ok(Some(about)),
        Ok(_) => Err(io::Error::other(NOT_REGULAR)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Gives a file the owner of the one it replaces. Only root can; who else may write in a
/// folder of others becomes the owner.
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    match fchown(file, Some(old.uid()), Some(old.gid())) {
        Err(e) if e.kind() != io::ErrorKind::PermissionDenied => Err(e),
        _ => Ok(()),
    }
}

/// Creates `path` with `bytes` in one step; `false` when something is there already.
pub(crate) fn create_new(path: &Path, bytes: &[u8]) -> Result<bool, FsError> {
    let write = || -> io::Result<bool> {
        fault::write("create: create")?;
        let mut file = temporary(parent(path))?;
        fault::write("create: write")?;
        file.write_all(bytes)?;
        fault::write("create: rename")?;
        match file.persist_noclobber(path) {
            Ok(_) => Ok(true),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(e.error),
        }
    };
    write().context("create", path)
}

/// Makes an empty file of ours; `false` when something is there already.
///
/// Of several processes that make it at once, one is told `true`.
pub(crate) fn mark_new(path: &Path) -> Result<bool, FsError> {
    let made = fault::write("mark: create").and_then(|()| {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(path)
    });
    match made {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|_| true).context("create", path),
    }
}

/// Reads a regular file of at most `max` bytes; a larger one is an error.
pub(crate) fn read(path: &Path, max: u64) -> Result<Vec<u8>, FsError> {
    let read = || -> io::Result<Vec<u8>> {
        let file = open_regular(path)?;
        let length = file.metadata()?.len().min(max);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
        file.take(max + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max {
            return Err(io::Error::other(format!("larger than {max} bytes")));
        }
        Ok(bytes)
    };
    read().context("read", path)
}

/// As [`read`], with `None` for a file that is not there.
pub(crate) fn read_if_there(path: &Path, max: u64) -> Result<Option<Vec<u8>>, FsError> {
    match read(path, max) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.is_missing() => Ok(None),
        Err(e) => Err(e),
    }
}

/// Reads a JSON file of ours; `None` where it is missing, larger than `max` bytes or
/// something else.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path, max: u64) -> Option<T> {
    serde_json::from_slice(&read(path, max).ok()?).ok()
}

/// The JSON of `value`, to be written to `path`.
pub(crate) fn to_json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, FsError> {
    serde_json::to_vec(value)
        .map_err(io::Error::from)
        .context("write", path)
}

/// What is in a folder; nothing where there is none.
pub(crate) fn list(folder: &Path) -> Result<Vec<DirEntry>, FsError> {
    match fs::read_dir(folder).and_then(Iterator::collect) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.context("list", folder),
    }
}

/// Reads at most the last `max` bytes of a regular file.
pub(crate) fn read_tail(path: &Path, max: u64) -> Result<Vec<u8>, FsError> {
    let read = || -> io::Result<Vec<u8>> {
        fault::stop("read tail");
        let mut file = open_regular(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(max)))?;
        let mut bytes = Vec::new();
        file.take(max).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().context("read", path)
}

/// Tells whether [`open_regular`] refused what is no regular file.
pub(crate) fn is_irregular(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Other && error.to_string() == NOT_REGULAR
}

/// Opens a regular file for reading; refuses everything else without opening it, since
/// opening a FIFO hangs and opening a device may do something.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    regular_if_there(path)?;
    opened_regular(OpenOptions::new().read(true), path)
}

/// Opens what may have been replaced since we looked: so neither hangs nor trusts.
fn opened_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = options.custom_flags(nonblocking).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other(NOT_REGULAR))
    }
}

/// Waits until a file that was written quickly is on disk.
pub(crate) fn sync(path: &Path) -> Result<(), FsError> {
    let sync = || -> io::Result<()> {
        fault::write("sync")?;
        open_regular(path)?.sync_all()?;
        sync_dir(parent(path))
    };
    sync().context("sync", path)
}

/// Removes what a crash of ours left behind in `folder`: temporary files that were last
/// written before `time`.
pub(crate) fn sweep(folder: &Path, time: SystemTime) -> Result<(), FsError> {
    for entry in list(folder)? {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_ours = name.starts_with(TEMPORARY_PREFIX.as_bytes())
            && name.ends_with(TEMPORARY_SUFFIX.as_bytes());
        if is_ours && is_older(&entry.path(), time) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// As [`sweep`], in a folder of ours and all below it.
pub(crate) fn sweep_all(folder: &Path, time: SystemTime) -> Result<(), FsError> {
    sweep(folder, time)?;
    list(folder)?
        .iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .try_for_each(|entry| sweep_all(&entry.path(), time))
}

/// Tells whether a regular file was last written before `time`.
pub(crate) fn is_older(path: &Path, time: SystemTime) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|m| m.is_file() && m.modified().is_ok_and(|written| written < time))
}

/// Creates a folder of ours and what is missing above it, all private to the user.
pub(crate) fn ensure_dir(path: &Path) -> Result<(), FsError> {
    if path.is_dir() {
        return Ok(());
    }
    fault::write("create folder")
        .and_then(|()| {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(DIR_MODE)
                .create(path)
        })
        .context("create folder", path)
}

/// Closes a folder of ours to everybody but the user.
pub(crate) fn make_private(path: &Path) -> Result<(), FsError> {
    // A handle that was opened as a folder is one, whatever is put at its path meanwhile.
    let flags = rustix::fs::OFlags::DIRECTORY.bits().cast_signed();
    OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .and_then(|folder| folder.set_permissions(Permissions::from_mode(DIR_MODE)))
        .context("close", path)
}

/// Removes a file; one that is not there is no error.
pub(crate) fn remove(path: &Path) -> Result<(), FsError> {
    match fault::write("remove").and_then(|()| fs::remove_file(path)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e).context("remove", path),
        _ => Ok(()),
    }
}

pub(crate) fn remove_dir_if_empty(path: &Path) -> Result<(), FsError> {
    use io::ErrorKind::{DirectoryNotEmpty, NotFound};
    match fault::write("remove folder").and_then(|()| fs::remove_dir(path)) {
        Err(e) if !matches!(e.kind(), DirectoryNotEmpty | NotFound) => {
            Err(e).context("remove folder", path)
        }
        _ => Ok(()),
    }
}

/// Removes a file, or a folder with all that is in it; links are removed, not followed.
pub(crate) fn remove_all(path: &Path) -> Result<(), FsError> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
    if !is_folder {
        return remove(path);
    }
    fault::write("remove all")
        .and_then(|()| fs::remove_dir_all(path))
        .context("remove folder", path)
}

/// Moves a file within one file system, over what is there.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), FsError> {
    fault::write("move: rename")
        .and_then(|()| regular_if_there(to))
        .and_then(|_| fs::rename(from, to))
        .context("move", from)?;
    fault::write("move: sync")
        .and_then(|()| sync_dir(parent(to)))
        .context("sync folder", parent(to))
}

/// Opens a lock file of ours, and makes it where it is missing.
pub(crate) fn open_lock_file(path: &Path) -> Result<File, FsError> {
    open_lock(path, FILE_MODE).context("open lock", path)
}

/// As [`open_lock_file`], for a lock that all share who may read its folder: for them to
/// read it is enough.
pub(crate) fn open_shared_lock_file(path: &Path) -> Result<File, FsError> {
    let open = || -> io::Result<File> {
        let mode = fs::metadata(parent(path))?.mode() & 0o666;
        let file = match open_lock(path, mode) {
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return opened_regular(OpenOptions::new().read(true), path);
            }
            file => file?,
        };
        // Neither the umask of who made it nor an older version of ours shuts others out.
        let about = file.metadata()?;
        let wanted = about.mode() & 0o777 | mode;
        if about.mode() & 0o777 != wanted {
            match file.set_permissions(Permissions::from_mode(wanted)) {
                Err(e) if e.kind() != io::ErrorKind::PermissionDenied => return Err(e),
                _ => {}
            }
        }
        Ok(file)
    };
    open().context("open lock", path)
}

fn open_lock(path: &Path, mode: u32) -> io::Result<File> {
    fault::write("open lock")?;
    regular_if_there(path)?;
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    opened_regular(options.mode(mode), path)
}

/// Appends one line to a log; a log over `cap` bytes first becomes `<name>.1`.
pub(crate) fn append_line(path: &Path, line: &str, cap: u64) -> Result<(), FsError> {
    let append = || -> io::Result<()> {
        fault::write("append")?;
        if regular_if_there(path)?.is_some_and(|about| about.len() >= cap) {
            let mut old = path.as_os_str().to_owned();
            old.push(".1");
            fs::rename(path, PathBuf::from(old))?;
        }
        let mut text = String::with_capacity(line.len() + 1);
        text.push_str(line);
        text.push('\n');
        let mut options = OpenOptions::new();
        let options = options.append(true).create(true).mode(FILE_MODE);
        opened_regular(options, path)?.write_all(text.as_bytes())
    };
    append().context("append to", path)
}

fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .suffix(TEMPORARY_SUFFIX)
        .permissions(Permissions::from_mode(FILE_MODE))
        .tempfile_in(folder)
}

/// How the names of our temporary files begin; a crash may leave one behind.
pub(crate) const TEMPORARY_PREFIX: &str = ".playbook-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// The file that a write to `path` must replace: the end of its chain of symlinks.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = parent(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symlinks"))
}

/// The one name of a file, which need not exist, however it is reached.
pub(crate) fn real(path: &Path) -> PathBuf {
    let target = follow(path).unwrap_or_else(|_| path.to_owned());
    let known = target.ancestors().find_map(|above| {
        let rest = target.strip_prefix(above).ok()?;
        Some((fs::canonicalize(above).ok()?, rest))
    });
    match known {
        Some((above, rest)) if rest.as_os_str().is_empty() => above,
        Some((above, rest)) => above.join(rest),
        None => target,
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn sync_dir(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn a_replaced_file_keeps_its_mode_and_a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink("a", &link).unwrap();
        durable(&link, b"new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o644
        );
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_new_file_is_private_and_no_temporary_file_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        quick(&file, b"x").unwrap();
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_loop_of_symlinks_and_a_fifo_are_errors_that_name_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("loop");
        std::os::unix::fs::symlink("loop", &link).unwrap();
        assert!(
            durable(&link, b"x")
                .unwrap_err()
                .to_string()
                .contains("loop")
        );
        assert!(
            read(dir.path(), 10)
                .unwrap_err()
                .to_string()
                .contains("not a regular file")
        );
    }

    type Write = fn(&Path) -> Result<(), FsError>;

    #[rstest]
    #[case::replaced(|path: &Path| durable(path, b"x"))]
    #[case::replaced_at_once(|path: &Path| quick(path, b"x"))]
    #[case::replaced_as_read(|path: &Path| durable_if_unchanged(path, None, b"x").map(drop))]
    #[case::moved_over(|path: &Path| {
        let from = path.with_file_name("from");
        fs::write(&from, "x").unwrap();
        rename(&from, path)
    })]
    #[case::appended_to(|path: &Path| append_line(path, "x", 1))]
    #[case::locked(|path: &Path| open_lock_file(path).map(drop))]
    #[case::locked_with_others(|path: &Path| open_shared_lock_file(path).map(drop))]
    #[case::read(|path: &Path| read(path, 10).map(drop))]
    #[case::closed(make_private)]
    fn what_is_no_file_is_left_alone_wherever_a_link_leads(#[case] write: Write) {
        let dir = tempfile::tempdir().unwrap();
        let [fifo, socket] = ["fifo", "socket"].map(|name| dir.path().join(name));
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for target in [&fifo, &socket] {
            let link = target.with_extension("link");
            std::os::unix::fs::symlink(target, &link).unwrap();
            let before = fs::symlink_metadata(target).unwrap();
            for path in [target, &link] {
                write(path).unwrap_err();
                let after = fs::symlink_metadata(target).unwrap();
                let same = |about: &Metadata| (about.ino(), about.mode(), about.file_type());
                assert_eq!(same(&after), same(&before), "{}", path.display());
            }
            assert!(link.is_symlink());
        }
    }

    #[test]
    fn what_root_replaces_keeps_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "old").unwrap();
        let owner = if rustix::process::geteuid().is_root() {
            4711
        } else {
            rustix::process::geteuid().as_raw()
        };
        std::os::unix::fs::chown(&file, Some(owner), Some(owner)).unwrap_or_default();
        durable(&file, b"new").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().uid(), owner);
    }

    #[rstest]
    #[case::of_the_user_alone(0o700, 0o600)]
    #[case::that_others_may_read(0o755, 0o644)]
    #[case::of_a_group(0o770, 0o660)]
    fn a_shared_lock_has_the_mode_of_its_folder(#[case] folder: u32, #[case] lock: u32) {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(folder)).unwrap();
        let file = dir.path().join("lock");
        let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        open_shared_lock_file(&file).unwrap();
        assert_eq!(mode(), lock);
        // As earlier versions left it.
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        open_shared_lock_file(&file).unwrap();
        assert_eq!(mode(), lock);
    }

    #[test]
    fn what_a_crash_left_behind_is_swept_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join(".playbook-x1y2z3.tmp");
        fs::create_dir(dir.path().join("below")).unwrap();
        let below = dir.path().join("below/.playbook-u1v2w3.tmp");
        for name in [".playbook-x1y2z3.tmp", "other.tmp", ".playbook-notes"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        fs::write(&below, "x").unwrap();
        sweep(dir.path(), SystemTime::UNIX_EPOCH).unwrap();
        assert!(left.exists(), "too young");
        sweep(
            dir.path(),
            SystemTime::now() + std::time::Duration::from_secs(9),
        )
        .unwrap();
        assert!(!left.exists() && below.exists());
        sweep_all(
            dir.path(),
            SystemTime::now() + std::time::Duration::from_secs(9),
        )
        .unwrap();
        assert!(!below.exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
        sweep(&dir.path().join("gone"), SystemTime::now()).unwrap();
    }

    #[test]
    fn a_full_log_is_rotated_once() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        for line in ["one", "two", "three"] {
            append_line(&log, line, 4).unwrap();
        }
        assert_eq!(fs::read_to_string(&log).unwrap(), "three\n");
        assert_eq!(
            fs::read_to_string(dir.path().join("log.1")).unwrap(),
            "two\n"
        );
    }
}
