//! What is learned from a user's sentence, and what is not.

use super::*;
use rstest::rstest;

#[rstest]
#[case::always("always run clippy before pushing", "Always run clippy before pushing")]
#[case::never("Never commit directly to main.", "Never commit directly to main")]
#[case::no("no, never use npm here, thanks", "Never use npm here")]
#[case::number("2. never edit generated files", "Never edit generated files")]
#[case::praise(
    "looks good, but always ask before deleting files",
    "Always ask before deleting files"
)]
#[case::dont_ever("don't ever touch infra/", "Never touch infra/")]
#[case::never_ever("never, ever use eval", "Never use eval")]
#[case::i_want(
    "I want you to always explain the plan first",
    "Always explain the plan first"
)]
#[case::make_sure("make sure you always run the linter", "Always run the linter")]
#[case::from_now_on("From now on, use British spelling", "Use British spelling")]
#[case::a_release(
    "From now on, always release with `just release`, never by pushing to a branch.",
    "Always release with `just release`, never by pushing to a branch"
)]
#[case::at_the_end("keep answers short from now on please", "Keep answers short")]
#[case::going_forward("going forward don't use lodash", "Don't use lodash")]
#[case::remember_to(
    "remember to regenerate the schema after editing it",
    "Regenerate the schema after editing it"
)]
#[case::remember_that(
    "Remember that we deploy from the release branch",
    "We deploy from the release branch"
)]
#[case::here("we use pnpm here", "We use pnpm here")]
#[case::this_repo("in this repo we use tabs", "In this repo we use tabs")]
#[case::we_not("we use vitest, not jest", "We use vitest, not jest")]
#[case::prefer(
    "prefer composition over inheritance",
    "Prefer composition over inheritance"
)]
#[case::every_time(
    "every time you add a dependency, ask me",
    "Every time you add a dependency, ask me"
)]
#[case::before_each(
    "run the formatter before each commit",
    "Run the formatter before each commit"
)]
#[case::when_always(
    "When you write tests, always use pytest",
    "When you write tests, always use pytest"
)]
#[case::convention("our convention is two spaces", "Our convention is two spaces")]
#[case::forbids_force("never force push", "Never force push")]
#[case::without("never push without asking me", "Never push without asking me")]
#[case::for_example("never use e.g. lodash", "Never use e.g. lodash")]
#[case::in_general("in general, avoid mocks", "Avoid mocks")]
#[case::rule_label("rule: no force pushes", "No force pushes")]
#[case::use_in_repo("use uv in this repo", "Use uv in this repo")]
fn a_standing_instruction_is_learned(#[case] said: &str, #[case] learned: &str) {
    assert_eq!(rule(said).as_deref(), Some(learned));
    assert_eq!(instructions(&format!("Fix the parser. {said}")).len(), 1);
}

#[rstest]
#[case::product("the function should always return a list")]
#[case::product_rule("never delete the original upload")]
#[case::product_remembers("remember that the parser can return nil")]
#[case::screen("always show the modal")]
#[case::report("it always fails on CI")]
#[case::never_mind("never mind, leave it")]
#[case::question("should we always use tabs?")]
#[case::question_of_the_user("do you always run the tests?")]
#[case::one_task("don't stop until all tests pass")]
#[case::for_now("for now, use the stub")]
#[case::this_time("never push this time")]
#[case::too_slow("skip the tests, too slow")]
#[case::weakens("always skip the tests")]
#[case::weakens_hooks("from now on commit with --no-verify")]
#[case::pointing("never do that again")]
#[case::pointing_at_it("always run it first")]
#[case::plain_order("use pnpm instead of npm")]
#[case::fact("The test database is read only")]
#[case::remember_when("remember when we used npm")]
#[case::program_we("we always commit to the archive branch")]
#[case::program_condition("if no archive exists, never write the index")]
#[case::program_here("we use a pointer here")]
#[case::make_sure_once("make sure this is tested")]
#[case::make_sure_of_output("always make sure the output is sorted")]
#[case::roadmap("in the future we should add caching")]
#[case::unchecked("always merge without running the tests")]
#[case::untested_each_time("don't run the whole test suite every time")]
#[case::unasked("don't ever ask me")]
#[case::other_language("Immer erst die Tests laufen lassen")]
fn what_is_no_standing_instruction_is_not_learned(#[case] said: &str) {
    assert_eq!(rule(said), None);
    assert_eq!(instructions(said), [""; 0]);
}

#[rstest]
#[case::fence("look:\n```\nnever push to main\n```")]
#[case::quotation("> never push to main")]
#[case::quoted("The page says \"Use git. Never push to main. Ever.\"")]
#[case::log("[lint] never push to main")]
#[case::review("I got this feedback:\nNever push to main.")]
#[case::screen("why?\n⏺ Bash(git push)\n  ⎿  Never push to main")]
#[case::plan("Implement the following plan:\nNever push to main.")]
#[case::document("Do this.\n# Rules\n\n- never push to main")]
fn what_was_pasted_is_not_learned(#[case] text: &str) {
    assert_eq!(instructions(text), [""; 0]);
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
fn a_long_text_is_a_document_and_a_wrapped_line_one_sentence() {
    let long = format!(
        "{}Never push to main.",
        "One more line of a log.\n".repeat(60)
    );
    assert_eq!(instructions(&long), [""; 0]);
    let wrapped = "Never push to a branch that others are working on in this repository\nwithout asking me. Thanks.";
    let want =
        "Never push to a branch that others are working on in this repository without asking me";
    let found = instructions(wrapped);
    assert_eq!(found.len(), 1);
    assert_eq!(rule(found[0]).as_deref(), Some(want));
}

#[test]
fn the_tables_can_be_used() {
    assert!(VERBS.is_sorted());
    assert_eq!(FORMS.len(), 19);
    let patterns = [
        &WORK_THINGS,
        &FILLERS,
        &FROM_NOW,
        &FROM_NOW_AT_END,
        &POLITE,
        &POLITE_END,
        &NEGATED,
        &FLEETING,
        &THIS,
        &RISKY,
        &UNCHECKED,
        &FORBIDS,
        &SCOPE,
        &ANNOUNCED,
        &ONE_THING,
        &REQUEST,
        &OUR_WORK,
    ];
    assert!(patterns.iter().all(|pattern| pattern.is_some()));
}
