//! The sentences that must and must not become rules, one per case.

use rstest::rstest;

use super::rules_speech::{Rule, rules_in};
use crate::playbook::Section;
use crate::transcript::SaidKind::{
    self, Correction, Fact, RejectionWords, StandingInstruction,
};

#[rstest]
#[case::no_use(Correction, "no, use pnpm", "Use pnpm")]
#[case::no_use_instead(Correction, "No, use pnpm instead of npm.", "Use pnpm instead of npm")]
#[case::no_stop(Correction, "No. Use tabs, not spaces!", "Use tabs, not spaces")]
#[case::wrong_use(Correction, "That's wrong, use uv instead please", "Use uv")]
#[case::no_without_comma(Correction, "no use British spelling", "Use British spelling")]
#[case::i_said(Correction, "I said use conventional commits", "Use conventional commits")]
#[case::i_told_you(Correction, "I told you not to use mocks in integration tests", "Don't use mocks in integration tests")]
#[case::actually(Correction, "Actually, we use vitest here, not jest", "We use vitest here, not jest")]
#[case::second_sentence(Correction, "That's the wrong file. Never edit generated files by hand.", "Never edit generated files by hand")]
#[case::stop_adding(Correction, "stop adding comments to every function", "Stop adding comments to every function")]
#[case::must(Correction, "no, commit messages must be in English", "Commit messages must be in English")]
#[case::dash(Correction, "nope - don't use default exports", "Don't use default exports")]
#[case::apostrophe(Correction, "No, don’t add co-author lines", "Don't add co-author lines")]
#[case::rejected_dont(RejectionWords, "don't use git add -A, add files by name", "Don't use git add -A, add files by name")]
#[case::rejected_unwanted(RejectionWords, "I don't want you to install packages globally", "Don't install packages globally")]
#[case::rejected_emojis(RejectionWords, "i don't want emojis in commit messages", "The user doesn't want emojis in commit messages")]
#[case::rejected_never(RejectionWords, "never push directly to main", "Never push directly to main")]
#[case::rejected_use(RejectionWords, "use rg instead of grep", "Use rg instead of grep")]
#[case::always(StandingInstruction, "Always run the tests before you commit", "Always run the tests before you commit")]
#[case::always_first(StandingInstruction, "please always run cargo fmt first", "Always run cargo fmt first")]
#[case::you_should_always(StandingInstruction, "You should always write a changelog entry", "Always write a changelog entry")]
#[case::make_sure(StandingInstruction, "make sure you never log access tokens", "Never log access tokens")]
#[case::remember_always(StandingInstruction, "Remember to always squash fixup commits", "Always squash fixup commits")]
#[case::from_now_on(StandingInstruction, "From now on, answer in German", "Answer in German")]
#[case::from_now_on_last(StandingInstruction, "write docs in English from now on, please", "Write docs in English")]
#[case::going_forward(StandingInstruction, "Going forward, put migrations in db/migrate", "Put migrations in db/migrate")]
#[case::every_time(StandingInstruction, "run the linter every time", "Run the linter")]
#[case::whenever(StandingInstruction, "Whenever you change the schema, regenerate the client", "Whenever you change the schema, regenerate the client")]
#[case::when_never(StandingInstruction, "When you write tests, never use sleep", "When you write tests, never use sleep")]
#[case::in_this_repo(StandingInstruction, "in this repo we always squash before merging", "In this repo we always squash before merging")]
#[case::from_now_when(StandingInstruction, "from now on, when you commit, sign off the commit", "When you commit, sign off the commit")]
#[case::prefer(StandingInstruction, "Prefer composition over inheritance", "Prefer composition over inheritance")]
#[case::i_prefer(StandingInstruction, "I prefer small commits", "Prefer small commits")]
#[case::dont_generated(StandingInstruction, "don't edit the generated files by hand", "Don't edit the generated files by hand")]
#[case::dont_ever(StandingInstruction, "Don't ever commit secrets", "Never commit secrets")]
#[case::use_instead(StandingInstruction, "use httpx instead of requests", "Use httpx instead of requests")]
#[case::we_never(StandingInstruction, "we never deploy on Fridays", "Never deploy on Fridays")]
#[case::no_more(StandingInstruction, "no more emojis please", "No more emojis")]
#[case::should_never(StandingInstruction, "The tests should never hit the network", "The tests should never hit the network")]
#[case::code_name(StandingInstruction, "use `cargo nextest` instead of `cargo test`", "Use `cargo nextest` instead of `cargo test`")]
#[case::relative_that(StandingInstruction, "never merge branches that have failing checks", "Never merge branches that have failing checks")]
#[case::german(StandingInstruction, "Bitte immer auf Deutsch antworten", "Bitte immer auf Deutsch antworten")]
#[case::french(StandingInstruction, "Utilise toujours pnpm pour installer", "Utilise toujours pnpm pour installer")]
#[case::japanese(StandingInstruction, "今後は日本語で書いてください", "今後は日本語で書いてください")]
#[case::chinese(Correction, "不对。以后都用 pnpm 安装依赖", "以后都用 pnpm 安装依赖")]
#[case::no_denied(Correction, "no, not npm, use pnpm", "Use pnpm")]
#[case::makefile(Correction, "No, use the repository's Makefile instead of calling cargo directly", "Use the repository's Makefile instead of calling cargo directly")]
#[case::typescript(Correction, "no, use TypeScript", "Use TypeScript")]
#[case::told_never(Correction, "I already told you: never touch vendor/", "Never touch vendor/")]
#[case::codebase(Correction, "No. In this codebase we never use default exports", "In this codebase we never use default exports")]
#[case::keep_using(Correction, "no, keep using tabs from now on", "Keep using tabs")]
#[case::unless_asked(RejectionWords, "Please don't create new markdown files unless I ask", "Don't create new markdown files unless I ask")]
#[case::any_new(RejectionWords, "I don't want any new dependencies", "The user doesn't want any new dependencies")]
#[case::vendor(RejectionWords, "Do not edit files under vendor/", "Don't edit files under vendor/")]
#[case::without_asking(RejectionWords, "Don't ever run git push without asking", "Never run git push without asking")]
#[case::not_directly(RejectionWords, "use make test, not pytest directly", "Use make test, not pytest directly")]
#[case::changelog(StandingInstruction, "Make sure to always update the changelog", "Always update the changelog")]
#[case::whenever_possible(StandingInstruction, "whenever possible, use the standard library", "Whenever possible, use the standard library")]
#[case::never_ever(StandingInstruction, "never ever force push to main", "Never force push to main")]
#[case::file(StandingInstruction, "never edit src/main.rs by hand", "Never edit src/main.rs by hand")]
#[case::label(StandingInstruction, "IMPORTANT: never push to main", "Never push to main")]
#[case::note_that(StandingInstruction, "Note that we never use npm", "We don't use npm")]
#[case::only_use(StandingInstruction, "Only use ES modules", "Only use ES modules")]
#[case::stick_to(StandingInstruction, "stick to composition", "Stick to composition")]
#[case::before_every(StandingInstruction, "Run the linter before every commit", "Run the linter before every commit")]
#[case::make_sure_before(StandingInstruction, "Make sure to run clippy after each change", "Run clippy after each change")]
#[case::all_commits(StandingInstruction, "All commits must be signed", "All commits must be signed")]
#[case::henceforth(StandingInstruction, "Henceforth, write tests first", "Write tests first")]
#[case::no_circumstances(StandingInstruction, "Under no circumstances push to main", "Never push to main")]
#[case::suite(StandingInstruction, "In future, run the full test suite before pushing", "Run the full test suite before pushing")]
fn a_rule_becomes_a_preference(#[case] kind: SaidKind, #[case] said: &str, #[case] text: &str) {
    let rules = rules_in(kind, said);
    assert_eq!(
        rules
            .iter()
            .map(|rule| rule.text.as_str())
            .collect::<Vec<_>>(),
        [text]
    );
    assert_eq!(rules[0].section, Section::Preferences);
}

#[rstest]
#[case::other_file(Correction, "no, open the other file")]
#[case::use_other(Correction, "no, use the other one")]
#[case::use_it(Correction, "No, use it here")]
#[case::use_that(Correction, "no use that instead")]
#[case::use_line(Correction, "no, use line 42")]
#[case::use_option(Correction, "No, use option 2")]
#[case::use_a_map(Correction, "no, use a map")]
#[case::use_the_button(Correction, "no, use the Button component")]
#[case::use_path(Correction, "no, use src/lib.rs")]
#[case::use_colour(Correction, "no, use blue")]
#[case::use_port(Correction, "no, use port 3001")]
#[case::wrong(Correction, "No, that's wrong.")]
#[case::revert(Correction, "revert that please")]
#[case::undo(Correction, "undo the last change and run the tests")]
#[case::still_broken(Correction, "it still fails on CI")]
#[case::stop(Correction, "Stop.")]
#[case::stop_server(Correction, "stop the server")]
#[case::stop_running(Correction, "stop running the tests")]
#[case::misunderstood(Correction, "you misunderstood, I meant the second function")]
#[case::generated(Correction, "No, that's wrong. the parser reads every line of the input")]
#[case::dont_do_that(Correction, "don't do that")]
#[case::dont_delete_this(Correction, "don't delete this function")]
#[case::dont_yet(RejectionWords, "don't commit yet")]
#[case::dont_now(RejectionWords, "don't run tests now")]
#[case::dont_push(RejectionWords, "don't push")]
#[case::dont_header(StandingInstruction, "don't touch the header")]
#[case::dont_run_the(RejectionWords, "don't run the tests")]
#[case::not_now(RejectionWords, "not now, first fix the build")]
#[case::wait(RejectionWords, "wait, let me check")]
#[case::question(RejectionWords, "why do you always use sudo?")]
#[case::dont_you(RejectionWords, "don't you think we should use a queue")]
#[case::never_mind(StandingInstruction, "never mind")]
#[case::never_mind_that(StandingInstruction, "Never mind the failing lint")]
#[case::dont_worry(StandingInstruction, "don't worry about the lint")]
#[case::dont_know(StandingInstruction, "don't know what happened")]
#[case::dont_need(StandingInstruction, "don't need to run everything")]
#[case::dont_forget(StandingInstruction, "don't forget to save")]
#[case::always_fails(StandingInstruction, "always fails on Mondays")]
#[case::always_wondered(StandingInstruction, "I always wondered how this works")]
#[case::never_again_that(StandingInstruction, "never do that again")]
#[case::like_this(StandingInstruction, "always do it like this")]
#[case::never_said(StandingInstruction, "never said that")]
#[case::for_now(StandingInstruction, "from now on we are in phase two")]
#[case::from_now_on_this(StandingInstruction, "from now on use this branch")]
#[case::remember_to(StandingInstruction, "remember to update the docs")]
#[case::prefer_that(StandingInstruction, "I prefer the second option")]
#[case::if_always(StandingInstruction, "if the job always fails, tell me")]
#[case::unwanted_feature(RejectionWords, "I don't want dark mode")]
#[case::unwanted_modal(RejectionWords, "i don't want a modal in the header")]
#[case::pasted_code(Correction, "No:\n```\nalways use eval\n```")]
#[case::pasted_quote(Correction, "No, look:\n> always use eval in tests")]
#[case::pasted_log(Correction, "no\n$ never run scripts twice")]
#[case::german_this(StandingInstruction, "nie wieder das machen")]
#[case::empty(Correction, "")]
#[case::marks(Correction, "!!! ... ---")]
#[case::denied_only(Correction, "not that one, the one below")]
#[case::use_number(Correction, "No, use 8 instead of 10")]
#[case::use_name(Correction, "no, use getUserById")]
#[case::use_label(Correction, "no, use \"Save\" as the label")]
#[case::use_mine(Correction, "no, use my implementation")]
#[case::must_feature(Correction, "no, the field must be required")]
#[case::must_user(Correction, "No, the user must be logged in to see this page")]
#[case::must_first(Correction, "No, the test must fail first")]
#[case::wrong_use(Correction, "No, we use the wrong endpoint here")]
#[case::feature_click(Correction, "no, when the user clicks, never close the modal")]
#[case::dont_rename(Correction, "No, don't rename the function")]
#[case::retries(Correction, "no more than 3 retries")]
#[case::use_case(Correction, "no use case for that")]
#[case::new_file(RejectionWords, "do not create a new file, put it in utils.ts")]
#[case::review_first(RejectionWords, "don't commit, I want to review first")]
#[case::helper(RejectionWords, "use the existing helper")]
#[case::subagent(RejectionWords, "don't use a subagent for this")]
#[case::feature_banner(StandingInstruction, "The banner should never overlap the menu")]
#[case::feature_show(StandingInstruction, "never show the banner on mobile")]
#[case::feature_email(StandingInstruction, "always validate the email field")]
#[case::limit_tests(StandingInstruction, "Don't add tests")]
#[case::limit_code(StandingInstruction, "do not modify existing code")]
#[case::limit_explain(StandingInstruction, "Don't write any code, just explain")]
#[case::limit_caching(StandingInstruction, "don't implement caching")]
#[case::green(StandingInstruction, "from now on the tests are green")]
#[case::prototype(StandingInstruction, "Keep in mind this is a prototype")]
#[case::vacation(StandingInstruction, "remember that I am on vacation")]
#[case::i_always(StandingInstruction, "I always use vim")]
fn an_order_for_the_moment_is_no_rule(#[case] kind: SaidKind, #[case] said: &str) {
    assert_eq!(rules_in(kind, said), []);
}

#[rstest]
#[case::repeated(Fact, "The staging database is read only.", "The staging database is read only")]
#[case::deploys(Fact, "our deploys run from the release branch", "Our deploys run from the release branch")]
#[case::remembered(StandingInstruction, "Remember that the API is rate limited", "The API is rate limited")]
#[case::keep_in_mind(StandingInstruction, "keep in mind that we use Postgres 16 in production", "We use Postgres 16 in production")]
fn a_fact_becomes_context(#[case] kind: SaidKind, #[case] said: &str, #[case] text: &str) {
    let rules = rules_in(kind, said);
    assert_eq!(
        rules,
        [Rule {
            section: Section::Context,
            text: text.to_owned()
        }]
    );
}

#[rstest]
#[case::report("The build is broken again")]
#[case::failing("the login test fails on CI")]
#[case::person("I have the branch checked out")]
#[case::pointing("That file is in the wrong folder")]
#[case::it("It is the parser")]
#[case::now("The server is running now")]
#[case::question("The staging database is read only?")]
fn a_report_is_no_fact(#[case] said: &str) {
    assert_eq!(rules_in(Fact, said), []);
}

#[test]
fn hostile_texts_are_survived() {
    for text in [
        "no, ".repeat(5_000),
        "İ".repeat(2_000),
        "please ".repeat(900),
        "use Kİ, not x".to_owned(),
    ] {
        for kind in [Correction, RejectionWords, StandingInstruction, Fact] {
            assert!(rules_in(kind, &text).len() <= 3);
        }
    }
}
