//! Reads what `claude -p --output-format json` printed.

use std::process::ExitStatus;

use reqwest::StatusCode;
use serde_json::Value;

use super::message::{Flaw, kind_of_status, kind_of_words, quote, reply, tokens};
use super::{Ask, BackendReply, FailureKind};

/// Reads the client's output; `is_error` decides, not `subtype` and not the exit status.
pub(super) fn read(
    said: &str,
    complained: &str,
    status: ExitStatus,
    ask: &Ask<'_>,
) -> Result<BackendReply, Flaw> {
    let Some(result) = find_result(said) else {
        return Err(no_result(said, complained, status));
    };
    let tokens = tokens(&result["usage"]);
    let text = result["result"].as_str().unwrap_or_default();
    let flaw = if result["is_error"] != Value::Bool(false) {
        error(&result, text)
    } else if ask.is_echoed_by(text) {
        Flaw::new(FailureKind::EchoedPrompt, "it repeats our prompt")
    } else if text.trim().is_empty() {
        Flaw::new(FailureKind::NotAMessage, "its result is empty")
    } else {
        let stop_reason = result["stop_reason"].as_str();
        return reply(stop_reason, text, (model(&result), tokens), ask);
    };
    Err(Flaw { tokens, ..flaw })
}

/// Finds the result object: the whole output, a line of it, or the last in a list.
fn find_result(said: &str) -> Option<Value> {
    let is_result = |value: &Value| value["type"] == "result";
    let whole = serde_json::from_str(said.trim()).ok();
    let mut values = match whole {
        Some(Value::Array(values)) => values,
        Some(value) => vec![value],
        None => said
            .lines()
            .filter(|line| line.trim_start().starts_with('{'))
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
    };
    let last = values.iter().rposition(is_result)?;
    Some(values.swap_remove(last))
}

fn model(result: &Value) -> Option<&str> {
    let used = result["modelUsage"].as_object()?;
    let wrote = |usage: &Value| usage["outputTokens"].as_u64();
    let most = used.iter().max_by_key(|(_, usage)| wrote(usage))?;
    Some(most.0.as_str())
}

fn error(result: &Value, text: &str) -> Flaw {
    let words = match (text, result["subtype"].as_str()) {
        ("", Some(subtype)) => subtype,
        _ => text,
    };
    let status = result["api_error_status"].as_u64();
    let status = status.or_else(|| status_in(words));
    let kind = match status.and_then(|status| u16::try_from(status).ok()) {
        Some(status) => kind_of_status(status, api_error(status, words)),
        None => kind_of_words(words).unwrap_or(FailureKind::ClientError),
    };
    Flaw::new(kind, quote(words))
}

/// Returns the API's words about a status. Without any, as for a firewall's page, the client prints
/// the status's own name: `API Error: 403 Forbidden`; that gives `None`.
fn api_error(status: u16, words: &str) -> Option<(&str, &str)> {
    let name = StatusCode::from_u16(status).ok()?.canonical_reason();
    let (_, said) = words.split_once("API Error: ").unwrap_or(("", words));
    let said = said.trim_start_matches(&status.to_string()).trim();
    (!said.is_empty() && Some(said) != name).then_some(("", said))
}

fn no_result(said: &str, complained: &str, status: ExitStatus) -> Flaw {
    // Before it switches to JSON output, the client reports such errors as plain text.
    let words = [complained, said]
        .into_iter()
        .find(|it| !it.trim().is_empty());
    let words = words.unwrap_or_default();
    if status.success() {
        let detail = format!("its answer is not a result: {}", quote(words));
        return Flaw::new(FailureKind::NotAMessage, detail);
    }
    let kind = kind_of_words(words).unwrap_or(FailureKind::Crashed);
    Flaw::new(kind, format!("it ended with {status}: {}", quote(words)))
}

fn status_in(words: &str) -> Option<u64> {
    let after = words.split_once("API Error: ")?.1;
    after.get(..3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;
    use crate::backend::TokenCount;
    use crate::backend::tests::ASK;
    use rstest::rstest;
    use serde_json::json;

    fn result(is_error: bool, text: &str, status: &Value) -> String {
        json!({
            "type": "result", "subtype": "success", "is_error": is_error, "result": text,
            "stop_reason": "end_turn", "api_error_status": status,
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 2},
            "modelUsage": {"claude-haiku-5-5": {"outputTokens": 2}},
        })
        .to_string()
    }

    fn read_all(said: &str, complained: &str, code: i32) -> Result<BackendReply, Flaw> {
        read(said, complained, ExitStatus::from_raw(code << 8), &ASK)
    }

    #[rstest]
    #[case::plain(result(false, "yes", &Value::Null), 0)]
    #[case::the_status_does_not_decide(result(false, "yes", &Value::Null), 1)]
    #[case::after_other_words(format!("warning: x\n{{}}\n{}\n", result(false, "yes", &Value::Null)), 0)]
    #[case::last_of_a_list(format!(r#"[{{"type":"system"}},{}]"#, result(false, "yes", &Value::Null)), 0)]
    fn a_result_without_error_is_a_reply(#[case] said: String, #[case] code: i32) {
        let reply = read_all(&said, "", code).unwrap();
        assert_eq!(
            (&*reply.text, &*reply.model, reply.tokens),
            (
                "yes",
                "claude-haiku-5-5",
                TokenCount {
                    input: 7,
                    output: 2
                }
            )
        );
    }

    #[rstest]
    #[case::echo(result(false, "… 0123456789abcdef …", &Value::Null), 0, FailureKind::EchoedPrompt)]
    #[case::error_with_rc_0(result(true, "API Error: 400 x", &json!(400)), 0, FailureKind::BadRequest)]
    #[case::status_only_in_words(result(true, "API Error: 529 {}", &Value::Null), 1, FailureKind::ServerError)]
    #[case::forbidden(result(true, "Failed to authenticate. API Error: 403 no", &json!(403)), 1, FailureKind::RefusedKey)]
    #[case::a_firewall(result(true, "Failed to authenticate. API Error: 403 Forbidden", &json!(403)), 1, FailureKind::ServerError)]
    #[case::a_proxy(result(true, "API Error: 407 Proxy Authentication Required", &json!(407)), 1, FailureKind::ServerError)]
    #[case::too_long(result(true, "Prompt is too long", &json!(400)), 1, FailureKind::BadQuestion)]
    #[case::balance(result(true, "Credit balance is too low", &json!(400)), 1, FailureKind::NoCredit)]
    #[case::subscription(result(true, "You've hit your session limit", &Value::Null), 1, FailureKind::RateLimited)]
    #[case::offline(result(true, "API Error: fetch failed", &Value::Null), 1, FailureKind::Connection)]
    #[case::no_message(result(true, "API Error: API returned an empty or malformed response", &Value::Null), 1, FailureKind::ClientError)]
    #[case::turns(json!({"type": "result", "subtype": "error_max_turns", "is_error": true}).to_string(), 1, FailureKind::CutOff)]
    #[case::empty(result(false, " ", &Value::Null), 0, FailureKind::NotAMessage)]
    #[case::other_json("{}".to_owned(), 0, FailureKind::NotAMessage)]
    fn everything_else_has_its_kind(
        #[case] said: String,
        #[case] code: i32,
        #[case] kind: FailureKind,
    ) {
        let flaw = read_all(&said, "", code).unwrap_err();
        assert_eq!(flaw.kind, kind, "{}", flaw.detail);
    }

    #[test]
    fn an_error_of_the_client_still_counts_as_paid_for() {
        let flaw = read_all(&result(true, "API Error: 500", &json!(500)), "", 1).unwrap_err();
        assert_eq!(flaw.tokens.output, 2);
    }
}
