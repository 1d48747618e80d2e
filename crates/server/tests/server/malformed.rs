//! Promise: no request breaks the server, and none returns another tenant's data.

use serde_json::{Value, json};

use crate::chance::{Chance, is_heavy};
use crate::served::{Answer, Server};

#[test]
fn no_request_is_answered_with_a_500_or_another_tenants_word() {
    let requests = if is_heavy() { 10_000 } else { 300 };
    let seed = Chance::seed();
    Server::on_each(|server| {
        let secret = json!({"reflection_text": "coelacanth"});
        server.told(201, "POST /api/v1/reflections", &secret);
        let mut chance = Chance::new(seed);
        for number in 0..requests {
            // The rate limit is not under test.
            let (head, body) = broken(&mut chance, &server.others);
            let Some(Answer(status, told)) = server.send(&head, &body) else {
                continue;
            };
            let is_fine = status < 500;
            assert!(is_fine, "{number}: {status} {told} for {head:?} {body:?}");
            let is_told = told.to_string().contains("coelacanth");
            assert!(!is_told, "{number}: {head} {told}");
        }
        server.told(200, "GET /api/v1/stats", &json!({}));
    });
}

fn broken(chance: &mut Chance, token: &str) -> (String, Vec<u8>) {
    const PATHS: &str = "/api/v1/reflections /api/v1/reflections/query /api/v1/lessons \
        /api/v1/lessons/les-000000000000/outcome /api/v1/lessons/%00/outcome \
        /api/v1/lessons/..%2f..%2f/outcome /api/v1/errors/seen /api/v1/stats \
        /api/v1/stats?project_id=%00 /api/v1/playbooks/..%2F..%2Fetc /api/v1// /%";
    const FIELDS: &str = "tenant_id project_id session_id reflection_text strategy_text importance tags \
        query_text k min_importance since task_type correction error helped outcome";
    let mut fields = serde_json::Map::new();
    for _ in 0..chance.below(9) {
        fields.insert(chance.word(FIELDS).to_owned(), odd(chance));
    }
    let mut body = Value::Object(fields).to_string().into_bytes();
    for _ in 0..chance.below(3) * chance.below(3) {
        let at = chance.index(body.len());
        body[at] = u8::try_from(chance.below(256)).unwrap();
    }
    let method = ["POST", "GET", "PUT", "DELETE", "BREW"][chance.index(5).min(chance.index(5))];
    let path = chance.word(PATHS);
    let authorization = match chance.below(20) {
        0 => String::new(),
        1 => "\r\nauthorization: Bearer \u{1}".to_owned(),
        _ => format!("\r\nauthorization: Bearer {token}"),
    };
    (format!("{method} {path} HTTP/1.1{authorization}"), body)
}

fn odd(chance: &mut Chance) -> Value {
    match chance.below(16) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(1e308),
        3 => json!(u64::MAX),
        4 => json!([[], {}, null]),
        5 => json!("\0"),
        6 => json!("x".repeat(chance.index(5000))),
        7 => json!("' OR 1=1 --"),
        8 => json!("\u{202e}\u{feff}\u{10ffff}"),
        9 => json!("-9999-01-01T00:00:00Z"),
        10 => json!("team"),
        11 => json!(["sql", "x".repeat(chance.index(300))]),
        12 => json!("зебра 斑马 zebrafish:* <-> & !"),
        13 => json!(true),
        14 => json!(0.7),
        _ => json!("what one learns"),
    }
}
