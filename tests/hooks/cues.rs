//! Promise: a cue matches where its command runs, its file is named or its words are said, and
//! nowhere else. A cue that is too wide is refused.

use crate::common::prelude::*;
use playbook::cue::{Cue, CuedCall, CuedPrompt, Matcher};

fn cue(kind: &str, text: &str) -> Matcher {
    let cue: Cue = serde_json::from_value(json!({kind: text})).unwrap();
    cue.compile().unwrap()
}

#[rstest]
#[case::plain("make proto")]
#[case::more_words("make proto -j4 && ls")]
#[case::after_others("cd api && make proto")]
#[case::substitution("echo $(make proto)")]
#[case::quoted_substitution("echo \"of $(make proto) only\"")]
#[case::backticks("echo \"`make proto`\"")]
#[case::settings("A=1 B='x y' make proto")]
#[case::starters("sudo -u me env A=1 time nice timeout 60 make proto")]
#[case::quotes("make 'proto'")]
#[case::two_lines("ls\nmake \\\n  proto")]
#[case::a_condition("if ! make proto; then exit 1; fi")]
#[case::installed("/usr/bin/make proto")]
#[case::output("make proto >out.txt 2>&1")]
#[case::ansi_quotes("printf $'it\\'s time\\n'; make proto")]
#[case::here_document("cat <<END\n$(make proto)\nEND")]
#[case::shells_document("bash -s <<'END'\nmake proto\nEND")]
#[case::evaluated("eval \"make proto\"")]
#[case::arithmetic("echo $((1 << 4))\n(( x = 1 << 2 ))\nmake proto")]
#[case::installed_in_the_project(".venv/bin/make proto")]
#[case::in_a_list("A=(\"$(make proto)\" $(ls))")]
#[case::in_a_group("if true; then { make proto; }; fi")]
#[case::executed("find . -name '*.proto' -exec make proto {} +")]
#[case::behind_a_file(&format!("cat > a <<'END'\n{}\nEND\nmake proto", "x = 1\n".repeat(9_000)))]
fn a_command_is_found_where_it_runs(#[case] line: &str) {
    let call = CuedCall::read(line, None, "/p");
    assert!(cue("command", "make proto").is_run_by(&call), "{line}");
}

#[rstest]
#[case::spoken_of("echo \"make proto\"")]
#[case::commented("ls # make proto")]
#[case::here_document("cat <<'END'\nmake proto\nEND")]
#[case::single_quotes("echo '$(make proto)'")]
#[case::another_target("make proto2")]
#[case::an_option_between("make -B proto")]
#[case::looked_up("command -v make proto")]
#[case::an_argument("just make proto")]
#[case::another_program("./bin/make proto")]
#[case::ansi_quotes("echo $'don\\'t; make proto'")]
#[case::escaped("cat <<END\n\\$(make proto)\nEND")]
#[case::a_list("A=(make proto) B=1; declare -a C=(make proto)")]
#[case::another_space("make\u{a0}proto")]
#[case::indented_end("cat <<END\n  END\nmake proto\nEND")]
#[case::a_pattern("ls @(make proto); [[ $x =~ (make proto) ]]")]
#[case::braces("echo { make proto; }")]
fn and_nowhere_else(#[case] line: &str) {
    let call = CuedCall::read(line, None, "/p");
    assert!(!cue("command", "make proto").is_run_by(&call), "{line}");
}

#[test]
fn a_starter_may_be_part_of_a_command() {
    let call = CuedCall::read("uv run pytest tests/a", None, "/p");
    for command in ["uv run pytest tests/a", "pytest tests/a"] {
        assert!(cue("command", command).is_run_by(&call), "{command}");
    }
}

#[rstest]
#[case("proto/**/*.proto", "proto/a.proto", true)]
#[case("proto/**/*.proto", "proto/a/b/c.proto", true)]
#[case("proto/**/*.proto", "old/proto/a.proto", false)]
#[case("proto/**/*.proto", "proto/a.prot", false)]
#[case("*.proto", "a/b/c.proto", true)]
#[case("src/*.rs", "src/a/b.rs", false)]
#[case("src/**", "src/a/b.rs", true)]
#[case("src/", "src/a/b.rs", true)]
#[case("**/a.rs", "xa.rs", false)]
#[case("a?.rs", "ab.rs", true)]
#[case("a?.rs", "a/.rs", false)]
#[case("src/**/*.{ts,tsx}", "src/x/a.tsx", true)]
#[case("src/**/*.{ts,tsx}", "src/x/a.js", false)]
fn a_glob_is_compared_as_git_does(#[case] glob: &str, #[case] path: &str, #[case] fits: bool) {
    let prompt = CuedPrompt::read(&format!("look at @{path}, please"), "/p");
    assert_eq!(cue("file", glob).fits_prompt(&prompt), fits, "{prompt:?}");
    let call = CuedCall::read("", Some(&format!("/p/{path}")), "/p");
    assert_eq!(cue("file", glob).fits_call(&call), fits, "{call:?}");
}

#[rstest]
#[case("release notes", "Write the Release\n notes!", true)]
#[case("release notes", "prerelease notes", false)]
#[case("release notes", "release notes_old", false)]
#[case("发布说明", "请写发布说明吧", true)]
#[case("发布说明", "请写发布", false)]
#[case("deploy", "redeploy, then deploy", true)]
fn words_stand_alone(#[case] words: &str, #[case] prompt: &str, #[case] fits: bool) {
    let prompt = CuedPrompt::read(prompt, "/p");
    assert_eq!(cue("words", words).fits_prompt(&prompt), fits);
}

#[rstest]
#[case::program("command", "git")]
#[case::another("command", "python3")]
#[case::only_an_option("command", "npm --silent")]
#[case::any_task("command", "npm run")]
#[case::only_a_starter("command", "sudo")]
#[case::two_commands("command", "make a && make b")]
#[case::nothing("command", "# x")]
#[case::every_file("file", "**/*")]
#[case::a_letter("words", "a")]
#[case::a_common_word("words", "the")]
fn what_is_too_wide_is_refused(#[case] kind: &str, #[case] text: &str) {
    let cue: Cue = serde_json::from_value(json!({kind: text})).unwrap();
    assert!(cue.compile().is_err());
}

#[rstest]
fn a_command_of_the_projects_own_is_taken(
    #[values(
        "./deploy.sh",
        "git push --force",
        "rm -rf",
        "`npm run deploy`",
        "\"/opt/my tool\" run"
    )]
    command: &str,
) {
    cue("command", command);
}
