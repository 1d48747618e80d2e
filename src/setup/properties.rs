//! Property: in any settings, our hooks can be added, stay registered once, and are removed without
//! a trace.

use serde_json::Value;

use super::registration::{Hooks, Spelling};
use super::settings::ClientSettings;
use crate::env::{Env, name};
use crate::hook::HookEvent;
use crate::paths::Paths;

/// The place of a value that the user changes later.
const CHANGING: &str = "\"before\"";
/// A command of an installation of ours that was removed.
const LOST: &str = "/gone/playbook/bin/session-end";

/// Settings in the layouts that people and programs write.
const DOCUMENTS: [&str; 12] = [
    "{}",
    "\u{feff} {\n}\n",
    "{\"a\": \"before\"}",
    "{\"größe\":\"grüße \\u0061 ]}\\\"\",\"hooks\":{}}",
    "{\r\n\t\"a\" : [ \"before\", null ]\r\n}\r\n",
    "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"SessionEnd\": [\n    ]\n  },\n  \"a\": \"before\"\n}",
    "{\"hooks\": {\"SessionEnd\": [{\"matcher\": \"*\", \"hooks\": []}, true, {\"hooks\": 1}]}}",
    "{ \"hooks\" : { \"SessionStart\":[{\"hooks\":[{\"command\":\"make lint\",\"type\":\"command\"} ]}]} , \"a\":-1.5e3}",
    "{\n\"hooks\": {\"SessionEnd\": [{\"hooks\": [\n{\"type\": \"command\", \"command\": \"before\"}]}]}\n}",
    "{\"hooks\": {\"SessionEnd\": [{\"hooks\": [{\"command\": \"/gone/playbook/bin/session-end\"}]}]}}",
    "{\"hooks\": {\"SessionEnd\": [{\"hooks\": [{\"command\": \"python3 ~/.claude/hooks/session_end.py\"}, {\"command\": \"before\"}]}]}}",
    "{\n    \"permissions\": {\"allow\": [\n    ]},\n\n  \"hooks\":\n  {\"SessionEnd\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"python3 ~/.claude/hooks/session_end.py\"}]}]} }\t \n\n ",
];

struct Home {
    dir: tempfile::TempDir,
    paths: Paths,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let env = Env::from_pairs([
            (name::CONFIG_DIR, at("config")),
            (name::STATE_DIR, at("state")),
            (name::CLAUDE_CONFIG_DIR, at("claude")),
        ]);
        let paths = Paths::resolve(&env).unwrap();
        Self { dir, paths }
    }

    fn with(text: &str) -> Self {
        let home = Self::new();
        home.write(text);
        home
    }

    fn hooks(&self) -> Hooks {
        Hooks::of_client(self.paths.client(), None, Spelling::Path)
    }

    fn settings(&self) -> ClientSettings<'_> {
        ClientSettings::new(&self.paths, self.paths.client_settings(), self.hooks())
    }

    fn write(&self, text: &str) {
        std::fs::create_dir_all(self.paths.client()).unwrap();
        std::fs::write(self.paths.client_settings(), text).unwrap();
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.paths.client_settings()).unwrap()
    }

    fn install(&self) {
        let settings = self.settings();
        let plan = settings.plan_install().unwrap();
        settings.carry_out(&plan).unwrap();
    }

    fn uninstall(&self) {
        let settings = self.settings();
        if let Some(plan) = settings.plan_uninstall().unwrap() {
            settings.carry_out(&plan).unwrap();
        }
    }

    fn counts(&self) -> Vec<usize> {
        let all = super::registered(self.text().as_bytes()).unwrap();
        let count = |event: HookEvent| {
            let named = all.iter().filter(|hook| hook.event == event.client_name());
            let ours = named.filter(|hook| self.hooks().named_in(&hook.command) == Some(event));
            ours.count()
        };
        HookEvent::REGISTERED.into_iter().map(count).collect()
    }
}

fn pruned(value: Value) -> Value {
    let is_empty = |value: &Value| matches!(value.to_string().as_str(), "[]" | "{}");
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

#[test]
fn install_twice_then_uninstall_gives_back_the_very_bytes() {
    for text in DOCUMENTS {
        let home = Home::with(text);
        home.install();
        let once = home.text();
        assert_eq!(
            home.counts(),
            vec![1; HookEvent::REGISTERED.len()],
            "{once}"
        );
        home.install();
        assert_eq!(home.text(), once);
        home.uninstall();
        assert_eq!(home.text(), text);
        assert!(!home.paths.state().exists(), "no trace");
    }
}

#[test]
fn what_the_user_changes_in_between_stays_and_ours_leaves() {
    for text in DOCUMENTS {
        let home = Home::with(text);
        home.install();
        let change = |text: &str| text.replace(CHANGING, "\"and after, longer\"") + "\n";
        home.write(&change(&home.text()));
        home.uninstall();
        let expected = change(text).replace(LOST, "");
        let lost = text.contains(LOST).then(|| parsed("{}"));
        let left = pruned(parsed(&home.text()));
        assert_eq!(left, lost.unwrap_or_else(|| pruned(parsed(&expected))));
    }
}

#[test]
fn ours_leave_all_the_same_from_what_was_written_anew_or_has_no_record() {
    for text in DOCUMENTS.into_iter().filter(|text| !text.contains(LOST)) {
        for is_rewritten in [true, false] {
            let home = Home::with(text);
            home.install();
            if is_rewritten {
                let value = parsed(&home.text());
                home.write(&serde_json::to_string_pretty(&value).unwrap());
            } else {
                std::fs::remove_dir_all(home.paths.state()).unwrap();
            }
            home.uninstall();
            assert_eq!(pruned(parsed(&home.text())), pruned(parsed(text)));
        }
    }
}

#[test]
fn settings_that_we_made_stay_with_what_the_user_added() {
    let home = Home::new();
    home.install();
    home.write(&home.text().replacen('{', "{\n  \"model\": \"opus\",", 1));
    home.uninstall();
    assert_eq!(home.text(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_link_stays_a_link_also_where_it_led_nowhere() {
    let home = Home::new();
    let real = home.dir.path().join("dotfiles.json");
    let link = home.paths.client_settings();
    std::fs::create_dir_all(home.paths.client()).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    home.install();
    assert!(link.is_symlink() && real.is_file());
    home.uninstall();
    assert!(link.is_symlink() && !real.exists());
    std::fs::write(&real, "{\"a\":1}").unwrap();
    home.install();
    home.uninstall();
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "{\"a\":1}");
    assert!(link.is_symlink());
}

#[test]
fn a_file_that_is_no_json_is_left_alone_and_the_line_is_named() {
    for (text, line) in [
        ("{\n  // my hooks\n  \"a\": 1\n}", "line 2"),
        ("{\n  \"a\": 1,\n}", "line 3"),
        ("[]", "line 1: not an object"),
        ("{\n\"hooks\": []}", "line 2: `hooks` is not an object"),
        (
            "{\"hooks\": {\n\"SessionEnd\": {}}}",
            "line 2: `hooks.SessionEnd` is not a list",
        ),
    ] {
        let home = Home::with(text);
        let error = home.settings().plan_install().unwrap_err();
        assert!(error.to_string().contains(line), "{error}");
        assert_eq!(home.text(), text);
        assert!(!home.paths.state().exists());
    }
}

#[test]
fn half_a_surrogate_pair_hides_no_hook() {
    let home = Home::with("{\"a\": \"\\ud83d\", \"b\": {}}");
    home.install();
    assert_eq!(home.counts(), vec![1; HookEvent::REGISTERED.len()]);
    std::fs::remove_dir_all(home.paths.state()).unwrap();
    home.uninstall();
    assert_eq!(home.text(), "{\"a\": \"\\ud83d\", \"b\": {}}");
}

#[test]
fn ours_look_like_the_rest() {
    let home = Home::with("{\r\n\t\"a\": 1\r\n}");
    home.install();
    let text = home.text();
    let begin = "{\r\n\t\"a\": 1,\r\n\t\"hooks\": {\r\n\t\t\"SessionStart\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": [\r\n";
    assert!(text.starts_with(begin), "{text}");
    assert!(text.ends_with("]\r\n\t}\r\n}"), "{text}");
}
