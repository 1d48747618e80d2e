//! What is learned from a user's sentence, and what is not.

use super::*;

/// The cases of a kind: what is said, and what is learned of it.
fn cases(kind: &str) -> impl Iterator<Item = (String, Vec<&'static str>)> {
    let lines = include_str!("standing.tsv").lines();
    let fields = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    let cases = fields.filter(move |fields| fields[0] == kind);
    cases.map(|fields| (fields[2].replace("\\n", "\n"), fields[3..].to_vec()))
}

#[test]
fn a_standing_instruction_is_learned() {
    for (said, learned) in cases("learned") {
        assert_eq!(rule(&said).as_deref(), Some(learned[0]));
        assert_eq!(instructions(&format!("Thanks. {said}")), [said]);
    }
}

#[test]
fn an_instruction_is_understood_without_its_session() {
    for (text, learned) in cases("explained") {
        let said = instructions(&text);
        let rules: Vec<String> = said.iter().filter_map(|said| rule(said)).collect();
        assert_eq!(rules, learned, "{text}");
    }
}

#[test]
fn what_is_no_standing_instruction_is_not_learned() {
    for (said, _) in cases("no") {
        assert_eq!(rule(&said), None, "{said}");
        assert_eq!(instructions(&said), [""; 0]);
    }
}

#[test]
fn what_was_pasted_is_not_learned() {
    for (text, _) in cases("pasted") {
        assert_eq!(instructions(&text), [""; 0], "{text}");
    }
}

#[test]
fn a_files_name_ends_no_sentence_and_its_full_stop_does() {
    let text = "Never edit src/lib.rs by hand. Thanks! Never use e.g. lodash. See v1.2.";
    assert_eq!(
        instructions(text),
        ["Never edit src/lib.rs by hand.", "Never use e.g. lodash."]
    );
    assert_eq!(
        instructions("never touch src/lib.rs. Now go on"),
        ["never touch src/lib.rs."]
    );
}

#[test]
fn a_long_text_is_a_document() {
    let long = format!("{}Never push to main.", "A line of a log.\n".repeat(60));
    assert_eq!(instructions(&long), [""; 0]);
}
