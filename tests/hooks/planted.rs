//! Promise: a secret that a session holds is in no request, no file, no log and no answer
//! afterwards, wherever in the session it stands; what only looks like one is still there.

use std::path::PathBuf;

use crate::common::api::{Api, Step};
use crate::common::env::{Hook, TestEnv};
use crate::common::session::Session;
use serde_json::json;

/// Secrets as they stand in texts; what must be gone stands in `«»`. A `¦` is no part of
/// them: it keeps other people's scanners from taking these for leaks.
const PLANTED: &[(&str, &str)] = &[
    ("aws key id", "aws configure set id «AKIA¦Q3EGRZ7LPXV2MT4S»"),
    (
        "aws secret",
        "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz19Q»",
    ),
    (
        "gcp key",
        "maps key «AIza¦SyD4k9vQ2mZxT7nB1cL8wR5hJ3fG6pK0aE»",
    ),
    (
        "gcp client secret",
        "oauth «GOCSPX-¦k3Jd92mLqPz71xVbNcRtYw5sHg4A»",
    ),
    (
        "azure storage",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm8xMg==»;EndpointSuffix=core.windows.net",
    ),
    (
        "digitalocean",
        "doctl auth init «dop_v1_¦3f9a1c7e5b2d8f604a6c1e3b5d7f90123456789abcdef0123456789abcdef012»",
    ),
    (
        "cloudflare by name",
        "CLOUDFLARE_API_TOKEN=«v8Qn2kLr5TzX9mBcW1dFgH4jPsY7eA0u»",
    ),
    (
        "github classic",
        "git push https://«ghp_¦a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8»@github.com/a/b",
    ),
    (
        "github fine",
        "gh «github_pat_¦11ABCDEFG0a1b2c3d4e5f6_g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x4y5z6A7B8C9D0E1F2»",
    ),
    ("gitlab", "glab auth login -t «glpat-¦x9Kq2LmN7pRs4TvW1yZ3»"),
    (
        "bitbucket",
        "app pw «ATBB¦k9Lm2Np4Qr6St8Uv0Wx1Yz3Ab5Cd7Ef9»",
    ),
    (
        "npm",
        "//registry.npmjs.org/:_authToken=«npm_¦q8W2e4R6t0Y1u3I5o7P9a2S4d6F8g0H1j3K5»",
    ),
    (
        "pypi",
        "twine -u __token__ «pypi-¦AgEIcHlwaS5vcmcCJDEyMzQ1Njc4LTkwYWItY2RlZi0xMjM0LTU2Nzg5MGFiY2RlZgACKlszLCJh»",
    ),
    (
        "crates",
        "cargo login «cio¦k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEo»",
    ),
    (
        "rubygems",
        "gem «rubygems_¦0123456789abcdef0123456789abcdef0123456789abcdef»",
    ),
    (
        "docker",
        "docker login -u me -p «dckr_pat_¦k3Jd92mLqPz71xVbNcRtYw5sHg4»",
    ),
    (
        "slack bot",
        "SLACK «xoxb-¦210987654321-2109876543210-a1B2c3D4e5F6g7H8i9J0k1L2»",
    ),
    (
        "slack hook",
        "curl https://hooks.slack.com/services/«T0¦1AB2CD3E/B04FG5HI6J/k7Lm8No9Pq0Rs1Tu2Vw3Xy4Z»",
    ),
    (
        "discord hook",
        "https://discord.com/api/webhooks/«9876543210987654321/¦k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEoZx1Cv2Bn3M»",
    ),
    (
        "telegram",
        "https://api.telegram.org/bot«7123456789:¦AAk3Jd92mLqPz71xVbNcRtYw5sHg4A8uEoZ»/sendMessage",
    ),
    (
        "teams hook",
        "https://corp.webhook.office.com/webhookb2/«1a2b3c4d-1111-2222-3333-44445555¦6666@7777/IncomingWebhook/89ab»",
    ),
    (
        "stripe",
        "stripe.api_key = '«sk_live_¦51H8k3Jd92mLqPz71xVbNcRt»'",
    ),
    (
        "stripe hook secret",
        "endpoint «whsec_¦k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEo»",
    ),
    ("square", "square «sq0atp-¦k3Jd92mLqPz71xVbNcRtYw»"),
    (
        "paypal",
        "PAYPAL_CLIENT_SECRET=\"«EGnHDxD_qRPdaLdZz8iCr8N7_MzF-YHPTkjs6NKYQvQSBngp4PTTVWkPZRbL»\"",
    ),
    (
        "anthropic",
        "export ANTHROPIC_API_KEY=«sk-ant-¦api03-k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEo»",
    ),
    (
        "openai",
        "openai «sk-proj-¦k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEoT3BlbkFJ»",
    ),
    (
        "openai old",
        "«sk-¦k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEoZx1Cv2Bn3M4kL5» is it",
    ),
    (
        "hugging face",
        "huggingface-cli login --token «hf_¦k3JdLqPzxVbNcRtYwsHgAuEoZxCvBnMkLq»",
    ),
    (
        "groq",
        "«gsk_¦k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEoZx1Cv2Bn3M4kL5Qw6Er7»",
    ),
    (
        "jwt",
        "cookie eyJ: «eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJrM0pkOTJtTHFQejcxeFZiIn0.k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEoZx1Cv2Bn3M4»",
    ),
    (
        "pem",
        "key:\n«-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAk3Jd92mLqPz71xVbNcRtYw5sHg4A8uEoZx1Cv2Bn3M4kL5Qw\n6Er7k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEoZx1Cv2==\n-----END RSA PRIVATE KEY-----»\nend",
    ),
    (
        "pem in json",
        "{\"private_key\": \"«-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\\nCk3Jd92mLqPz71x\\n-----END PRIVATE KEY-----»\\n\"}",
    ),
    (
        "postgres",
        "DATABASE postgres://svc:«k3Jd9-2mLqPz»@db.internal:5432/app",
    ),
    (
        "mongo",
        "mongodb+srv://root:«Vb7%21NcRt»@cluster0.abcde.mongodb.net/x",
    ),
    ("redis", "redis://:«qPz71xVbNc»@cache:6379/0"),
    (
        "oracle",
        "sqlplus app/«qPz71xVbNcRt»@db.internal:1521/X @patch.sql",
    ),
    (
        "go dsn",
        "sql.Open(\"mysql\", \"svc:«qPz71xVbNcRt9»@tcp(db:3306)/x\")",
    ),
    (
        "signed url",
        "https://storage.googleapis.com/a/b?X-Goog-Signature=«5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7»",
    ),
    ("setter", "ds.setPassword(\"«qPz71xVbNcRt8»\");"),
    (
        "name and value",
        "- name: API_TOKEN\n  value: «qPz71xVbNcRtYw5sHg4A»\n",
    ),
    ("fallback", "process.env.JWT_SECRET || '«qPz71xVbNcRtYw5s»'"),
    (
        "piped",
        "echo '«qPz71xVb7»' | sudo -S systemctl restart app",
    ),
    (
        "any scheme",
        "Authorization: GenieKey «31b6fd09-761d-478d-94cd-9428206c4be4»",
    ),
    (
        "ado",
        "Server=tcp:x;Database=d;User ID=sa;Password=«P@ssk3Jd92»;Encrypt=True",
    ),
    (
        "bearer",
        "curl -H 'Authorization: Bearer «k3Jd92mLqPz71xVbNcRtYw5sHg»' https://x",
    ),
    (
        "basic",
        "curl -H \"Authorization: Basic «c3ZjOmszSmQ5Mm1McVB6»\" https://x",
    ),
    ("proxy", "Proxy-Authorization: Basic «cHJveHk6azNKZDkybUxx»"),
    ("x-api-key", "-H \"X-Api-Key: «k3Jd92mLqPz71xVb»\""),
    ("cookie", "Cookie: sessionid=«k3jd92mlqpz71xvb»; theme=dark"),
    (
        "set-cookie",
        "Set-Cookie: sid=«s%3Ak3Jd92mLqPz71x.Vb»; Path=/; HttpOnly",
    ),
    ("env", "DB_PASSWORD=«correcthorse9»"),
    ("env quoted", "export APP_SECRET='«k3Jd92 mLqPz71x»'"),
    (
        "json",
        "{\"user\": \"me\", \"password\": \"«tr0ub4dor&3»\"}",
    ),
    (
        "json in json",
        "{\\\"client_secret\\\": \\\"«k3Jd92mLqPz71xVb»\\\"}",
    ),
    ("yaml", "  password: «k3Jd-92mLqPz!»\n  user: me"),
    ("flag", "deploy --password «k3Jd92mLq» --region eu"),
    ("mysql", "mysql -h db -u root -p«k3Jd92mLq» app"),
    ("curl user", "curl -u admin:«k3Jd92mLq» https://x"),
    ("netrc", "machine api.x.com login me password «k3Jd92mLq»"),
    (
        "private",
        "«<private>my aunt is called Brunhilde</private>» ok",
    ),
    (
        "private open",
        "fine «<private>my uncle is called Kunibert»",
    ),
    (
        "telling url",
        "https://x.io/cb?access_token=«k3Jd92mLqPz71xVb»&state=1",
    ),
    (
        "age",
        "«AGE-SECRET-KEY-1¦QZ3XK9JD92MLQPZ71XVBNCRTYW5SHG4A8UEOZX1CV2BN3M4KL5QW6»",
    ),
    (
        "sendgrid",
        "«SG.¦k3Jd92mLqPz71xVbNcRtYw.k3Jd92mLqPz71xVbNcRtYw5sHg4A8uEoZx1Cv2Bn3M4»",
    ),
];

/// What looks like a secret and must stay.
const LOOK_ALIKES: &[&str] = &[
    "3f786850e387550fdab836ed7e6dc881de23001b",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha512-9NykojV5Uih4lgo5So5dtw+f0JgJX30KCNI8gwhz2J9A15wD0Ml6tjHKwf6fTSa6fAdVBdZeNOs9eJ71qCk8vA==",
    "API_KEY=<your-key>",
    "api_key: \"xxxxxxxxxxxxxxxx\"",
    "TOKEN=$TOKEN",
    "GH_TOKEN: ${{ secrets.X }}",
    "apiKey: process.env.X",
    "OPENAI_API_KEY=YOUR_API_KEY",
    "password: string",
    "max_tokens: 8192",
    "postgres://$USER:$PASS@localhost/db",
];

fn plain(text: &str) -> String {
    text.replace(['«', '»', '¦'], "")
}

/// What must be gone, in all forms in which it can stand in a file.
fn needles() -> Vec<(&'static str, String)> {
    let mut needles = Vec::new();
    for (name, text) in PLANTED {
        let text = text.replace('¦', "");
        let secret = text.split('«').nth(1).and_then(|s| s.split('»').next());
        let secret = secret.expect("a secret in brackets");
        for line in secret.split(['\n', ' ']).flat_map(|line| line.split("\\n")) {
            let is_header =
                line.len() < 8 || line.contains("PRIVATE") || line.contains("<private>");
            if !is_header {
                needles.push((*name, line.to_owned()));
            }
        }
    }
    needles.push(("private", "Brunhilde".to_owned()));
    needles.push(("private open", "Kunibert".to_owned()));
    needles
}

/// A session in which each secret stands in each kind of place.
fn session() -> Session {
    let mut session = Session::new("s1");
    session.user(&format!("please set it up: {}", LOOK_ALIKES.join("\n")));
    for (name, text) in PLANTED {
        let text = plain(text);
        // Around the places at which texts are cut.
        let long = format!(
            "{}\n{text}\n{}",
            "line of output\n".repeat(180),
            "more\n".repeat(900)
        );
        session
            .user(&format!("always use this for {name}: {text}"))
            .assistant(&format!("By [pat-001] I use {text}"))
            .ran(&format!("echo {name}; {text}"), &text)
            .failed(
                &format!("run {name}"),
                &format!("Exit code 1\nerror: {text}"),
            )
            .failed(&format!("{}{text}", "x ".repeat(170)), &long)
            .tool_error(
                "Edit",
                &json!({"file_path": "/a.rs", "new_string": text}),
                "not found",
            )
            .tool(
                "Read",
                &json!({"file_path": "/home/user/project/a.rs"}),
                &text,
            )
            .rejected(
                "Write",
                &json!({"file_path": "/a.rs", "content": text}),
                &format!("no: {text}"),
            )
            .tool("Task", &json!({"prompt": text}), &format!("found {text}"));
    }
    session
        .tool_error(
            "Read",
            &json!({"file_path": "/home/user/project/.env"}),
            "PLAIN=nobody-would-know-this",
        )
        .failed("cat .env", "Exit code 1\nPLAIN=nobody-would-know-this");
    session
}

/// A reply that repeats everything it should not, as both questions expect it.
fn chatty(_: &str) -> String {
    let all: Vec<String> = PLANTED.iter().map(|(_, text)| plain(text)).collect();
    let operations: Vec<_> = all
        .iter()
        .take(8)
        .map(|text| json!({"type": "ADD", "section": "OTHERS", "text": format!("remember {text}")}))
        .collect();
    json!({
        "analysis": all.join("\n"),
        "bullet_tags": [{"name": "pat-001", "tag": "helpful", "rationale": all[44]}],
        "reflection": all[20..].join("\n"), "strategy": all[..20].join("\n"),
        "tags": ["a"], "issues": all, "confidence": 0.9, "importance": 0.9,
        "reasoning": all.join("\n"), "operations": operations,
    })
    .to_string()
}

#[track_caller]
fn assert_clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let found: Vec<_> = needles()
        .into_iter()
        .filter(|(_, needle)| text.contains(needle.as_str()))
        .collect();
    if let Some((name, needle)) = found.first() {
        let at = text.find(needle.as_str()).unwrap_or_default();
        let around: String = text[..at].chars().rev().take(60).collect();
        let around: String = around.chars().rev().collect();
        panic!("{what} holds {name}: …{around}{needle}");
    }
    assert!(
        !text.contains("nobody-would-know-this"),
        "{what} holds a file never to be read"
    );
}

/// All files but those the test itself wrote.
fn written(env: &TestEnv, ours: &[PathBuf]) -> Vec<(PathBuf, Vec<u8>)> {
    let files = env.files().into_iter();
    files
        .map(|(path, bytes)| (env.root().join(path), bytes))
        .filter(|(path, _)| !ours.contains(path))
        .collect()
}

#[test]
fn planted_secrets_are_nowhere_afterwards() {
    let error = PLANTED
        .iter()
        .map(|(_, text)| plain(text))
        .collect::<Vec<_>>();
    let api = Api::script([Step::error(401, "authentication_error", &error[25])]);
    let mut env = TestEnv::new();
    env.write_playbook(&[
        ("pat-001", "run the tests"),
        ("oth-001", "password=k3Jd92mLqPz71xVb"),
    ]);
    let transcript = env.write_transcript(&session());
    env.use_api(&api.base_url(), "sk-ant-our-own-key-0123456789");
    env.write_config(
        "[retry]\nattempts = 1\nbase_ms = 1\n[evidence]\ntokens = 400000\n[budgets]\ntokens = 0\n",
    );
    env.set("PLAYBOOK_DEBUG", env.root().join("debug"));
    let ours = [transcript.clone()];

    // Refused, with a key in the refusal: the job waits with its evidence.
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.settle();
    assert_eq!(env.spool().len(), 1, "the job waits");
    assert!(!api.requests().is_empty());
    for (path, bytes) in written(&env, &ours) {
        if path != env.playbook_path() {
            assert_clean(&path.display().to_string(), &bytes);
        }
    }

    // Answered, with all secrets in the answer.
    api.now([Step::Answer(chatty)]);
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.settle();
    assert!(
        env.spool().is_empty() && env.failed().is_empty(),
        "{:?}",
        env.reasons()
    );
    for request in api.requests() {
        assert_clean("a request", &request.body);
    }
    for (path, bytes) in written(&env, &ours) {
        assert_clean(&path.display().to_string(), &bytes);
    }
    for args in [&["show"][..], &["log"], &["jobs"], &["export"], &["doctor"]] {
        let output = env.cli(args);
        assert_clean(&format!("{args:?}"), format!("{output:?}").as_bytes());
    }
    let path = transcript.display().to_string();
    assert_clean("evidence", env.cli(&["evidence", &path]).ok().as_bytes());

    let prompts: String = api
        .requests()
        .iter()
        .map(crate::common::api::Request::prompt)
        .collect();
    let folded = prompts.split_whitespace().collect::<Vec<_>>().join(" ");
    for look_alike in LOOK_ALIKES {
        assert!(folded.contains(look_alike), "{look_alike} is gone");
    }
    let log = std::fs::read_to_string(env.state().join("log/playbook.log")).unwrap();
    has!(log, "masked: ", "gitlab-token ");
}

#[test]
fn a_key_in_a_playbook_edited_by_hand_is_not_injected() {
    let env = TestEnv::without_worker();
    let points: Vec<(String, String)> = (1..)
        .zip(PLANTED)
        .map(|(n, (_, text))| (format!("oth-{n:03}"), format!("note {}", plain(text))))
        .collect();
    env.write_playbook(&points);
    let context = env.hook(Hook::SessionStart, "s1", json!({})).context();
    has!(context, "[masked gitlab-token]");
    assert_clean("the context", context.as_bytes());
}

#[test]
fn the_filter_masks_a_stream_of_any_length() {
    let env = TestEnv::new();
    let mut input = String::new();
    for (n, (_, text)) in PLANTED
        .iter()
        .enumerate()
        .filter(|(_, (name, _))| *name != "private open")
    {
        // Across all borders of chunks.
        input.push_str(&"x y\n".repeat(9_000 + n));
        input.push_str(&plain(text));
        input.push('\n');
    }
    input.push_str(&LOOK_ALIKES.join("\n"));
    let output = env.cli_with(&["redact"], input.as_bytes()).ok();
    assert!(!output.contains("k3Jd92mLqPz71xVb"), "a secret");
    for (name, needle) in needles().iter().filter(|(name, _)| *name != "private open") {
        assert!(!output.contains(needle.as_str()), "{name}");
    }
    assert!(output.ends_with(&LOOK_ALIKES.join("\n")));
}

#[test]
fn own_patterns_and_own_files_are_kept_out_too() {
    let api = Api::canned();
    let mut env = TestEnv::new();
    let session = Session::new("s1")
        .user("the ticket is ACME-4711-77, always read notes.txt")
        .tool(
            "Read",
            &json!({"file_path": "/p/notes.txt"}),
            "nobody-would-know-this",
        )
        .tool_error(
            "Edit",
            &json!({"file_path": "/p/notes.txt", "old_string": "nobody-would-know-this"}),
            "<tool_use_error>String to replace not found in file.\nString: nobody-would-know-this</tool_use_error>",
        )
        .assistant("By [pat-001], done: ACME-4711-77.").done();
    env.write_playbook(&[("pat-001", "run the tests")]);
    let transcript = env.write_transcript(&session);
    env.use_api(&api.base_url(), "sk-ant-our-own-key-0123456789");
    env.write_config("[secrets]\npatterns = ['ACME-[0-9-]+']\nnever_read = ['notes.*']\n");
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.settle();
    assert!(!api.requests().is_empty());
    let everything = api.requests().into_iter().map(|r| r.body);
    let files = written(&env, &[transcript])
        .into_iter()
        .map(|(_, bytes)| bytes);
    for bytes in everything.chain(files) {
        let text = String::from_utf8_lossy(&bytes);
        lacks!(text, "ACME-4711", "nobody-would-know");
    }
}

#[test]
fn a_pattern_that_cannot_be_used_is_named_and_jobs_wait() {
    let api = Api::canned();
    let mut env = TestEnv::new();
    let session = Session::citing("s1");
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.write_transcript(&session);
    env.use_api(&api.base_url(), "sk-ant-our-own-key-0123456789");
    env.write_config("[secrets]\npatterns = ['(']\n");
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.settle();
    assert!(api.requests().is_empty(), "nothing is sent unmasked");
    assert_eq!(env.spool().len(), 1);
    let check = format!("{:?}", env.cli(&["config", "check"]));
    has!(check, "pattern 1 of `secrets.patterns`");
}
