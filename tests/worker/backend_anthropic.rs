//! The `anthropic` backend against a loopback Messages API.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::common::api::{Api, INPUT_TOKENS, OUTPUT_TOKENS, Step};
use playbook::backend::{
    AccountStep as Question, Anthropic, Ask, Backend, BackendFailure, BackendReply, BaseUrl,
    Credential, FailureKind, Plain, RetryPolicy,
};

const LOOPBACK: Plain = Plain::LoopbackOnly("anthropic.allow_http");
const KEY: &str = "sk-ant-api03-never-to-be-seen";

pub(super) const ASK: Ask<'static> = Ask {
    step: Question::Reflector,
    system: "You judge sessions.",
    prompt: "Which bullet_tags?",
    model: "claude-haiku-5-5",
    max_tokens: 1_000,
    marker: "0123456789abcdef",
    attempts: u32::MAX,
    deadline: None,
};

/// Returns a policy for tests: the same attempts, short pauses.
pub(super) fn quick() -> RetryPolicy {
    RetryPolicy {
        base: Duration::from_millis(10),
        request: Duration::from_secs(5),
        ..RetryPolicy::default()
    }
}

fn backend(base: &str) -> Anthropic {
    let base = BaseUrl::parse(base, LOOPBACK).unwrap();
    Anthropic::new(base, Credential::api_key(KEY).unwrap(), quick())
}

pub(super) fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

fn ask(api: &Api) -> Result<BackendReply, BackendFailure> {
    wait(backend(&api.base_url()).answer(&ASK))
}

#[test]
fn a_question_is_sent_as_the_api_wants_it_and_its_reply_comes_back_whole() {
    let api = Api::script([Step::text("yes")]);
    let reply = ask(&api).unwrap();
    let tokens = (reply.tokens.input, reply.tokens.output);
    assert_eq!((&*reply.text, reply.attempts), ("yes", 1));
    assert_eq!(reply.model, "claude-haiku-5-5");
    assert_eq!(tokens, (INPUT_TOKENS, OUTPUT_TOKENS));
    let [request] = &api.requests()[..] else {
        panic!("one request")
    };
    assert_eq!((&*request.method, &*request.path), ("POST", "/v1/messages"));
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let expected = serde_json::json!({
        "model": "claude-haiku-5-5",
        "max_tokens": 1000,
        "system": "You judge sessions.",
        "messages": [{"role": "user", "content": "Which bullet_tags?"}],
    });
    assert_eq!(request.json(), expected);
}

#[test]
fn each_cause_is_told_apart_and_asked_once_or_thrice() {
    use FailureKind::{
        BadQuestion, BadRequest, Connection, CutOff, EmptyReply, NoCredit, NoPermission,
        NotAMessage, NotFound, RateLimited, Refusal, RefusedKey, ServerError,
    };
    let too_many = Step::error(429, "rate_limit_error", "slow down");
    let busy = Step::error(529, "overloaded_error", "Overloaded");
    let bad = |words: &str| Step::error(400, "invalid_request_error", words);
    let key = Step::error(401, "authentication_error", "invalid x-api-key");
    let permission = Step::error(403, "permission_error", "no");
    let payment = Step::Status(402, Vec::new(), String::new());
    let model = Step::error(404, "not_found_error", "model: x");
    let too_large = Step::error(413, "request_too_large", "x");
    let unprocessable = Step::error(422, "invalid_request_error", "x");
    let limit = bad("You have reached your specified API usage limits");
    let cut_off = Step::Stop("max_tokens", "{\"analysis\": \"".to_owned());
    let refusal = Step::Stop("refusal", "I cannot".to_owned());
    let huge = Step::Raw(vec![b' '; 9 << 20]);
    let garbage = Step::Raw(b"\xff\x00\x1b[31mgarbage".to_vec());
    for (name, step, kind, may_pass) in [
        ("rate limit", too_many, RateLimited, true),
        ("overloaded", busy, ServerError, true),
        ("dropped", Step::Drop, Connection, true),
        ("broken", Step::Broken, Connection, true),
        ("key", key, RefusedKey, true),
        ("permission", permission, NoPermission, true),
        ("balance", bad("credit balance is too low"), NoCredit, true),
        ("payment", payment, NoCredit, true),
        ("model", model, NotFound, true),
        ("invalid", bad("prompt is too long"), BadQuestion, false),
        ("too large", too_large, BadQuestion, false),
        ("unprocessable", unprocessable, BadRequest, true),
        ("limit of the account", limit, BadRequest, true),
        ("cut off", cut_off, CutOff, false),
        ("refusal", refusal, Refusal, false),
        ("empty", Step::Empty, EmptyReply, false),
        ("garbage", garbage, NotAMessage, true),
        ("truncated", Step::Truncated, NotAMessage, true),
        ("huge", huge, NotAMessage, true),
    ] {
        let api = Api::script([step]);
        let failure = ask(&api).unwrap_err();
        let attempts = match kind {
            RateLimited | ServerError | Connection => 3,
            _ => 1,
        };
        let found = (failure.kind, failure.attempts);
        assert_eq!(found, (kind, attempts), "{name}: {failure}");
        assert_eq!(failure.kind.may_pass(), may_pass, "{name}");
        has!(failure.message, &api.base_url());
        let is_clean = !failure.message.contains(char::is_control);
        assert!(is_clean, "{name}: {failure}");
        assert_eq!(api.requests().len(), attempts as usize, "{name}");
    }
}

#[test]
fn a_redirect_is_never_followed() {
    let elsewhere = Api::canned();
    let there = format!("{}/v1/messages", elsewhere.base_url());
    let there = vec![("location".to_owned(), there)];
    let api = Api::script([Step::Status(307, there, String::new())]);
    let failure = ask(&api).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Redirected);
    assert!(failure.kind.may_pass());
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn a_short_retry_after_is_slept() {
    let api = Api::script([Step::retry_after(429, "1"), Step::text("yes")]);
    ask(&api).unwrap();
    let [first, second] = &api.requests()[..] else {
        panic!("two requests")
    };
    assert!(second.at - first.at >= Duration::from_secs(1));
}

#[test]
fn a_long_retry_after_goes_to_the_caller() {
    let api = Api::script([Step::retry_after(429, "3600")]);
    let failure = ask(&api).unwrap_err();
    assert_eq!(failure.retry_after, Some(Duration::from_secs(3600)));
    assert_eq!(failure.attempts, 1);
}

#[test]
fn the_callers_deadline_ends_all_attempts() {
    let api = Api::script([Step::text("late").after(Duration::from_secs(60))]);
    let ask = Ask {
        deadline: Some(Instant::now() + Duration::from_millis(300)),
        ..ASK
    };
    let failure = wait(backend(&api.base_url()).answer(&ask)).unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (FailureKind::Timeout, 1));
    let over = wait(backend(&api.base_url()).answer(&ask)).unwrap_err();
    assert_eq!((over.kind, over.attempts), (FailureKind::Timeout, 0));
    assert_eq!(api.requests().len(), 1);
}

#[test]
fn a_pause_beyond_the_deadline_is_not_slept_and_its_cause_is_kept() {
    let api = Api::script([Step::retry_after(529, "30")]);
    let ask = Ask {
        deadline: Some(Instant::now() + Duration::from_secs(10)),
        ..ASK
    };
    let failure = wait(backend(&api.base_url()).answer(&ask)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ServerError);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(30)));
}

#[test]
fn a_server_that_is_not_there_is_a_connection_failure_that_names_it() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let failure = wait(backend(&base).answer(&ASK)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Connection);
    assert_eq!(failure.attempts, 0, "no server was reached");
    has!(failure.message, &*base);
}

#[test]
fn a_server_that_speaks_no_tls_gets_no_request() {
    let api = Api::canned();
    let base = api.base_url().replace("http://", "https://");
    let failure = wait(backend(&base).answer(&ASK)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Connection, "{failure}");
    assert!(api.requests().is_empty());
}
