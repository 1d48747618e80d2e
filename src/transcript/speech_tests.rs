//! How corrections and standing instructions are said, and what only sounds like them.

use super::*;
use rstest::rstest;

#[rstest]
#[case::no_comma("No, that's the wrong file")]
#[case::no_stop("No. Use the other one")]
#[case::opener("hmm no, I said the other one")]
#[case::thats_wrong("That’s wrong")]
#[case::later_sentence("Look at the diff. That is not what I asked for.")]
#[case::dont("don't touch the tests")]
#[case::revert("revert that please")]
#[case::stop("Stop.")]
#[case::actually("Actually, use tabs")]
#[case::generated("No, that's wrong. the parser reads every line")]
#[case::still("it still fails on CI")]
#[case::german("Nein, das andere")]
#[case::chinese("不对，应该用 pnpm")]
#[case::japanese("違います。そのファイルではない")]
#[case::russian("Нет, не так")]
fn a_correction_is_seen(#[case] prompt: &str) {
    assert!(listen(prompt).correction);
}

#[rstest]
#[case::thanks("No problem, thanks!")]
#[case::no_thanks("no, thanks")]
#[case::noun("Note that the parser is slow")]
#[case::nothing("nothing else, thanks")]
#[case::stopwatch("Stopwatch support would be nice")]
#[case::order("Stop the server and start it again with --verbose")]
#[case::request("Add a test that says 'no, that is wrong'")]
#[case::revert_feature("revertible migrations are needed")]
#[case::pasted("Here is the log:\n> No, that's wrong\n```\nwrong\n```")]
#[case::actually_adverb("Actually done now?")]
#[case::worry("don't worry about the lint")]
#[case::nonprofit("nonprofit page: add a footer")]
#[case::empty("")]
fn what_is_no_correction_is_left_alone(#[case] prompt: &str) {
    assert!(!listen(prompt).correction);
}

#[rstest]
#[case::always("Fix it. Always run the tests before you commit.", &["Always run the tests before you commit"])]
#[case::never("never push to main", &["never push to main"])]
#[case::please("Please remember that we use pnpm", &["Please remember that we use pnpm"])]
#[case::from_now("Good. Write in German from now on!", &["Write in German from now on"])]
#[case::instead("use httpx instead of requests", &["use httpx instead of requests"])]
#[case::never_mind("never mind", &[])]
#[case::question("Always like this?", &[])]
#[case::report("It always fails on Mondays", &[])]
#[case::one_word("Never", &[])]
#[case::code("```\nalways do this\n```", &[])]
#[case::japanese("今後は日本語で書いてください。", &["今後は日本語で書いてください"])]
fn standing_instructions_are_found(#[case] prompt: &str, #[case] want: &[&str]) {
    assert_eq!(listen(prompt).instructions, want);
}

#[rstest]
#[case::fact("The staging database is read only.", 1)]
#[case::question("The staging database is read only?", 0)]
#[case::order("Run the tests", 0)]
#[case::short("it is", 0)]
fn statements_are_told_from_questions_and_orders(#[case] prompt: &str, #[case] count: usize) {
    assert_eq!(listen(prompt).statements.len(), count);
}

#[rstest]
#[case::corrections(include_str!("speech_examples/corrections.txt"), |said: &str| listen(said).correction)]
#[case::no_corrections(include_str!("speech_examples/no_corrections.txt"), |said: &str| !listen(said).correction)]
#[case::instructions(include_str!("speech_examples/instructions.txt"), |said: &str| !listen(said).instructions.is_empty())]
#[case::no_instructions(include_str!("speech_examples/no_instructions.txt"), |said: &str| listen(said).instructions.is_empty())]
fn people_are_understood(#[case] examples: &str, #[case] is_right: fn(&str) -> bool) {
    let examples = examples.lines().filter(|line| !line.starts_with("=="));
    let wrong: Vec<_> = examples.filter(|said| !is_right(said)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[rstest]
#[case::file("never edit src/main.rs by hand", "never edit src/main.rs by hand")]
#[case::version("Always use v2.1 of the API.", "Always use v2.1 of the API")]
#[case::for_example("Don't use e.g. lodash. Thanks", "Don't use e.g. lodash")]
#[case::note("# always use tabs", "always use tabs")]
#[case::label("Ok. IMPORTANT: never push to main!", "IMPORTANT: never push to main")]
fn an_instruction_is_taken_whole(#[case] prompt: &str, #[case] want: &str) {
    assert_eq!(listen(prompt).instructions, [want]);
}

#[rstest]
#[case::blanks(" ".repeat(5_000))]
#[case::pauses("no, ".repeat(2_000))]
#[case::gaps("use a b c , not ".repeat(200))]
#[case::grows_in_lower_case("İ".repeat(2_000))]
#[case::marks("`.`!?'\"…".repeat(500))]
fn hostile_prompts_are_survived(#[case] prompt: String) {
    listen(&prompt);
}
