//! Promise: whatever settings look like, our hooks come in, stay once, and leave them as
//! they were.

use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::merge::Earlier;
use super::registration::{Hooks, Spelling};
use super::settings::Settings;
use crate::env::{Env, name};
use crate::hook::HookEvent;
use crate::paths::Paths;

struct Home {
    dir: tempfile::TempDir,
    paths: Paths,
}

impl Home {
    fn new() -> Self {
        // In memory where the system offers that: this is not about the disk.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let dir = tempfile::tempdir_in(folder).unwrap();
        let at = |name: &str| dir.path().join(name);
        let env = Env::from_pairs([
            (name::CONFIG_DIR, at("config")),
            (name::STATE_DIR, at("state")),
            (name::CLAUDE_CONFIG_DIR, at("claude")),
        ]);
        let paths = Paths::resolve(&env).unwrap();
        Self { dir, paths }
    }

    fn settings(&self) -> Settings<'_> {
        let hooks = Hooks::of_client(self.paths.client(), None, Spelling::Path);
        Settings::new(&self.paths, self.paths.client_settings(), hooks)
    }

    fn write(&self, text: &str) {
        std::fs::create_dir_all(self.paths.client()).unwrap();
        std::fs::write(self.paths.client_settings(), text).unwrap();
    }

    fn text(&self) -> Option<String> {
        std::fs::read_to_string(self.paths.client_settings()).ok()
    }

    fn install(&self, earlier: Earlier) {
        let settings = self.settings();
        let plan = settings.plan_install(earlier).unwrap();
        settings.carry_out(&plan).unwrap();
    }

    fn uninstall(&self) {
        let settings = self.settings();
        if let Some(plan) = settings.plan_uninstall().unwrap() {
            settings.carry_out(&plan).unwrap();
        }
    }

    fn forget(&self) {
        let state = self.paths.state();
        if state.exists() {
            std::fs::remove_dir_all(state).unwrap();
        }
    }

    fn counts(&self) -> Vec<usize> {
        let hooks = Hooks::of_client(self.paths.client(), None, Spelling::Path);
        let all = super::registered(self.text().unwrap_or_default().as_bytes()).unwrap();
        HookEvent::ALL
            .into_iter()
            .map(|event| {
                let is_it = |told: &&super::Registered| {
                    told.event == event.client_name()
                        && hooks.named_in(&told.command) == Some(event)
                };
                all.iter().filter(is_it).count()
            })
            .collect()
    }
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        2 => Just(" ".to_owned()),
        2 => (0_usize..5).prop_map(|n| format!("\n{}", " ".repeat(n))),
        1 => (0_usize..3).prop_map(|n| format!("\r\n{}", "\t".repeat(n))),
        1 => Just("\t \n\n ".to_owned()),
    ]
}

/// What stands for a value that the user changes later.
const CHANGING: &str = "\"before\"";

const LOST: &str = "/gone/playbook/bin/session-end";

fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("true".to_owned()),
        Just("-1.5e3".to_owned()),
        Just("\"grüße \\u0061 ]}\\\"\"".to_owned()),
        Just("\"python3 ~/.claude/hooks/session_end.py\"".to_owned()),
        Just("null".to_owned()),
        Just("{ }".to_owned()),
        Just("[\n]".to_owned()),
        Just(CHANGING.to_owned()),
    ]
}

fn container(
    parts: impl Strategy<Value = Vec<String>>,
    open: char,
    close: char,
) -> impl Strategy<Value = String> {
    (parts, proptest::collection::vec(space(), 12)).prop_map(move |(parts, spaces)| {
        let mut spaces = spaces.iter().cycle();
        let mut next = || spaces.next().cloned().unwrap_or_default();
        let mut text = String::from(open);
        for (n, part) in parts.iter().enumerate() {
            if n > 0 {
                text.push(',');
            }
            text += &next();
            text += part;
            text += &next();
        }
        if parts.is_empty() {
            text += &next();
        }
        text.push(close);
        text
    })
}

fn member(
    key: &'static str,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    (space(), space(), value).prop_map(move |(a, b, value)| format!("\"{key}\"{a}:{b}{value}"))
}

fn command() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        Just("\"make lint\"".to_owned()),
        Just("\"python3 ~/.claude/hooks/session_end.py\"".to_owned()),
        Just(format!("\"{LOST}\"")),
        Just(CHANGING.to_owned()),
    ];
    let members = (
        member("type", Just("\"command\"".to_owned())),
        member("command", text),
    )
        .prop_map(|(a, b)| vec![a, b]);
    container(members, '{', '}')
}

fn event_list() -> impl Strategy<Value = String> {
    let commands = container(proptest::collection::vec(command(), 0..3), '[', ']');
    let entry = container(
        (
            proptest::option::of(member("matcher", Just("\"*\"".to_owned()))),
            member("hooks", commands),
        )
            .prop_map(|(matcher, hooks)| matcher.into_iter().chain([hooks]).collect()),
        '{',
        '}',
    );
    container(
        proptest::collection::vec(prop_oneof![4 => entry, 1 => leaf()], 0..3),
        '[',
        ']',
    )
}

fn hooks_object() -> impl Strategy<Value = String> {
    let event = prop_oneof![
        member("SessionStart", event_list()),
        member("SessionEnd", event_list()),
        member("Stop", event_list()),
    ];
    container(proptest::collection::vec(event, 0..3), '{', '}')
}

fn document() -> impl Strategy<Value = String> {
    let other = prop_oneof![
        member("model", leaf()),
        member("größe", leaf()),
        member(
            "permissions",
            container(proptest::collection::vec(leaf(), 0..3), '[', ']')
        ),
    ];
    let members = (
        proptest::collection::vec(other, 0..4),
        proptest::option::of(member("hooks", hooks_object())),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(mut members, hooks, at)| {
            let at = at.index(members.len() + 1);
            members.splice(at..at, hooks);
            members
        });
    (
        prop_oneof![4 => Just(""), 1 => Just("\u{feff}")],
        space(),
        container(members, '{', '}'),
        space(),
    )
        .prop_map(|(bom, before, object, after)| format!("{bom}{before}{object}{after}"))
}

fn pruned(value: Value) -> Value {
    let is_empty = |value: &Value| {
        value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(serde_json::Map::is_empty)
    };
    match value {
        Value::Array(items) => {
            let items = items.into_iter().map(pruned);
            Value::Array(items.filter(|item| !is_empty(item)).collect())
        }
        Value::Object(map) => {
            let members = map.into_iter().map(|(key, value)| (key, pruned(value)));
            Value::Object(members.filter(|(_, value)| !is_empty(value)).collect())
        }
        other => other,
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

fn earlier() -> impl Strategy<Value = Earlier> {
    prop_oneof![Just(Earlier::Keep), Just(Earlier::Replace)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn install_twice_then_uninstall_gives_back_the_very_bytes(
        text in document(),
        earlier in earlier(),
    ) {
        let home = Home::new();
        home.write(&text);
        home.install(earlier);
        let once = home.text();
        prop_assert_eq!(home.counts(), vec![1; HookEvent::ALL.len()]);
        home.install(earlier);
        prop_assert_eq!(home.text(), once);
        home.uninstall();
        prop_assert_eq!(home.text(), Some(text));
        prop_assert!(!home.paths.state().exists(), "no trace");
    }

    #[test]
    fn what_the_user_changes_in_between_stays_and_ours_leaves(text in document()) {
        let home = Home::new();
        home.write(&text);
        home.install(Earlier::Keep);
        let change = |text: &str| text.replace(CHANGING, "\"and after, longer\"");
        home.write(&change(&home.text().unwrap()));
        home.uninstall();
        prop_assert_eq!(home.text(), Some(change(&text)));
    }

    #[test]
    fn what_is_mended_by_a_second_install_leaves_as_well(
        text in document(),
        lost in 0..HookEvent::ALL.len(),
    ) {
        prop_assume!(!text.contains(LOST));
        let home = Home::new();
        home.write(&text);
        home.install(Earlier::Keep);
        // The user took one of ours out by hand, and changed something else.
        let lost = format!("playbook/bin/{}\"", HookEvent::ALL[lost].name());
        let now = home.text().unwrap().replacen(&lost, "elsewhere\"", 1);
        home.write(&now.replace(CHANGING, "\"after\""));
        home.install(Earlier::Keep);
        prop_assert_eq!(home.counts(), vec![1; HookEvent::ALL.len()]);
        home.uninstall();
        prop_assert_eq!(home.counts(), vec![0; HookEvent::ALL.len()]);
        let others = super::registered(home.text().unwrap().as_bytes()).unwrap();
        let before = super::registered(text.as_bytes()).unwrap();
        // What they made of it stays: it is theirs now.
        prop_assert_eq!(others.len(), before.len() + 1);
        prop_assert!(!home.text().unwrap().contains(CHANGING));
    }

    #[test]
    fn ours_leave_all_the_same_from_what_was_written_anew_or_has_no_record(
        text in document(),
        is_rewritten in any::<bool>(),
    ) {
        // A command that led nowhere was mended, so it leaves as well.
        prop_assume!(!text.contains(LOST));
        let home = Home::new();
        home.write(&text);
        home.install(Earlier::Keep);
        if is_rewritten {
            let value = parsed(&home.text().unwrap());
            home.write(&serde_json::to_string_pretty(&value).unwrap());
        } else {
            home.forget();
        }
        home.uninstall();
        let left = home.text().unwrap();
        prop_assert_eq!(home.counts(), vec![0; HookEvent::ALL.len()]);
        prop_assert_eq!(pruned(parsed(&left)), pruned(parsed(&text)));
    }
}

#[test]
fn settings_that_we_made_stay_with_what_the_user_added() {
    let home = Home::new();
    home.install(Earlier::Keep);
    let text = home.text().unwrap();
    home.write(&text.replacen('{', "{\n  \"model\": \"opus\",", 1));
    home.uninstall();
    assert_eq!(home.text().unwrap(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_link_stays_a_link_also_where_it_led_nowhere() {
    let home = Home::new();
    let (real, link) = (
        home.dir.path().join("dotfiles.json"),
        home.paths.client_settings(),
    );
    std::fs::create_dir_all(home.paths.client()).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    home.install(Earlier::Keep);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink() && real.is_file());
    home.uninstall();
    assert!(!real.exists() && link.symlink_metadata().unwrap().is_symlink());
    std::fs::write(&real, "{\"a\":1}").unwrap();
    home.install(Earlier::Keep);
    assert_ne!(std::fs::read_to_string(&real).unwrap(), "{\"a\":1}");
    home.uninstall();
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "{\"a\":1}");
    assert!(link.symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_file_that_is_no_json_is_left_alone_and_the_line_is_named() {
    let home = Home::new();
    for (text, line) in [
        ("{\n  // my hooks\n  \"a\": 1\n}", "line 2"),
        ("{\n  \"a\": 1,\n}", "line 3"),
        ("{\"a\": 1", "line 1"),
        ("[]", "line 1: not an object"),
        ("{\n\"hooks\": []}", "line 2: `hooks` is not an object"),
        (
            "{\"hooks\": {\n\"SessionEnd\": {}}}",
            "line 2: `hooks.SessionEnd` is not a list",
        ),
    ] {
        home.write(text);
        let error = home
            .settings()
            .plan_install(Earlier::Keep)
            .unwrap_err()
            .to_string();
        assert!(error.contains(line), "{error}");
        assert_eq!(home.text().unwrap(), text);
    }
    assert!(!Path::new(home.paths.state()).exists());
}

#[test]
fn ours_look_like_the_rest() {
    let home = Home::new();
    let command = |name: &str| format!("{}/playbook/bin/{name}", home.paths.client().display());
    home.write("{\"model\": \"opus\", \"hooks\": {\"SessionEnd\": []}}\n");
    home.install(Earlier::Keep);
    let entry = |name: &str| {
        format!(
            "[{{\"hooks\": [{{\"type\": \"command\", \"command\": \"{}\"}}]}}]",
            command(name)
        )
    };
    let text = home.text().unwrap();
    let begin = format!(
        "{{\"model\": \"opus\", \"hooks\": {{\"SessionEnd\": {}, ",
        entry("session-end")
    );
    assert!(text.starts_with(&begin), "{text}");
    assert!(
        text.contains(&format!("\"SessionStart\": {}", entry("session-start"))),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1);

    home.uninstall();
    home.write("{\r\n\t\"a\": 1\r\n}");
    home.install(Earlier::Keep);
    let text = home.text().unwrap();
    let begin = "{\r\n\t\"a\": 1,\r\n\t\"hooks\": {\r\n\t\t\"SessionStart\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": [\r\n\t\t\t\t\t{\r\n\t\t\t\t\t\t\"type\": \"command\",\r\n";
    assert!(text.starts_with(begin), "{text}");
    assert!(text.ends_with("]\r\n\t}\r\n}"), "{text}");
}
