//! Promise: a transcript is understood in any format of the client's, and nothing but citations
//! counts as one. The files are described in `tests/fixtures/sessions/README.md`.

use std::io::{Seek as _, SeekFrom, Write as _};

use crate::common::prelude::*;

fn learn_from(bytes: &[u8]) -> TestEnv {
    let mut env = TestEnv::without_worker();
    let _api = env.use_votes();
    env.write_playbook(&[("pat-001", "run the tests"), ("mis-002", "not cited")]);
    write(&env.transcript_path("s1"), bytes);
    env.ends("s1");
    env.worker();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    env
}

#[test]
fn every_dress_of_one_session_is_the_same_mark() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "jsonl") {
            let env = learn_from(&fs::read(&path).unwrap());
            let marks = (env.marks_of("pat-001"), env.marks_of("mis-002"));
            assert_eq!(marks, ((1, 0), (0, 0)), "{}", path.display());
            seen += 1;
        }
    }
    assert_eq!(seen, 11);
}

#[test]
fn a_line_of_twenty_megabytes_is_passed_over_or_read_and_never_fatal() {
    let mut session = Session::new("s1");
    session.user("hello");
    session.tool("Read", &json!({"file_path": "/big"}), &"x".repeat(20 << 20));
    session.assistant("By [pat-001], done.");
    let env = learn_from(session.text().as_bytes());
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[rstest]
#[case::empty(b"")]
#[case::one_newline(b"\n")]
#[case::no_newline_at_all(b"{\"type\":\"assistant\"")]
#[case::binary(b"\x7fELF\0\0\0\0\xff\xff\n\0\n")]
#[case::deep(&b"[".repeat(100_000))]
fn a_file_that_is_no_transcript_teaches_nothing(#[case] bytes: &[u8]) {
    assert_eq!(learn_from(bytes).marks_of("pat-001"), (0, 0));
}

#[test]
fn a_citation_between_two_gigabytes_of_nothing_is_found() {
    let (env, _api) = TestEnv::voting();
    let session = Session::citing("s1");
    let path = env.transcript_path("s1");
    write(&path, "{\"type\":\"mode\"}\n");
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(1 << 30)).unwrap();
    file.write_all(b"\n").unwrap();
    file.write_all(session.text().as_bytes()).unwrap();
    file.set_len(2 << 30).unwrap();
    env.ends("s1");
    env.learn_citing("s2");
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn a_tab_in_the_evidence_is_printed_as_a_tab() {
    let env = TestEnv::without_worker();
    let session = Session::new("s1").user("hello\n\tindented\tby tabs").done();
    let path = env.transcript_path("s1");
    write(&path, session.text());
    let shown = env.cli(&["evidence", &path.to_string_lossy()]).ok();
    has!(shown, "\tindented\tby tabs");
}

/// After `/clear` the client writes an older session's id as `session_id`.
#[test]
fn lines_with_the_id_of_an_older_session_belong_to_this_file() {
    let session = Session::citing("s1");
    let ids = r#""session_id":"older","sessionId":"s1""#;
    let text = session.text().replace(r#""sessionId":"s1""#, ids);
    assert_eq!(learn_from(text.as_bytes()).marks_of("pat-001"), (1, 0));
}
