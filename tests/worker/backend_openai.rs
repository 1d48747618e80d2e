//! Promise: any server with chat completions in `OpenAI`'s format can judge sessions, without a key
//! on this machine. Fields that it does not support are left out, and nothing is sent elsewhere.

use super::backend_anthropic::{self, quick, wait};
use crate::common::prelude::*;
use playbook::backend::{
    Ask, Backend, BackendFailure, BackendReply, BaseUrl, Credential, FailureKind, Openai, Plain,
};

const KEY: &str = "sk-or-v1-never-to-be-seen";
const ASK: Ask<'static> = Ask {
    model: "qwen3:8b",
    ..backend_anthropic::ASK
};

fn says(text: &str) -> Step {
    let body = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "qwen3:8b-q4",
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    });
    Step::Status(200, Vec::new(), body.to_string())
}

fn refuses(status: u16, kind: &str, words: &str) -> Step {
    let body = json!({"error": {"message": words, "type": kind, "param": null, "code": null}});
    Step::Status(status, Vec::new(), body.to_string())
}

fn backend(api: &Api, key: Option<&str>) -> Openai {
    let url = format!("{}/v1", api.base_url());
    let base = BaseUrl::parse(&url, Plain::LoopbackOnly("openai.allow_http")).unwrap();
    let key = key.map(|key| Credential::token(key).unwrap());
    Openai::new(base, key, quick())
}

fn ask(api: &Api, key: Option<&str>) -> Result<BackendReply, BackendFailure> {
    wait(backend(api, key).answer(&ASK))
}

#[test]
fn a_question_is_sent_as_chat_and_its_reply_comes_back_whole() {
    let api = Api::script([says("{}")]);
    let reply = ask(&api, Some(KEY)).unwrap();
    let said = (&*reply.text, &*reply.model, reply.attempts);
    assert_eq!(said, ("{}", "qwen3:8b-q4", 1));
    assert_eq!((reply.tokens.input, reply.tokens.output), (100, 20));
    let [request] = &api.requests()[..] else {
        panic!("one request")
    };
    let asked = (&*request.method, &*request.path);
    assert_eq!(asked, ("POST", "/v1/chat/completions"));
    let bearer = format!("Bearer {KEY}");
    assert_eq!(request.header("authorization"), Some(&*bearer));
    let expected = json!({
        "model": "qwen3:8b", "max_tokens": 1000, "response_format": {"type": "json_object"},
        "messages": [{"role": "system", "content": "You judge sessions."},
                     {"role": "user", "content": "Which bullet_tags?"}],
    });
    assert_eq!(request.json(), expected);
}

#[rstest]
#[case::json_mode("'response_format' is not supported by this model", "response_format")]
#[case::the_limits_name(
    "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
    "max_tokens"
)]
fn what_the_server_does_not_know_is_left_out_from_then_on(#[case] words: &str, #[case] key: &str) {
    let refused = refuses(400, "invalid_request_error", words);
    let api = Api::script([refused, says("{}"), says("{}")]);
    let backend = backend(&api, None);
    assert_eq!(wait(backend.answer(&ASK)).unwrap().attempts, 2);
    assert_eq!(wait(backend.answer(&ASK)).unwrap().attempts, 1);
    let asked = api.requests();
    let has_key = asked.iter().map(|asked| asked.json().get(key).is_some());
    assert_eq!(has_key.collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn a_failure_says_what_follows() {
    let invalid = "invalid_request_error";
    let no_model = refuses(404, "not_found_error", "model 'qwen3:8b' not found");
    let wrong_key = refuses(401, invalid, "Incorrect API key");
    let no_money = refuses(429, "insufficient_quota", "You exceeded your current quota");
    let length = "This model's maximum context length is 8192 tokens.";
    let too_long = refuses(400, invalid, length);
    for (name, step, kind) in [
        ("no such model", no_model, FailureKind::NotFound),
        ("a wrong key", wrong_key, FailureKind::RefusedKey),
        ("no money", no_money, FailureKind::NoCredit),
        ("too long", too_long, FailureKind::BadQuestion),
        ("nothing said", says(""), FailureKind::EmptyReply),
        ("another API", Step::text("hello"), FailureKind::NotAMessage),
    ] {
        let failure = ask(&Api::script([step]), Some(KEY)).unwrap_err();
        assert_eq!(failure.kind, kind, "{name}: {failure}");
        lacks!(failure.message, KEY);
    }
}

#[test]
fn a_busy_server_is_asked_again_and_without_a_key_none_is_sent() {
    let api = Api::script([refuses(503, "server_error", "loading model"), says("{}")]);
    assert_eq!(ask(&api, None).unwrap().attempts, 2);
    assert_eq!(api.requests()[0].header("authorization"), None);
}

fn with_server(api: &Api, more: &str) -> TestEnv {
    let env = TestEnv::with_point();
    env.write_config(&format!(
        "backend = \"openai\"\n[openai]\nbase_url = \"{}/v1\"\n{more}\n[retry]\nbase_ms = 1\nattempts = 1\n",
        api.base_url()
    ));
    env
}

#[test]
fn a_session_is_learned_from_with_a_model_on_this_machine() {
    let tags = r#"{"analysis": "a", "bullet_tags": [{"name": "pat-001", "tag": "helpful", "rationale": "used"}],
        "notes": [{"correction": "A note.", "events": [1]}]}"#;
    let thought = format!("<think>Let me see: {{}}</think>\n```json\n{tags}\n```");
    let nothing = says(r#"{"reasoning": "r", "operations": []}"#);
    let api = Api::script([says(&thought), nothing]);
    let env = with_server(&api, "model = \"qwen3:8b\"");
    env.learn_citing("s1");
    assert_eq!(api.requests().len(), 2);
    let shown = env.cli(&["show", "--json"]).json();
    assert_eq!(shown["points"][0]["helpful"], 1);
    let cost = env.cli(&["status", "--cost", "--json"]).json();
    assert_eq!(cost["today"]["calls"], 2, "{cost}");
    let doctor = env.cli(&["doctor", "--json"]).stdout;
    has!(doctor, "which gets no key", "qwen3:8b");
}

#[test]
fn without_a_model_the_session_waits_and_the_way_out_is_told() {
    let api = Api::script([says("{}")]);
    let env = with_server(&api, "");
    env.learn_citing("s1");
    assert_eq!((api.requests().len(), env.spool().len()), (0, 1));
    has!(env.cli(&["jobs"]).ok(), "no model is named");
}

#[test]
fn a_project_cannot_choose_the_server_and_auto_never_does() {
    let api = Api::script([says("{}")]);
    let mut env = TestEnv::without_worker();
    env.set("OPENAI_API_KEY", KEY);
    let url = api.base_url();
    let project = format!("[openai]\nbase_url = \"{url}/v1\"\nmodel = \"m\"\n");
    env.write_project(".claude/playbook.toml", &project);
    let check = env.cli(&["config", "check"]).stdout;
    has!(check, "`openai.base_url` cannot be set by a project");
    fs::remove_file(env.project().join(".claude/playbook.toml")).unwrap();
    let doctor = env.cli(&["doctor", "--json"]).stdout;
    has!(doctor, "\"backend\":\"rules\"");
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn the_key_may_stand_in_another_variable() {
    let api = Api::script([says("{\"analysis\": \"a\", \"bullet_tags\": []}")]);
    let mut env = with_server(&api, "model = \"m\"\nkey_variable = \"OPENROUTER_API_KEY\"");
    env.set("OPENAI_API_KEY", "sk-of-another");
    env.set("OPENROUTER_API_KEY", KEY);
    env.learn_citing("s1");
    let bearer = format!("Bearer {KEY}");
    assert_eq!(api.requests()[0].header("authorization"), Some(&*bearer));
}
