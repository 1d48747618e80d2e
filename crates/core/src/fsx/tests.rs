use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::SystemTime;

use rstest::rstest;

use super::*;

#[test]
fn a_replaced_file_keeps_its_mode_and_a_link_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("a"), dir.path().join("b"));
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    quick(&file, b"old").unwrap();
    assert_eq!(mode(), 0o600, "a new file is private");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink("a", &link).unwrap();
    durable(&link, b"new").unwrap();
    assert_eq!(
        (fs::read_to_string(&file).unwrap(), mode()),
        ("new".to_owned(), 0o644)
    );
    assert!(link.is_symlink());
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        2,
        "nothing is left"
    );
}

#[test]
fn a_loop_of_symlinks_and_a_folder_are_errors_that_name_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("loop");
    std::os::unix::fs::symlink("loop", &link).unwrap();
    let error = durable(&link, b"x").unwrap_err();
    assert!(error.to_string().contains("loop"));
    let error = read(dir.path(), 10).unwrap_err();
    assert!(error.to_string().contains("not a regular file"));
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
    // The mode that earlier versions left.
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
    let later = SystemTime::now() + std::time::Duration::from_secs(9);
    sweep(dir.path(), later).unwrap();
    assert!(!left.exists() && below.exists());
    sweep_all(dir.path(), later).unwrap();
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
