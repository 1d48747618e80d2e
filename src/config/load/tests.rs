use super::*;
use crate::config::{Limit, MemoryMode, Trigger, WorkerMode};
use rstest::rstest;

fn file(text: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    (dir, path)
}

#[track_caller]
fn mistake(result: Result<(), ConfigError>) -> (usize, String) {
    match result {
        Err(ConfigError::Content { mut mistakes }) => {
            let first = mistakes.remove(0);
            (first.line, first.what)
        }
        other => panic!("{other:?}"),
    }
}

/// The defaults of spec/2, section 3.1, with the changes by issues and design.
#[test]
fn the_defaults_are_those_of_the_specification() {
    let config = Config::default();
    assert!(config.reflection.enabled && config.triggers.off.is_empty());
    let summary = (
        config.reflection.summary_tokens,
        config.reflection.topk_snippets,
    );
    assert_eq!(summary, (128, 3));
    assert_eq!(config.budgets.time_ms, Limit(300_000));
    assert_eq!(config.budgets.ops, 10);
}

#[test]
fn what_the_file_says_counts() {
    let (_keep, path) = file(
        b"backend = \"fixtures\"\nfixtures.path = \"replies.jsonl\"\n[retry]\nattempts = 5\n\
          [hooks]\non_exit = false\n[worker]\nmode = \"inline\"\n[triggers]\noff = [\"periodic\"]\n\
          [budgets]\ntokens = 0\n",
    );
    let config = load(&path).unwrap();
    assert_eq!(config.top.backend, BackendChoice::Fixtures);
    assert_eq!(
        config.fixtures.path.as_deref(),
        Some(Path::new("replies.jsonl"))
    );
    assert_eq!(config.retry.attempts, 5);
    assert_eq!(config.hooks.on_exit, Some(false));
    assert_eq!(config.worker.mode, WorkerMode::Inline);
    assert_eq!(config.triggers.off, [Trigger::Periodic]);
    assert!(config.budgets.tokens.allows(u64::MAX));
}

/// The validation rules of spec/2, section 3, and our own.
#[rstest]
#[case::unknown_key("x = 1\n", 1, "unknown key `x`")]
#[case::nearest("[retry]\natempts = 1\n", 2, "did you mean `retry.attempts`?")]
#[case::the_inner_name_of_no_section("[top]\nbackend = \"rules\"", 1, "unknown key `top`")]
#[case::a_table_for_a_value(
    "[backend]\nname = \"rules\"",
    1,
    "`backend` must be a value, not a table"
)]
#[case::not_a_whole_number(
    "[retry]\nattempts = \"3\"",
    2,
    "`retry.attempts` must be a whole number from 1 to 10, not a string"
)]
#[case::no_such_item(
    "[triggers]\noff = [\"drift\"]",
    2,
    "`triggers.off` must be one of tool_failure, "
)]
#[case::negative(
    "[budgets]\nops = -1",
    2,
    "must be a whole number from 0 to 10, not -1"
)]
#[case::too_large(
    "[retry]\nattempts = 99",
    2,
    "must be a whole number from 1 to 10, not 99"
)]
#[case::no_such_backend(
    "backend = \"llm\"",
    1,
    "must be one of auto, anthropic, claude-cli, openai, rules, fixtures, not `llm`"
)]
#[case::fixtures_without_a_path("\nbackend = \"fixtures\"", 2, "needs `fixtures.path`")]
#[case::empty_model("[anthropic]\nmodel = \" \"", 2, "`anthropic.model` must not be empty")]
#[case::pattern("[secrets]\npatterns = ['(']", 2, "pattern 1 of `secrets.patterns`")]
#[case::twice("[retry]\nattempts = 1\nattempts = 2", 3, "duplicate key")]
#[case::syntax("[retry\n", 1, "")]
fn a_mistake_is_told_with_its_line(#[case] text: &str, #[case] at: usize, #[case] says: &str) {
    let (_keep, path) = file(text.as_bytes());
    let (line, what) = mistake(load(&path).map(drop));
    assert_eq!(line, at, "{what}");
    assert!(what.contains(says), "{what}");
}

#[test]
fn all_mistakes_are_shown_in_the_order_of_their_lines() {
    let text = b"bakend = 1\n[retry]\nbase_ms = -1\nattempts = 99\n[worker]\njobs = 2\n[hook]\n";
    let (_keep, path) = file(text);
    let error = load(&path).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("(`playbook config check` shows 3 more)")
    );
    let lines = [
        ":1: unknown",
        ":3: `retry.base_ms`",
        ":4: `retry.att",
        ":7: unknown",
    ];
    for (message, line) in error.all().iter().zip(lines) {
        assert!(message.contains(line), "{message}");
    }
    let (_keep, path) = file(b"a = \nb = 'x\n[c]\nd = [1\n");
    assert!(load(&path).unwrap_err().all().len() > 1);
}

#[rstest]
#[case::base_url(
    "anthropic.base_url = \"https://evil\"",
    "`anthropic.base_url` cannot be set by"
)]
#[case::more_a_day("budgets.calls_per_day = 401", "401 is above the user's 400")]
#[case::no_limit("budgets.tokens_per_day = 0", "can only be lowered by a project")]
#[case::dreams("memory.mode = \"full\"", "can only be lowered by a project")]
fn a_project_can_neither_send_data_elsewhere_nor_spend_more(
    #[case] text: &str,
    #[case] says: &str,
) {
    let (_keep, path) = file(format!("injection.max_units = 500\n{text}").as_bytes());
    let (line, what) = mistake(load_project(&mut Config::default(), &path));
    assert_eq!(line, 2, "{what}");
    assert!(what.contains(says), "{what}");
}

#[test]
fn what_is_gone_is_no_mistake_of_a_project_either() {
    let (_keep, path) = file(b"[playbook]\nmax_points = 5\nsnapshots = false\n");
    let mut config = Config::default();
    load_project(&mut config, &path).unwrap();
    assert_eq!(config.playbook.max_points, 5);
    let gone = gone(&path);
    assert_eq!(gone.len(), 1);
    let place = format!("{}:3: `playbook.snapshots`", path.display());
    assert!(gone[0].text.starts_with(&place), "{}", gone[0].text);
}

#[test]
fn who_wanted_no_change_of_the_playbook_gets_none() {
    let (_keep, path) = file(b"[reflection]\ndry_run = true\nenabled = true\n");
    assert!(!load(&path).unwrap().reflection.enabled);
    let (_keep, path) = file(b"[reflection]\ndry_run = false\n");
    assert!(load(&path).unwrap().reflection.enabled);
}

#[test]
fn a_project_can_lower_what_the_user_allows() {
    let (_keep, path) = file(
        b"[budgets]\ncalls_per_day = 3\ntime_ms = 1\n[evidence]\ntokens = 500\n\
          [memory]\nmode = \"lite\"\n[reflection]\nenabled = false\n",
    );
    let mut config = Config::default();
    config.memory.mode = MemoryMode::Full;
    config.budgets.time_ms = Limit(0);
    load_project(&mut config, &path).unwrap();
    assert_eq!(config.budgets.calls_per_day, Limit(3));
    assert_eq!(config.budgets.time_ms, Limit(1));
    assert_eq!(config.evidence.tokens, 500);
    assert_eq!(config.memory.mode, MemoryMode::Lite);
    assert!(!config.reflection.enabled);
}

#[rstest]
#[case::nobody(None, None, false)]
#[case::user(Some("reflection.enabled = false"), None, true)]
#[case::project(None, Some("reflection.enabled = false"), true)]
#[case::project_says_on(
    Some("reflection.enabled = false"),
    Some("reflection.enabled = true"),
    false
)]
#[case::user_is_broken(Some("nonsense ["), None, false)]
#[case::off_though_the_user_is_broken(Some("nonsense ["), Some("reflection.enabled = false"), true)]
#[case::off_though_the_project_is_broken(Some("reflection.enabled = false"), Some("x = 1"), true)]
fn off_is_off_whatever_else_is_wrong(
    #[case] user: Option<&str>,
    #[case] own: Option<&str>,
    #[case] off: bool,
) {
    use crate::env::{Env, name};
    let dir = tempfile::tempdir().unwrap();
    let env = Env::from_pairs([
        (name::CONFIG_DIR, dir.path()),
        (name::STATE_DIR, dir.path()),
    ]);
    let paths = Paths::resolve(&env).unwrap();
    std::fs::create_dir(dir.path().join(".claude")).unwrap();
    for (file, text) in [
        (paths.config_file(), user),
        (project_config_file(dir.path()), own),
    ] {
        if let Some(text) = text {
            std::fs::write(file, text).unwrap();
        }
    }
    assert_eq!(unless_switched_off(&paths, dir.path()).is_none(), off);
}
