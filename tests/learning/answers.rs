//! Runs every test vector through the example program.

use crate::common::prelude::*;

#[path = "../../examples/vectors.rs"]
#[expect(
    dead_code,
    reason = "the example's `main` and `answer` are for its own binary"
)]
mod vectors;

/// The level above which cases are debatable and only have to be answered.
const LEVEL: u64 = 2;

#[rstest]
#[case::citations("citations")]
#[case::json_extract("json_extract")]
#[case::bullet_tags("bullet_tags")]
#[case::format_playbook("format_playbook")]
#[case::operations("operations")]
#[case::prune("prune")]
#[case::migration("migration")]
fn every_vector_has_the_right_answer(#[case] name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/vectors")
        .join(format!("{name}.jsonl"));
    let mut wrong = Vec::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let answer = vectors::answer(&case);
        if case["level"].as_u64() <= Some(LEVEL) && !is_right(&case, &answer) {
            wrong.push(format!("{}: {}: {answer}", case["id"], case["case"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_right(case: &Value, answer: &Value) -> bool {
    if case.get("ideal_error").is_some() {
        return answer.get("error").is_some();
    }
    let Some(ideal) = case.get("ideal") else {
        return true;
    };
    let Some(result) = answer.get("result") else {
        return case["also_error"] == true;
    };
    same(case, result, ideal)
        || case
            .get("also")
            .is_some_and(|also| same(case, result, also))
        || case
            .get("salvage_tags")
            .is_some_and(|tags| result.get("bullet_tags") == Some(tags))
}

/// Compares a result. Citations are compared as a set (REQ-REFL-001) without duplicates
/// (INV-REFL-001).
fn same(case: &Value, result: &Value, ideal: &Value) -> bool {
    match (result.as_array(), ideal.as_array()) {
        (Some(result), Some(ideal)) if case["fn"] == "citations" => {
            let set = |ids: &[Value]| ids.iter().map(Value::to_string).collect::<BTreeSet<_>>();
            set(result).len() == result.len() && set(result) == set(ideal)
        }
        _ => result == ideal,
    }
}
