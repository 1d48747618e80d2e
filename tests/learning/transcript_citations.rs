//! REQ-REFL-001: the test vectors of citations.

use std::collections::BTreeSet;

use playbook::transcript::extract_cited_ids;
use serde_json::Value;

#[test]
fn every_citation_vector_is_answered_right() {
    let vectors = include_str!("../vectors/citations.jsonl");
    assert!(vectors.lines().count() > 200);
    for line in vectors.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let found = extract_cited_ids(case["messages"].as_array().unwrap());
        let once: BTreeSet<&str> = found.iter().map(playbook::playbook::Id::as_str).collect();
        assert_eq!(once.len(), found.len(), "{}: INV-REFL-001", case["id"]);
        let ideal: BTreeSet<&str> = case["ideal"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(once, ideal, "{}", case["id"]);
    }
}
