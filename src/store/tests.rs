use super::*;
use crate::env::{Env, name};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

/// Git removes a file and writes it again, so a single look may miss it.
#[test]
fn a_playbook_that_comes_and_goes_is_never_taken_for_none() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    let env = Env::from_pairs([
        (name::CONFIG_DIR, dir.path()),
        (name::STATE_DIR, dir.path()),
    ]);
    let paths = Paths::resolve(&env).unwrap();
    let (file, away) = (paths.playbook_file(&project), dir.path().join("away"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let point = r#"{"sections": {"OTHERS": [{"name": "oth-001", "text": "a point"}]}}"#;
    fs::write(&file, point).unwrap();
    let snapshots = Snapshots::new(&paths.project(&project));
    snapshots.keep("job", point.as_bytes()).unwrap();
    let store = Store::of(&paths, &project);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                fs::rename(&file, &away).unwrap();
                fs::rename(&away, &file).unwrap();
                // It is there most of the time.
                (0..20).for_each(|_| assert!(file.exists()));
            }
        });
        let points = |_| {
            store
                .read()
                .map_or(1, |loaded| loaded.playbook.points().count())
        };
        let fewest = (0..2_000).map(points).min();
        is_over.store(true, Ordering::SeqCst);
        assert_eq!(fewest, Some(1));
    });
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(dir.path().join("playbook.json"));
    let large = "x".repeat(usize::try_from(MAX_FILE_BYTES).unwrap());
    let file = serde_json::json!({"mine": large}).to_string();
    let playbook = Playbook::parse(file.as_bytes()).unwrap();
    let saved = store.lock(Duration::ZERO).unwrap().save(None, &playbook);
    assert!(matches!(saved, Err(StoreError::TooLarge { .. })));
    assert!(!store.path().exists());
}

#[test]
fn the_last_few_are_kept_in_the_order_of_the_changes_and_originals_stay() {
    let dir = tempfile::tempdir().unwrap();
    let snapshots = Snapshots::new(dir.path());
    assert_eq!(snapshots.last().unwrap(), None);
    snapshots.keep_original("z", b"old").unwrap();
    // A job that waited has an older name than those applied before it.
    let more = (0..KEPT - 2).map(|n| format!("d{n}"));
    for job in ["z", "c", "b"].map(str::to_owned).into_iter().chain(more) {
        snapshots.keep(&job, job.as_bytes()).unwrap();
    }
    let jobs: Vec<String> = snapshots
        .list()
        .unwrap()
        .into_iter()
        .map(|s| s.job)
        .collect();
    assert_eq!(jobs[..3], ["c", "b", "d0"]);
    assert_eq!((jobs.len(), jobs[KEPT - 1].as_str()), (KEPT, "d17"));
    assert_eq!(snapshots.last().unwrap().unwrap(), b"d17");
    assert_eq!(snapshots.read("c").unwrap().unwrap(), b"c");
    assert_eq!(snapshots.read("../b").unwrap(), None);
    assert!(dir.path().join("snapshots/z.original.json").is_file());
}
