//! Which commands try the same, and what met an error.

use super::super::deed::only_looks;
use super::*;
use rstest::rstest;

fn attempt(tool: &str, input: &str) -> Attempt {
    Attempt::of(&Arc::new(Call {
        tool: tool.to_owned(),
        input: input.to_owned(),
        ..Call::default()
    }))
}

#[rstest]
#[case("git push origin main", "cd sub && git push --no-tags origin main")]
#[case("npm test", "pnpm test")]
#[case("git add -A && git commit -m 'a b'", "git commit -m 'c d e'")]
#[case("python run.py", "python3 run.py")]
#[case("python3 -m pytest tests/a", "uv run pytest tests/a")]
#[case("tsc --noEmit", "npx tsc --noEmit")]
#[case("bash deploy.sh", "chmod +x deploy.sh && ./deploy.sh")]
#[case("sh -c 'cargo build'", "env A=1 timeout 60 cargo build")]
#[case("gh pr diff 12 --stat", "gh pr diff 12 --name-only")]
#[case("set -o pipefail; make 2>&1 | tail", "make && echo done")]
fn a_command_makes_one_like_it_good(#[case] failed: &str, #[case] worked: &str) {
    let (failed, worked) = (attempt("Bash", failed), attempt("Bash", worked));
    assert!(worked.makes_good(&failed), "{failed:?} {worked:?}");
}

#[rstest]
#[case::other_script("npm run build", "npm run lint")]
#[case::other_program("pytest tests/a.py", "black tests/a.py")]
#[case::other_file("python a.py", "python b.py")]
#[case::nothing_named("ls src/foo", "ls")]
#[case::a_part_of_it("cargo test && cargo clippy", "cargo clippy")]
#[case::may_have_failed("make", "make | tail -5")]
#[case::only_spoken_of("git push", "echo git push")]
fn another_command_makes_nothing_good(#[case] failed: &str, #[case] worked: &str) {
    let (failed, worked) = (attempt("Bash", failed), attempt("Bash", worked));
    assert!(!worked.makes_good(&failed), "{failed:?} {worked:?}");
}

#[rstest]
#[case::subcommand("gh pr diff 12 --stat", "unknown flag: --stat", Some("gh pr diff"))]
#[case::named("git add a && go build", "go: cannot find module: x", Some("go build"))]
#[case::one_of_two("cargo build && cargo run", "error: x", None)]
#[case::starter_is_missing("python run.py", "bash: python: command not found", Some("python"))]
#[case::task(
    "mise run lint",
    "[lint] $ golangci-lint run\nError: unknown flag: --foo",
    Some("golangci-lint run")
)]
#[case::script(
    "npm run lint",
    "> app@1.0.0 lint\n> eslint .\nerror: x",
    Some("eslint")
)]
fn an_error_is_of_the_program_that_met_it(
    #[case] command: &str,
    #[case] output: &str,
    #[case] want: Option<&str>,
) {
    let message = ErrorMessage::find(output).unwrap();
    assert_eq!(subject("Bash", command, &message, output).as_deref(), want);
    assert_eq!(
        subject("Read", command, &message, output).as_deref(),
        Some("Read")
    );
}

#[rstest]
#[case("cd x && git -C y log --oneline | head -3", true)]
#[case("sudo cat x; wc -l < y", true)]
#[case("sed -n 1,5p a.rs # then edit", true)]
#[case("for f in *.rs; do head -1 \"$f\"; done", true)]
#[case("grep -n 'a > b' x", true)]
#[case("git push", false)]
#[case("sed -i s/a/b/ x", false)]
#[case("cat > b <<'END'\nx\nEND", false)]
#[case("find . -name x -delete", false)]
#[case("for f in *.rs; do ./x \"$f\"; done", false)]
#[case("", false)]
fn what_changes_nothing_is_known(#[case] line: &str, #[case] looks: bool) {
    assert_eq!(only_looks(line, &[]), looks, "{line}");
}

proptest::proptest! {
    #[test]
    fn any_command_is_read(line in "[a-z\"'\\\\;|&(){}`<>#=. \n-]{0,200}") {
        let attempt = attempt("Bash", &line);
        proptest::prop_assert!(attempt.makes_good(&attempt));
    }
}
