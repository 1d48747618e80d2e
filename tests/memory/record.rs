//! Promise: the memory keeps what is needed of finished jobs, and recording one twice is harmless.

use std::env;

use crate::common::prelude::*;
use playbook::memory::{
    BudgetKind, FinishedJob, JobCounts, JobOutcome, JobRecord, Memory, MemoryError, ModelCall,
    RecordMark, TranscriptCursor,
};
use playbook::playbook::{ChangeKind, PointChange};
use proptest::prelude::*;

use super::lessons::opened;
use crate::common::learned;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn job(id: &str) -> FinishedJob {
    let counts = JobCounts {
        tags: 2,
        operations: 1,
        skipped: 0,
        input_tokens: 10,
        output_tokens: 5,
        ms: 7,
    };
    FinishedJob {
        counts,
        ..learned::job(id, "/p", at(1))
    }
}

fn change(point: &str) -> PointChange {
    let state = |helpful: u64| {
        let entry = json!({"name": point, "text": "t", "helpful": helpful, "harmful": 0});
        json!({"section": "OTHERS", "index": 0, "entry": entry})
    };
    PointChange {
        kind: ChangeKind::Helpful,
        id: point.to_owned(),
        before: serde_json::from_value(state(1)).unwrap(),
        after: serde_json::from_value(state(2)).unwrap(),
        into: None,
        reason: "it helped".to_owned(),
    }
}

fn cursor(generation: u64, end: u64) -> TranscriptCursor {
    TranscriptCursor {
        transcript: "/t/s1.jsonl".to_owned(),
        generation,
        end,
        first_record: Some(u64::MAX - generation),
        updated: at(1),
    }
}

fn call(job: &str, seq: u64) -> ModelCall {
    ModelCall {
        job: job.to_owned(),
        seq,
        project: "/p".to_owned(),
        time: at(1),
        backend: "anthropic".to_owned(),
        model: "m".to_owned(),
        attempts: 1,
        input_tokens: 10,
        output_tokens: 5,
        budget_kind: BudgetKind::Day,
    }
}

/// Builds a job with one item of each kind; jobs with different `n` overlap partly.
fn full(n: u64) -> JobRecord {
    let id = format!("job-{n}");
    let mut record = JobRecord::new(job(&id));
    record.cursor = Some(cursor(n / 4, 100 * n));
    record.records = (n * 3..n * 3 + 5)
        .map(|hash| RecordMark {
            hash: hash.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            time: (!hash.is_multiple_of(4)).then(|| at(hash.cast_signed())),
        })
        .collect();
    record.changes = vec![change("pat-001"); 3];
    record.highest_numbers = BTreeMap::from([("pat".to_owned(), n), ("mis".to_owned(), 9 - n)]);
    record.calls = vec![call(&id, 0), call(&id, 1)];
    record
}

fn connect(env: &TestEnv) -> rusqlite::Connection {
    rusqlite::Connection::open(env.paths().memory_db()).unwrap()
}

fn dump(env: &TestEnv) -> Vec<String> {
    let connection = connect(env);
    let tables = [
        "projects", "cursors", "records", "jobs", "history", "totals", "numbers", "calls",
    ];
    let mut lines = Vec::new();
    for table in tables {
        let sql = format!("SELECT * FROM {table}");
        let mut statement = connection.prepare(&sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query(()).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<rusqlite::types::Value> =
                (0..columns).map(|c| row.get(c).unwrap()).collect();
            lines.push(format!("{table} {values:?}"));
        }
    }
    lines
}

#[test]
fn what_was_recorded_is_there_after_opening_again() {
    let env = TestEnv::without_worker();
    let record = full(2);
    env.memory().record(&record).unwrap();

    let mut memory = env.memory();
    let row = memory.job("job-2").unwrap().unwrap();
    assert_eq!((row.job, row.undone_by), (record.job.clone(), None));
    assert_eq!(memory.cursor("/t/s1.jsonl").unwrap(), record.cursor);
    let highest = memory.highest_numbers("/p").unwrap();
    assert_eq!(highest, record.highest_numbers);
    let changes: Vec<_> = memory.changes_of("job-2").unwrap();
    assert_eq!((&*changes[0].session, changes[0].time), ("s1", at(1)));
    let changes: Vec<_> = changes.into_iter().map(|entry| entry.change).collect();
    assert_eq!(changes, record.changes);
    let mut known = memory.known_records("/p").unwrap();
    for mark in &record.records {
        assert!(known.is_copy(*mark).unwrap());
    }
    assert!(!known.contains(1).unwrap());
    drop(known);
    let mut of_another = memory.known_records("/other").unwrap();
    assert!(!of_another.is_copy(record.records[0]).unwrap());
}

#[test]
fn a_failed_job_that_is_tried_again_ends_as_applied_and_stays_so() {
    let (_env, mut memory) = opened();
    let mut failed = full(1);
    failed.job.outcome = JobOutcome::Failed;
    failed.job.reason = "garbage".to_owned();
    memory.record(&failed).unwrap();
    memory.record(&full(1)).unwrap();
    memory.record(&failed).unwrap();
    let row = memory.job("job-1").unwrap().unwrap();
    assert_eq!(row.job.outcome, JobOutcome::Applied);
    assert_eq!(row.job.reason, "");
    assert_eq!(memory.last_jobs(None, 9).unwrap().len(), 1);
}

#[test]
fn an_undone_job_stays_undone_when_it_is_recorded_again() {
    let (_env, mut memory) = opened();
    memory.record(&full(1)).unwrap();
    for undo in ["undo-1", "undo-2"] {
        let mut record = JobRecord::new(job(undo));
        record.undoes = Some("job-1".to_owned());
        memory.record(&record).unwrap();
    }
    memory.record(&full(1)).unwrap();
    let row = memory.job("job-1").unwrap().unwrap();
    assert_eq!(row.undone_by.as_deref(), Some("undo-1"));
}

/// A transcript that shrank begins a new generation; late jobs of the old one do not move the
/// cursor.
#[rstest]
#[case::further(cursor(0, 500), cursor(0, 700), (0, 700))]
#[case::not_back(cursor(0, 500), cursor(0, 300), (0, 500))]
#[case::begun_anew(cursor(0, 500), cursor(1, 20), (1, 20))]
#[case::late_job_of_the_old_file(cursor(1, 20), cursor(0, 900), (1, 20))]
fn a_cursor_only_moves_forward(
    #[case] first: TranscriptCursor,
    #[case] second: TranscriptCursor,
    #[case] expected: (u64, u64),
) {
    let (_env, mut memory) = opened();
    for (id, cursor) in [("a", first), ("b", second)] {
        let mut record = JobRecord::new(job(id));
        record.cursor = Some(cursor);
        memory.record(&record).unwrap();
    }
    let reached = memory.cursor("/t/s1.jsonl").unwrap().unwrap();
    assert_eq!((reached.generation, reached.end), expected);
    assert_eq!(reached.first_record, Some(u64::MAX - expected.0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Replaying recorded jobs, in any order, leaves every table as it was.
    #[test]
    fn replaying_is_harmless(
        jobs in proptest::collection::vec(0u64..8, 1..8),
        replayed in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let (env, mut memory) = opened();
        for n in &jobs {
            memory.record(&full(*n)).unwrap();
        }
        drop(memory);
        let before = dump(&env);
        let mut memory = env.memory();
        for index in replayed {
            let n = *index.get(&jobs);
            memory.add_call(&call(&format!("job-{n}"), 1)).unwrap();
            memory.record(&full(n)).unwrap();
        }
        drop(memory);
        prop_assert_eq!(before, dump(&env));
    }
}

#[test]
fn a_record_that_cannot_be_written_whole_is_not_written_at_all() {
    let (env, mut memory) = opened();
    let refuse =
        "CREATE TRIGGER refuse BEFORE INSERT ON calls BEGIN SELECT raise(ABORT, 'no'); END";
    connect(&env).execute_batch(refuse).unwrap();
    let before = dump(&env);
    assert!(memory.record(&full(1)).is_err());
    assert_eq!(before, dump(&env));
}

/// The variable that names the database to the child processes that a test starts from this
/// program.
const CHILD_FILE: &str = "MEMORY_TEST_FILE";

#[test]
fn processes_take_turns_and_none_is_lost() {
    if let Some(file) = env::var_os(CHILD_FILE) {
        let mut memory = Memory::open(&PathBuf::from(file)).unwrap();
        for n in 0..25 {
            let mut record = full(0);
            record.job.id = format!("{}-{n}", std::process::id());
            memory.record(&record).unwrap();
        }
        return;
    }
    let env = TestEnv::without_worker();
    let start = || {
        Command::new(env::current_exe().unwrap())
            .args(["--exact", "record::processes_take_turns_and_none_is_lost"])
            .env(CHILD_FILE, env.paths().memory_db())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..3).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let lines = dump(&env);
    let rows = |table| lines.iter().filter(|line| line.starts_with(table)).count();
    assert_eq!(["jobs", "history", "records"].map(rows), [75, 225, 5]);
}

/// Asserts that the database is refused and unchanged; returns the error.
#[track_caller]
fn refused(env: &TestEnv) -> MemoryError {
    let before = fs::read(env.paths().memory_db()).unwrap();
    let error = Memory::open(&env.paths().memory_db()).unwrap_err();
    assert_eq!(before, fs::read(env.paths().memory_db()).unwrap());
    error
}

#[rstest]
#[case::newer(999, "update playbook")]
#[case::older(24, "`playbook worker` renames it")]
fn a_schema_of_another_version_is_refused_and_left_alone(#[case] version: i64, #[case] hint: &str) {
    let env = TestEnv::without_worker();
    env.memory().record(&full(1)).unwrap();
    let connection = connect(&env);
    let set = connection.pragma_update(None, "user_version", version);
    set.unwrap();
    drop(connection);
    let error = refused(&env);
    has!(error.to_string(), "memory.db", &format!("schema {version}"));
    has!(error.hint().unwrap(), hint);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let env = TestEnv::without_worker();
    fs::create_dir_all(env.paths().memory_db().parent().unwrap()).unwrap();
    let theirs = connect(&env).execute_batch("CREATE TABLE theirs (a)");
    theirs.unwrap();
    assert!(matches!(refused(&env), MemoryError::Foreign { .. }));
}

#[rstest]
#[case::not_a_database(|bytes: &mut Vec<u8>| bytes[..16].copy_from_slice(b"this is no datab"))]
#[case::torn_pages(|bytes: &mut Vec<u8>| { let n = bytes.len(); bytes[100..n].fill(0xA5); })]
fn a_damaged_database_names_itself_and_a_way_out_and_is_kept(#[case] damage: fn(&mut Vec<u8>)) {
    let env = TestEnv::without_worker();
    env.memory().record(&full(1)).unwrap();
    let mut bytes = fs::read(env.paths().memory_db()).unwrap();
    damage(&mut bytes);
    fs::write(env.paths().memory_db(), &bytes).unwrap();
    let error = refused(&env);
    assert!(matches!(error, MemoryError::Damaged { .. }), "{error}");
    has!(error.to_string(), "memory.db");
    has!(error.hint().unwrap(), "memory.db");
}

#[test]
fn a_folder_or_a_pipe_in_its_place_is_an_error_and_no_hang() {
    let env = TestEnv::without_worker();
    fs::create_dir_all(env.paths().memory_db()).unwrap();
    let error = Memory::open(&env.paths().memory_db()).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}
