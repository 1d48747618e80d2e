//! What is learned from a user's sentence, and what is not.

use super::*;
use rstest::rstest;

#[rstest]
#[case::always("always run clippy before pushing", "Always run clippy before pushing")]
#[case::never("Never commit directly to main.", "Never commit directly to main")]
#[case::praise(
    "looks good, but always ask before deleting files",
    "Always ask before deleting files"
)]
#[case::dont_ever("don't ever touch infra/", "Don't ever touch infra/")]
#[case::two_halves(
    "never push to main; open a PR instead",
    "Never push to main; open a PR instead"
)]
#[case::in_brackets(
    "switch it to slog (we use slog everywhere else) and rebase",
    r#"We use slog everywhere else (said of "switch it to slog")"#
)]
#[case::in_other_places(
    "can you make it a table test, we use table tests in other places",
    r#"We use table tests in other places (said of "make it a table test")"#
)]
#[case::in_a_clause(
    "the fix is right, but please always add a test with it",
    "Always add a test with it"
)]
#[case::reason_of_a_request(
    "for errors we always use fmt.Errorf in other places, can you follow that?",
    "For errors we always use fmt.Errorf in other places"
)]
#[case::wished(
    "we always want to be handed a context that can be cancelled",
    "We always want to be handed a context that can be cancelled"
)]
#[case::access(
    "remember also you have read access to the staging db",
    "You have read access to the staging db"
)]
#[case::project_uses("btw this repo uses uv, not pip", "This repo uses uv, not pip")]
#[case::unless_asked(
    "and don't open a PR unless I ask for one",
    "Don't open a PR unless I ask for one"
)]
#[case::ask_first(
    "ask me before adding a dependency",
    "Ask me before adding a dependency"
)]
#[case::wished_for_users(
    "we never want to stand in the way of the user",
    "We never want to stand in the way of the user"
)]
#[case::any_verb(
    "also, we never skip tests in this repo, so please don't",
    "We never skip tests in this repo"
)]
#[case::for_the_future(
    "for the future: always look for a helper before writing one",
    "Always look for a helper before writing one"
)]
#[case::where_first(
    "hm in other commands we use PrintErrln, do that",
    "In other commands we use PrintErrln"
)]
#[case::as_elsewhere(
    "use fmt.Errorf with %w like we do everywhere else",
    "Use fmt.Errorf with %w like we do everywhere else"
)]
#[case::of_the_work("tests should never sleep", "Tests should never sleep")]
#[case::remember_also("rename it and remember also to update the docs", "Update the docs")]
#[case::prefer_to(
    "I prefer small commits to big ones",
    "I prefer small commits to big ones"
)]
#[case::joined(
    "run the formatter and never push unformatted code",
    "Never push unformatted code"
)]
#[case::we_never(
    "btw we never use mocks in this repo",
    "We never use mocks in this repo"
)]
#[case::from_now_on("From now on, use British spelling", "Use British spelling")]
#[case::a_release(
    "From now on, always release with `just release`, never by pushing to a branch.",
    "Always release with `just release`, never by pushing to a branch"
)]
#[case::at_the_end("keep answers short from now on please", "Keep answers short")]
#[case::remember_to(
    "remember to regenerate the schema after editing it",
    "Regenerate the schema after editing it"
)]
#[case::remember_that(
    "Remember that we deploy from the release branch",
    "We deploy from the release branch"
)]
#[case::here("we use pnpm here", "We use pnpm here")]
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
#[case::when_you(
    "When you change the schema, always regenerate the client",
    "When you change the schema, always regenerate the client"
)]
#[case::when_always(
    "When you write tests, always use pytest",
    "When you write tests, always use pytest"
)]
#[case::without("never push without asking me", "Never push without asking me")]
#[case::in_general("in general, avoid mocks", "Avoid mocks")]
#[case::rule_label("rule: no force pushes", "No force pushes")]
fn a_standing_instruction_is_learned(#[case] said: &str, #[case] learned: &str) {
    assert_eq!(rule(said).as_deref(), Some(learned));
    assert_eq!(instructions(&format!("Thanks. {said}")), [said]);
}

/// What names neither its purpose nor its place is learned with the sentence before it.
#[rstest]
#[case::purpose(
    "Why is the branch read with a subprocess? We use go-git for that in other places.",
    &[r#"We use go-git for that in other places (said of "Why is the branch read with a subprocess")"#]
)]
#[case::further_back(
    "The diff shells out to git. Can you switch it to go-git? We use go-git for that in other places",
    &[r#"We use go-git for that in other places (said of "The diff shells out to git; switch it to go-git")"#]
)]
#[case::consequence(
    "The check is not right. We always want to be passed a valid logger, so mend the callers.",
    &["We always want to be passed a valid logger"]
)]
#[case::bare(
    "The machine id is read in two ways. Always use MachineID() please. Thanks!",
    &[r#"Always use MachineID() (said of "The machine id is read in two ways")"#]
)]
#[case::own_words("This one can be nil here. Never commit generated files.", &["Never commit generated files"])]
#[case::only_praise("Looks really good to me. From now on, use British spelling.", &["Use British spelling"])]
#[case::nothing_said_before("we do it elsewhere as well, hm. We use it elsewhere.", &[])]
#[case::no_purpose("We always use sentinel errors for that. See errors.go.", &[])]
#[case::no_place("ok. We use go-git for that in other places.", &[])]
fn an_instruction_is_understood_without_its_session(#[case] text: &str, #[case] learned: &[&str]) {
    let rules: Vec<String> = instructions(text)
        .iter()
        .filter_map(|said| rule(said))
        .collect();
    assert_eq!(rules, learned);
}

#[rstest]
#[case::product("the function should always return a list")]
#[case::product_condition("always show the banner when telemetry is on")]
#[case::product_here("we want to show a warning here")]
#[case::product_wish("we always want the latest entry here")]
#[case::memory("this project uses a lot of memory")]
#[case::when_done("remember to push when you are done")]
#[case::bare_reminder("fetch them all and remember to use retries")]
#[case::one_question("ask me before you continue")]
#[case::product_rule("never delete the original upload")]
#[case::product_remembers("remember that the parser can return nil")]
#[case::report("it always fails on CI")]
#[case::report_of_a_test("the login test never passes when the port is taken")]
#[case::users("users prefer tabs over spaces")]
#[case::adding_to("I'd prefer adding a flag to the command")]
#[case::asked("would you say we use too many mocks here?")]
#[case::others("he said we never use lodash")]
#[case::question("should we always use tabs?")]
#[case::one_task("don't stop until all tests pass")]
#[case::for_now("for now, use the stub")]
#[case::this_time("never push this time")]
#[case::too_slow("skip the tests, too slow")]
#[case::weakens_hooks("from now on commit with --no-verify")]
#[case::pointing("never do that again")]
#[case::program_we("we always commit to the archive branch")]
#[case::condition_of_program("if there is a folder, always read its index first")]
#[case::wording("I would prefer \"Restored\" to \"Done\"")]
#[case::program_condition("if no archive exists, never write the index")]
#[case::make_sure_once("make sure this is tested")]
#[case::roadmap("in the future we should add caching")]
#[case::untested_each_time("don't run the whole test suite every time")]
#[case::unasked("don't ever ask me")]
#[case::no_verb("optional extra for future releases")]
#[case::users_own_act("I'd like to describe the idea first and leave the rest in general")]
#[case::other_language("Immer erst die Tests laufen lassen")]
fn what_is_no_standing_instruction_is_not_learned(#[case] said: &str) {
    assert_eq!(rule(said), None);
    assert_eq!(instructions(said), [""; 0]);
}

#[rstest]
#[case::fence("look:\n```\nnever push to main\n```")]
#[case::quotation("> never push to main")]
#[case::quoted("The page says \"Use git. Never push to main. Ever.\"")]
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
fn a_long_text_is_a_document() {
    let long = format!("{}Never push to main.", "A line of a log.\n".repeat(60));
    assert_eq!(instructions(&long), [""; 0]);
}
