//! What a call tries to do, and whether another one tries the same.
//!
//! Two commands try the same when the same program is told to do the same: `git push` and
//! `git status` share a word and nothing else. What only moves about (`cd`), looks or
//! prepares counts only where a line does nothing more.

use std::sync::Arc;

use super::deed::Deed;
use super::event::Call;
use super::shell::{self, Command, base_name};

/// What a call tries to do.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    call: Arc<Call>,
    deeds: Vec<Deed>,
}

impl Aim {
    /// Reads what a call tries.
    pub(crate) fn of(call: &Arc<Call>) -> Self {
        let deeds = if shell::runs_commands(&call.tool) {
            let command = Command::read(&call.input);
            command.steps().filter_map(Deed::of).collect()
        } else {
            Vec::new()
        };
        Self {
            call: call.clone(),
            deeds,
        }
    }

    /// Tells whether it tries what `other` tried.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.call == other.call || self.covers(other, Deed::is_like)
    }

    /// Tells whether it shows, by having worked, that what `failed` tried can be done: also
    /// that none of it may have failed unseen.
    pub(crate) fn makes_good(&self, failed: &Self) -> bool {
        self.call == failed.call || self.covers(failed, |new, old| new.is_heard && new.is_like(old))
    }

    /// Tells whether, having worked, it ran the last of what `failed` ran, be it on
    /// something else.
    pub(crate) fn reruns(&self, failed: &Self) -> bool {
        let last = failed.main().last();
        self.call == failed.call
            || last.is_some_and(|old| {
                let mut deeds = self.deeds.iter();
                deeds.any(|new| new.is_heard && new.is_told_the_same(old))
            })
    }

    fn covers(&self, other: &Self, same: impl Fn(&Deed, &Deed) -> bool) -> bool {
        if family(&self.call.tool) != family(&other.call.tool) {
            return false;
        }
        if other.deeds.is_empty() {
            return self.deeds.is_empty() && are_like(&self.call, &other.call);
        }
        other
            .main()
            .all(|old| self.deeds.iter().any(|new| same(new, old)))
    }

    /// The commands that a line is about.
    fn main(&self) -> impl Iterator<Item = &Deed> {
        let most = self.deeds.iter().map(|deed| deed.weight).max();
        let deeds = self.deeds.iter();
        deeds.filter(move |deed| Some(deed.weight) == most)
    }
}

/// Returns the name that tools for the same job share.
pub(crate) fn family(tool: &str) -> &str {
    match tool {
        "MultiEdit" | "Write" => "Edit",
        "Agent" => "Task",
        _ => tool,
    }
}

/// Tells whether two calls of tools that run no command try the same.
fn are_like(a: &Call, b: &Call) -> bool {
    if family(&a.tool) == "Edit" {
        // An edit of another file is another one, though its name be the same.
        return is_end_of(&a.input, &b.input) || is_end_of(&b.input, &a.input);
    }
    let is_name = |text: &str| !text.contains(char::is_whitespace);
    if is_name(&a.input) && is_name(&b.input) {
        return base_name(&a.input) == base_name(&b.input);
    }
    are_akin(&words(&a.input), &words(&b.input))
}

/// Tells whether `end` is the last part of a path.
fn is_end_of(end: &str, path: &str) -> bool {
    let before = path.strip_suffix(end.trim_start_matches("./"));
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The words of a text, sorted, each once.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'))
        .filter(|word| word.len() > 1 && !word.starts_with('-'))
        .map(str::to_owned)
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Tells whether two sorted lists share at least half.
pub(crate) fn are_akin(a: &[String], b: &[String]) -> bool {
    let common = a.iter().filter(|word| b.binary_search(word).is_ok());
    let common = common.count();
    common > 0 && 2 * common >= a.len().max(b.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn aim(tool: &str, input: &str) -> Aim {
        Aim::of(&Arc::new(Call {
            tool: tool.to_owned(),
            input: input.to_owned(),
        }))
    }

    #[rstest]
    #[case("git push", "git push")]
    #[case("git push", "git push -u origin main")]
    #[case("git push origin main", "cd sub && git push --no-tags origin main")]
    #[case("cargo test --offlin", "cargo test --offline")]
    #[case("cargo tset", "cargo test")]
    #[case("npm run tests", "npm run test")]
    #[case("npm run build", "cd web && npm run build")]
    #[case("npm test", "pnpm test")]
    #[case("npm start", "npm install && npm start")]
    #[case("git add -A && git commit -m 'a b'", "git commit -m 'c d e'")]
    #[case("python run.py", "python3 run.py")]
    #[case("python3 -m pytest tests/a", "uv run pytest tests/a")]
    #[case("tsc --noEmit", "npx tsc --noEmit")]
    #[case("docker-compose up", "docker compose up -d")]
    #[case("make all", "make -C build all")]
    #[case("bash deploy.sh", "chmod +x deploy.sh && ./deploy.sh")]
    #[case("FOO=1 cargo build", "cargo build 2>/dev/null")]
    #[case("cat foo.txt", "cat src/foo.txt")]
    #[case(
        "curl -sf http://localhost:3000/health",
        "curl -s http://localhost:8080/health"
    )]
    #[case(
        "python3 - <<'E'\nimport yaml\nprint(yaml)\nE",
        "python3 - <<'E'\nimport yaml\nprint(yaml.x)\nE"
    )]
    #[case("set -o pipefail; make 2>&1 | tail", "make && echo done")]
    fn a_command_makes_one_like_it_good(#[case] failed: &str, #[case] worked: &str) {
        let (failed, worked) = (aim("Bash", failed), aim("Bash", worked));
        assert!(worked.makes_good(&failed), "{failed:?} {worked:?}");
    }

    #[rstest]
    #[case::other_part("git push", "git status")]
    #[case::other_part("git push", "git pull --rebase")]
    #[case::other_part("cargo test", "cargo fmt")]
    #[case::other_part("npm test", "npm install")]
    #[case::other_part("make", "make clean")]
    #[case::other_part("docker compose up", "docker ps")]
    #[case::other_script("npm run build", "npm run lint")]
    #[case::no_script("npm run build", "npm run")]
    #[case::other_program("npm test", "cargo test")]
    #[case::other_program("pytest tests/a.py", "black tests/a.py")]
    #[case::in_the_same_folder(
        "cd /home/u/proj && cargo test",
        "cd /home/u/proj && grep -n a src/lib.rs"
    )]
    #[case::in_the_same_folder("cd /home/u/proj && cargo test", "cd /home/u/proj && ls")]
    #[case::in_the_same_environment(
        "RUST_LOG=debug CI=1 cargo test",
        "RUST_LOG=debug CI=1 cargo fmt"
    )]
    #[case::other_file("cat a.txt", "cat b.txt")]
    #[case::other_file("python a.py", "python b.py")]
    #[case::other_file("pytest /home/u/proj/tests/a.py", "pytest /home/u/proj/tests/b.py")]
    #[case::other_command("python manage.py migrate", "python manage.py shell")]
    #[case::other_thing("kubectl get pods", "kubectl get nodes")]
    #[case::other_code("python -c 'import yaml'", "python -c 'print(1)'")]
    #[case::nothing_named("ls src/foo", "ls")]
    #[case::a_part_of_it("cargo test && cargo clippy", "cargo clippy")]
    #[case::may_have_failed("make", "make | tail -5")]
    #[case::may_have_failed("make", "make || true")]
    #[case::may_have_failed("./deploy.sh", "./deploy.sh; echo \"exit: $?\"")]
    #[case::may_have_failed("npm start", "npm start &")]
    #[case::only_spoken_of("git push", "echo git push")]
    fn another_command_makes_nothing_good(#[case] failed: &str, #[case] worked: &str) {
        let (failed, worked) = (aim("Bash", failed), aim("Bash", worked));
        assert!(!worked.makes_good(&failed), "{failed:?} {worked:?}");
    }

    #[rstest]
    #[case::same_name_elsewhere("Read", "/a/main.rs", "Read", "/a/src/main.rs", true)]
    #[case::other_file(
        "Read",
        "/home/u/proj/src/a.rs",
        "Read",
        "/home/u/proj/src/b.rs",
        false
    )]
    #[case::other_editor("Edit", "/a.rs", "MultiEdit", "/a.rs", true)]
    #[case::relative("Edit", "src/a.rs", "Edit", "/p/src/a.rs", true)]
    #[case::edit_elsewhere("Edit", "/p/a/mod.rs", "Edit", "/p/b/mod.rs", false)]
    #[case::other_tool("Bash", "cat a.rs", "Read", "a.rs", false)]
    #[case::query(
        "WebSearch",
        "rust flock nfs",
        "WebSearch",
        "rust flock nfs linux",
        true
    )]
    #[case::no_input("TodoWrite", "", "TodoWrite", "", true)]
    fn other_tools_are_alike_by_what_they_are_given(
        #[case] tool: &str,
        #[case] input: &str,
        #[case] later_tool: &str,
        #[case] later_input: &str,
        #[case] good: bool,
    ) {
        let worked = aim(later_tool, later_input);
        assert_eq!(worked.makes_good(&aim(tool, input)), good);
    }

    #[rstest]
    #[case("npm install foo", "npm install bar", true)]
    #[case("npm run lint", "npm run lint -- --fix", true)]
    #[case("cd x && npx tsc --noEmit", "npx tsc --noEmit", true)]
    #[case("make", "make | tail", false)]
    #[case("cargo clippy", "cargo fmt", false)]
    fn a_check_is_run_again(#[case] failed: &str, #[case] worked: &str, #[case] again: bool) {
        assert_eq!(aim("Bash", worked).reruns(&aim("Bash", failed)), again);
    }

    proptest::proptest! {
        #[test]
        fn any_command_is_read(line in "[a-z\"'\\\\;|&(){}`<>#=. \n-]{0,200}") {
            let aim = aim("Bash", &line);
            proptest::prop_assert!(aim.makes_good(&aim));
        }
    }
}
