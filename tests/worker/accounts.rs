//! Promise: what is asked is what Claude Code itself would ask, and what `doctor` says; nothing
//! goes elsewhere, and no project that was only cloned has a say in it.

use super::backends::{FAKE, answering};
use crate::common::prelude::*;

/// A user's surroundings, and what follows from them. `{own}` and `{other}` are servers.
struct Case {
    name: &'static str,
    env: &'static str,
    /// The user's settings of Claude Code.
    user: &'static str,
    /// Those of the project.
    project: &'static str,
    is_accepted: bool,
    has_login: bool,
    /// The program or server that is asked.
    asked: Asked,
    /// Words of `doctor`'s sentence on who pays.
    pays: &'static str,
    /// Words of the environment of a client that is asked, or of the headers of a request.
    has: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Own,
    Client,
    Nobody,
}

const PLAIN: Case = Case {
    name: "nothing",
    env: "",
    user: "",
    project: "",
    is_accepted: false,
    has_login: false,
    asked: Asked::Nobody,
    pays: "nobody: nothing leaves this machine",
    has: "",
};

const KEY: &str =
    r#"{"env": {"ANTHROPIC_API_KEY": "sk-ant-of-settings", "ANTHROPIC_BASE_URL": "{own}"}}"#;
const HELPER: &str = r#"{"apiKeyHelper": "touch $HOME/helper-ran; echo sk-ant-of-helper"}"#;
/// All that a clone can say, to its own server.
const CLONE: &str = r#"{"apiKeyHelper": "touch $HOME/helper-ran", "env": {"ANTHROPIC_API_KEY": "sk-ant-of-clone",
    "ANTHROPIC_BASE_URL": "{other}", "ANTHROPIC_CUSTOM_HEADERS": "X-A: b", "AGENTIC_CONTEXT_BASE_URL": "{other}",
    "CLAUDE_CODE_USE_BEDROCK": "1"}}"#;

const CASES: &[Case] = &[
    PLAIN,
    Case {
        name: "key in the environment",
        env: "ANTHROPIC_API_KEY=sk-ant-own ANTHROPIC_BASE_URL={own}",
        has_login: true,
        asked: Asked::Own,
        pays: "the key in ANTHROPIC_API_KEY, at {own}",
        has: "x-api-key: sk-ant-own",
        ..PLAIN
    },
    Case {
        name: "key in the user's settings",
        user: KEY,
        has_login: true,
        asked: Asked::Own,
        pays: "the key in ANTHROPIC_API_KEY of ~/.claude/settings.json, at {own}",
        has: "x-api-key: sk-ant-of-settings",
        ..PLAIN
    },
    Case {
        name: "settings over the environment, token over key",
        env: "ANTHROPIC_API_KEY=sk-ant-own ANTHROPIC_BASE_URL={other}",
        user: r#"{"env": {"ANTHROPIC_AUTH_TOKEN": "t0ken", "ANTHROPIC_BASE_URL": "{own}"}}"#,
        asked: Asked::Own,
        pays: "the key in ANTHROPIC_AUTH_TOKEN of ~/.claude/settings.json, at {own}",
        has: "authorization: Bearer t0ken",
        ..PLAIN
    },
    Case {
        name: "login",
        has_login: true,
        asked: Asked::Client,
        pays: "the login of Claude Code in ",
        ..PLAIN
    },
    Case {
        name: "helper",
        user: HELPER,
        has_login: true,
        asked: Asked::Client,
        pays: "`apiKeyHelper` in ~/.claude/settings.json, through `claude -p`",
        ..PLAIN
    },
    Case {
        name: "helper and a gateway",
        env: "ANTHROPIC_BASE_URL={other} ANTHROPIC_CUSTOM_HEADERS=X-Gate:one",
        user: HELPER,
        asked: Asked::Client,
        pays: "through `claude -p`, at {other}",
        has: "ANTHROPIC_CUSTOM_HEADERS=X-Gate:one",
        ..PLAIN
    },
    Case {
        name: "key and headers",
        env: "ANTHROPIC_API_KEY=sk-ant-own ANTHROPIC_BASE_URL={own} ANTHROPIC_CUSTOM_HEADERS=X-Gate:hunter2hunter2",
        asked: Asked::Own,
        pays: "the key in ANTHROPIC_API_KEY, at {own}",
        has: "x-gate: hunter2hunter2",
        ..PLAIN
    },
    Case {
        name: "headers alone",
        user: r#"{"env": {"ANTHROPIC_BASE_URL": "{own}", "ANTHROPIC_CUSTOM_HEADERS": "X-Team: blue\nX-Gate: hunter2hunter2"}}"#,
        asked: Asked::Own,
        pays: "the headers in ANTHROPIC_CUSTOM_HEADERS of ~/.claude/settings.json, at {own}",
        has: "x-gate: hunter2hunter2",
        ..PLAIN
    },
    Case {
        name: "headers and a login",
        env: "ANTHROPIC_BASE_URL={other} ANTHROPIC_CUSTOM_HEADERS=X-Gate:one",
        has_login: true,
        asked: Asked::Client,
        pays: "the login of Claude Code in ",
        has: "ANTHROPIC_CUSTOM_HEADERS=X-Gate:one",
        ..PLAIN
    },
    Case {
        name: "Bedrock, a login and a key of another use",
        env: "CLAUDE_CODE_USE_BEDROCK=1 AWS_REGION=eu-west-1 AWS_PROFILE=work ANTHROPIC_API_KEY=sk-ant-other \
              ANTHROPIC_BASE_URL={other} ANTHROPIC_MODEL=eu.anthropic.opus ANTHROPIC_DEFAULT_HAIKU_MODEL=eu.small",
        has_login: true,
        asked: Asked::Client,
        pays: "the account at Amazon Bedrock (by CLAUDE_CODE_USE_BEDROCK)",
        has: "CLAUDE_CODE_USE_BEDROCK=1 AWS_REGION=eu-west-1 AWS_PROFILE=work --model=eu.small",
        ..PLAIN
    },
    Case {
        name: "Vertex by the settings",
        user: r#"{"env": {"CLAUDE_CODE_USE_VERTEX": 1, "CLOUD_ML_REGION": "eu", "ANTHROPIC_VERTEX_PROJECT_ID": "p"}}"#,
        asked: Asked::Client,
        pays: "Google Vertex AI (by CLAUDE_CODE_USE_VERTEX of ~/.claude/settings.json)",
        has: "CLAUDE_CODE_USE_VERTEX=1 CLOUD_ML_REGION=eu ANTHROPIC_VERTEX_PROJECT_ID=p --model=haiku",
        ..PLAIN
    },
    Case {
        name: "Foundry, and a key of our own",
        env: "CLAUDE_CODE_USE_FOUNDRY=1 ANTHROPIC_FOUNDRY_RESOURCE=r AGENTIC_CONTEXT_API_KEY=sk-ant-own \
              AGENTIC_CONTEXT_BASE_URL={other}",
        asked: Asked::Client,
        pays: "Microsoft Foundry",
        has: "ANTHROPIC_FOUNDRY_RESOURCE=r",
        ..PLAIN
    },
    Case {
        name: "Bedrock without the client",
        env: "CLAUDE_CODE_USE_BEDROCK=1 PATH=/usr/bin:/bin ANTHROPIC_API_KEY=sk-ant-own ANTHROPIC_BASE_URL={other}",
        ..PLAIN
    },
    Case {
        name: "a clone",
        project: CLONE,
        ..PLAIN
    },
    Case {
        name: "a clone, and a login",
        project: CLONE,
        has_login: true,
        asked: Asked::Client,
        pays: "the login of Claude Code in ",
        ..PLAIN
    },
    Case {
        name: "a clone, and a key of the user's",
        project: CLONE,
        env: "ANTHROPIC_API_KEY=sk-ant-own ANTHROPIC_BASE_URL={own}",
        asked: Asked::Own,
        pays: "the key in ANTHROPIC_API_KEY, at {own}",
        has: "x-api-key: sk-ant-own",
        ..PLAIN
    },
    Case {
        name: "a clone whose settings `claude -p` has taken",
        project: CLONE,
        env: "ANTHROPIC_API_KEY=sk-ant-own ANTHROPIC_BASE_URL={other}",
        has_login: true,
        ..PLAIN
    },
    Case {
        name: "an accepted project",
        project: KEY,
        is_accepted: true,
        has_login: true,
        asked: Asked::Own,
        pays: "/project/.claude/settings.local.json, at {own}",
        has: "x-api-key: sk-ant-of-settings",
        ..PLAIN
    },
];

impl Case {
    fn check(&self) {
        let (own, other) = (Api::canned(), Api::canned());
        let fill = |text: &str| {
            let text = text.replace("{own}", &own.base_url());
            text.replace("{other}", &other.base_url())
        };
        let mut env = TestEnv::with_point();
        env.set("PATH", format!("{FAKE}:/usr/bin:/bin"));
        env.write_config("[retry]\nbase_ms = 1\n");
        write(
            &env.home().join("play"),
            answering("{\"analysis\": \"well\"}"),
        );
        for pair in self.env.split_whitespace() {
            let (name, value) = pair.split_once('=').unwrap();
            env.set(name, fill(value));
        }
        let login = if self.has_login {
            json!({})
        } else {
            json!(null)
        };
        let state = json!({
            "oauthAccount": login,
            "projects": {env.project().to_str().unwrap(): {"hasTrustDialogAccepted": self.is_accepted}},
        });
        write(&env.home().join(".claude.json"), state.to_string());
        if !self.user.is_empty() {
            write(&env.client_settings(), fill(self.user));
        }
        if !self.project.is_empty() {
            env.write_project(".claude/settings.json", fill(self.project));
            env.write_project(".claude/settings.local.json", fill(self.project));
        }

        let doctor = doctor(&env);
        env.learn_citing("s1");
        let name = self.name;
        let calls = env.home().join("pids").exists();
        let asked = match (own.requests().is_empty(), calls) {
            (true, false) => Asked::Nobody,
            (false, false) => Asked::Own,
            (true, true) => Asked::Client,
            (false, true) => panic!("{name}: two were asked"),
        };
        assert_eq!(asked, self.asked, "{name}: {doctor:#}");
        assert_eq!(other.requests().len(), 0, "{name}");
        let backend = match asked {
            Asked::Own => "anthropic",
            Asked::Client => "claude-cli",
            Asked::Nobody => "rules",
        };
        assert_eq!(doctor["backend"], backend, "{name}");
        let pays = doctor["pays"].as_str().unwrap();
        assert!(pays.contains(&fill(self.pays)), "{name}: {pays}");
        assert!(!env.home().join("helper-ran").exists(), "{name}");
        for word in self
            .has
            .split_whitespace()
            .filter(|_| asked == Asked::Client)
        {
            let seen = env.client_saw();
            assert!(
                seen.contains(&format!("{word}\n")),
                "{name}: {word} in {seen}"
            );
        }
        for request in own.requests() {
            let (header, value) = self.has.split_once(": ").unwrap();
            assert_eq!(request.header(header), Some(value), "{name}");
        }
        let told = env.told_at_start("s9");
        let screens = [
            env.cli(&["status"]).ok(),
            env.cli(&["doctor"]).stdout,
            told.clone(),
        ];
        lacks!(
            screens.concat(),
            "hunter2",
            "sk-ant-",
            "t0ken",
            "helper-ran"
        );
        if asked == Asked::Nobody {
            lacks!(told, "sent today");
        } else {
            has!(told, "sent today (21 Nov): ", pays);
            lacks!(screens.concat(), "nobody");
            // By the ledger, whatever the settings say by now.
            env.write_config("backend = \"rules\"\n");
            let now = self::doctor(&env)["pays"].as_str().unwrap().to_owned();
            has!(now, "nobody now; ", "went out before");
        }
    }
}

fn doctor(env: &TestEnv) -> Value {
    serde_json::from_str(&env.cli(&["doctor", "--json"]).stdout).unwrap()
}

impl TestEnv {
    /// The environment of the client that was asked, and its model.
    fn client_saw(&self) -> String {
        let noted = |name: &str| fs::read_to_string(self.home().join(name)).unwrap();
        noted("environment") + &noted("arguments").replace("--model\n", "--model=")
    }
}

#[test]
fn what_is_asked_is_what_the_client_would_ask_and_what_doctor_says() {
    CASES.iter().for_each(Case::check);
}

/// The client runs the helper; its command is on no command line.
#[test]
fn a_helper_is_handed_to_the_client_in_a_file_that_is_gone_afterwards() {
    let mut env = TestEnv::with_point();
    env.set("PATH", format!("{FAKE}:/usr/bin:/bin"));
    env.write_client_settings(&json!({"apiKeyHelper": "echo sk-ant-of-helper"}));
    let play = "file=$(grep -A1 -x -e --settings \"$HOME/arguments\" | tail -1); cp \"$file\" \"$HOME/given\"";
    write(
        &env.home().join("play"),
        format!("{play}\n{}", answering("{\"analysis\": \"well\"}")),
    );
    env.learn_citing("s1");
    let given = fs::read_to_string(env.home().join("given")).unwrap();
    let given: Value = serde_json::from_str(&given).unwrap();
    assert_eq!(
        given,
        json!({"disableAllHooks": true, "apiKeyHelper": "echo sk-ant-of-helper"})
    );
    lacks!(env.client_saw(), "of-helper");
    env.assert_nowhere(
        &["of-helper"],
        &["home/.claude/settings.json", "home/given"],
    );
}
