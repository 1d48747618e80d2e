//! What is learned from a user's sentence, and what is not.

use super::*;
use rstest::rstest;

#[rstest]
#[case::always("always run clippy before pushing", "Always run clippy before pushing")]
#[case::never("Never commit directly to main.", "Never commit directly to main")]
#[case::filler("btw, please never push to main!", "Never push to main")]
#[case::no("no, never use npm here, thanks", "Never use npm here")]
#[case::list_mark("- always add a changelog entry", "Always add a changelog entry")]
#[case::number("2. never edit generated files", "Never edit generated files")]
#[case::label("IMPORTANT: never print secrets", "Never print secrets")]
#[case::praise(
    "looks good, but always ask before deleting files",
    "Always ask before deleting files"
)]
#[case::dont_ever("don't ever touch infra/", "Never touch infra/")]
#[case::never_ever("never, ever use eval", "Never use eval")]
#[case::you_should("You should always add tests", "Always add tests")]
#[case::i_want(
    "I want you to always explain the plan first",
    "Always explain the plan first"
)]
#[case::make_sure("make sure you always run the linter", "Always run the linter")]
#[case::lets("let's always rebase on main", "Always rebase on main")]
#[case::we_always("we always squash before merging", "Always squash before merging")]
#[case::from_now_on("From now on, use British spelling", "Use British spelling")]
#[case::a_release(
    "From now on, always release with `just release`, never by pushing to a branch.",
    "Always release with `just release`, never by pushing to a branch"
)]
#[case::at_the_end("keep answers short from now on please", "Keep answers short")]
#[case::going_forward("going forward don't use lodash", "Don't use lodash")]
#[case::no_things(
    "in the future, no emojis in commit messages",
    "No emojis in commit messages"
)]
#[case::polite(
    "from now on I want you to write smaller commits",
    "Write smaller commits"
)]
#[case::remember_to(
    "remember to regenerate the schema after editing it",
    "Regenerate the schema after editing it"
)]
#[case::remember_that(
    "Remember that we deploy from the release branch",
    "We deploy from the release branch"
)]
#[case::in_mind(
    "keep in mind that the integration tests need docker",
    "The integration tests need docker"
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
#[case::whenever(
    "whenever you touch the API, update the docs",
    "Whenever you touch the API, update the docs"
)]
#[case::before_each(
    "run the formatter before each commit",
    "Run the formatter before each commit"
)]
#[case::after_each(
    "After every change, run the tests",
    "After every change, run the tests"
)]
#[case::when_always(
    "When you write tests, always use pytest",
    "When you write tests, always use pytest"
)]
#[case::all_must(
    "all commit messages must be in English",
    "All commit messages must be in English"
)]
#[case::convention("our convention is two spaces", "Our convention is two spaces")]
#[case::request(
    "can you always run the tests before you commit?",
    "Always run the tests before you commit"
)]
#[case::forbids_force("never force push", "Never force push")]
#[case::without("never push without asking me", "Never push without asking me")]
#[case::for_example("never use e.g. lodash", "Never use e.g. lodash")]
#[case::this_project("this project uses uv", "This project uses uv")]
#[case::in_general("in general, avoid mocks", "Avoid mocks")]
#[case::whenever_possible(
    "use table tests whenever possible",
    "Use table tests whenever possible"
)]
#[case::dont_want("I don't ever want you to force push", "Never force push")]
#[case::rather(
    "I'd rather you always ask before deleting",
    "Always ask before deleting"
)]
#[case::ever("don't use mocks ever", "Don't use mocks")]
#[case::rule_label("rule: no force pushes", "No force pushes")]
#[case::we_usually("we usually squash before merging", "We usually squash before merging")]
#[case::use_in_repo("use uv in this repo", "Use uv in this repo")]
#[case::i_always_want(
    "I always want a test for each bug fix",
    "I always want a test for each bug fix"
)]
fn a_standing_instruction_is_learned(#[case] said: &str, #[case] learned: &str) {
    assert_eq!(rule(said).as_deref(), Some(learned));
    assert_eq!(instructions(&format!("Fix the parser. {said}")).len(), 1);
}

#[rstest]
#[case::product("the function should always return a list")]
#[case::product_order("always return the first entry")]
#[case::product_rule("never delete the original upload")]
#[case::product_remembers("remember that the parser can return nil")]
#[case::screen("always show the modal")]
#[case::report("it always fails on CI")]
#[case::report_of_me("I never got this to work")]
#[case::never_mind("never mind, leave it")]
#[case::theme("we always get a 404 here")]
#[case::question("should we always use tabs?")]
#[case::question_of_the_user("do you always run the tests?")]
#[case::one_task("don't stop until all tests pass")]
#[case::one_task_always("always keep going until it works")]
#[case::for_now("for now, use the stub")]
#[case::for_now_at_the_end("always use the stub for now")]
#[case::this_time("never push this time")]
#[case::this_file("in this file always use tabs")]
#[case::too_slow("skip the tests, too slow")]
#[case::weakens("always skip the tests")]
#[case::weakens_too("never run the tests")]
#[case::weakens_hooks("from now on commit with --no-verify")]
#[case::pointing("never do that again")]
#[case::pointing_at_it("always run it first")]
#[case::plain_order("use pnpm instead of npm")]
#[case::plain_refusal("don't add a flag")]
#[case::fact("The test database is read only")]
#[case::remember_when("remember when we used npm")]
#[case::choice("prefer the first option over the second")]
#[case::program_we("we always commit to the archive branch")]
#[case::program_we_should("we should never delete old archives")]
#[case::program_condition("if no archive exists, never write the index")]
#[case::program_here("we use a pointer here")]
#[case::program_every("every archive should have an index")]
#[case::make_sure_once("make sure this is tested")]
#[case::make_sure_of_output("always make sure the output is sorted")]
#[case::roadmap("in the future we should add caching")]
#[case::renamed("from now on the flag is called verbose")]
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
#[case::indented("    never push to main")]
#[case::log("[lint] never push to main")]
#[case::review("I got this feedback:\nNever push to main.")]
#[case::bot("coderabbit says: this is wrong. Never push to main.")]
#[case::screen("why?\n⏺ Bash(git push)\n  ⎿  Never push to main")]
#[case::persona("You are a reviewer. Never push to main.")]
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
