//! Finds how a failed command came to work: a later one that did the same and worked, with
//! what differed.
//!
//! What differs are words of the command, its environment or folder, and set-up commands
//! before it. Reading and editing files is work, not a fix. What is not certain is none: a
//! command run again unchanged, a cause that an edit in between may have mended, an option
//! that is still there though the message refused it, and what exists only once.

use std::collections::VecDeque;
use std::sync::Arc;

use super::attempt::Attempt;
use super::deed::{self, Deed};
use super::event::{Call, CallFailure, Fix};
use super::message::{Cause, is_path};
use super::recurring_errors::Way;
use super::words::{KEYWORDS, NAMES_A_TEST, NEVER_TOLD, PROSE, SETS_UP};

/// How many failed calls wait for their fix at a time.
const MAX_OPEN: usize = 32;
/// A call that comes later than so many others had another reason to work.
const MAX_CALLS: usize = 30;
/// How many set-up commands belong to a fix.
const MAX_STEPS: usize = 3;
/// A longer word, in bytes, is data.
const MAX_WORD: usize = 60;
/// A longer command, in bytes, is a script, not a habit.
const MAX_COMMAND: usize = 200;

/// Where files lie that are there only once.
const TEMPORARY: &[&str] = &["/tmp/", "/var/folders/", "$TMPDIR", "mktemp"];

/// The failed calls that are not yet made good.
#[derive(Debug, Default)]
pub(crate) struct Fixes {
    open: VecDeque<Open>,
}

#[derive(Debug)]
struct Open {
    id: Box<str>,
    attempt: Attempt,
    failure: CallFailure,
    /// Calls that worked since.
    calls: usize,
    is_edited: bool,
    steps: VecDeque<String>,
}

/// A failed call that works now, and what made it work where that is certain.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MadeGood {
    pub id: Box<str>,
    pub failed: Arc<Call>,
    pub fix: Option<Fix>,
}

impl Fixes {
    /// Takes a call that failed; returns the ids of those that had failed like it: the same
    /// call, or one like it with the same error.
    pub(crate) fn failed(
        &mut self,
        id: &str,
        call: &Arc<Call>,
        failure: &CallFailure,
    ) -> Vec<Box<str>> {
        let attempt = refused(Attempt::of(call), failure);
        let is_again = |open: &&Open| {
            let same_error = failure.error.is_some() && failure.error == open.failure.error;
            open.attempt.call == *call || (same_error && attempt.is_like(&open.attempt))
        };
        let again = self
            .open
            .iter()
            .filter(is_again)
            .map(|open| open.id.clone())
            .collect();
        if self.open.len() == MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back(Open {
            id: id.into(),
            attempt,
            failure: failure.clone(),
            calls: 0,
            is_edited: false,
            steps: VecDeque::new(),
        });
        again
    }

    /// Takes a call that worked; returns what it makes good.
    pub(crate) fn worked(&mut self, call: &Arc<Call>) -> Vec<MadeGood> {
        if self.open.is_empty() {
            return Vec::new();
        }
        let mut good = Vec::new();
        let attempt = Attempt::of(call);
        let steps: Vec<String> = attempt.deeds.iter().filter_map(set_up).collect();
        self.open.retain_mut(|open| {
            if attempt.makes_good(&open.attempt) {
                let fix = open.fixed_by(&attempt);
                let id = std::mem::take(&mut open.id);
                let failed = open.attempt.call.clone();
                good.push(MadeGood { id, failed, fix });
                return false;
            }
            open.calls += 1;
            open.is_edited |= call.edits();
            for step in &steps {
                open.steps.retain(|known| known != step);
                open.steps.push_back(step.clone());
            }
            while open.steps.len() > MAX_STEPS {
                open.steps.pop_front();
            }
            true
        });
        good
    }

    /// Returns how many failed calls were not made good.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }
}

impl Open {
    /// What made it work, where that is certain.
    fn fixed_by(&self, worked: &Attempt) -> Option<Fix> {
        Some(Fix {
            was_told: false,
            failed: self.attempt.call.clone(),
            error: self.failure.error?,
            way: self.way(worked)?,
        })
    }

    fn way(&self, worked: &Attempt) -> Option<Way> {
        let said = self.failure.said.as_ref()?;
        let may_be_mended = self.is_edited && said.cause == Cause::Other;
        if self.calls > MAX_CALLS || may_be_mended {
            return None;
        }
        let is_it = |deed: &&Deed| deed.subject() == self.failure.subject;
        let old = self.attempt.deeds.iter().rfind(is_it);
        let old = old.or_else(|| deed::main(&self.attempt.deeds).last())?;
        let at = worked.deeds.iter().position(|deed| deed.does(old))?;
        let new = &worked.deeds[at];
        let is_refused = |word: &String| {
            said.options().any(|option| {
                let rest = word.strip_prefix(option);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            })
        };
        if said.cause == Cause::Usage && new.words.iter().any(is_refused) {
            return None;
        }
        let mut steps: Vec<String> = Vec::new();
        if said.cause != Cause::Usage {
            let known: Vec<String> = self.attempt.deeds.iter().filter_map(set_up).collect();
            let before = worked.deeds[..at].iter().filter_map(set_up);
            steps.extend(self.steps.iter().cloned());
            steps.extend(before.filter(|step| !known.contains(step)));
        }
        let is_usage = said.cause == Cause::Usage;
        let told = |deed: &Deed, other: &Deed| {
            let differing = is_usage.then(|| differing(deed, other));
            general(differing.as_ref().unwrap_or(deed), other)
        };
        let failed = told(old, new)?;
        let mut text = told(new, old)?;
        if said.cause == Cause::Missing
            && let Some(folder) = new.folder.as_ref().filter(|_| new.folder != old.folder)
            && !is_temporary(folder)
        {
            text = format!("cd {folder} && {text}");
        }
        let is_fix = failed != text || !steps.is_empty();
        is_fix.then_some(Way {
            failed,
            worked: text,
            steps,
            times: 1,
        })
    }
}

/// An attempt without the values of the options that an error refuses; what failed unseen by
/// its line is marked.
fn refused(mut attempt: Attempt, failure: &CallFailure) -> Attempt {
    let said = failure
        .said
        .as_ref()
        .filter(|said| said.cause == Cause::Usage);
    let options: Vec<&str> = said.iter().flat_map(|said| said.options()).collect();
    let is_it = |deed: &&mut Deed| deed.subject() == failure.subject;
    for deed in attempt.deeds.iter_mut().filter(is_it) {
        deed.is_seen = !deed.is_heard && failure.exit_code.is_none();
        for option in &options {
            deed.forget_value(option);
        }
    }
    attempt
}

/// The program of a command with those words only that `other` has not: of an option that was
/// told wrongly neither what it was used on nor the rest counts.
fn differing(deed: &Deed, other: &Deed) -> Deed {
    let options = deed.words.iter().position(|word| word.starts_with('-'));
    let (before, after) = deed.words.split_at(options.unwrap_or(deed.words.len()));
    let before = before.iter().filter(|word| {
        let is_object = deed
            .objects
            .iter()
            .any(|object| word.ends_with(object.as_str()));
        !word.contains('=') && !KEYWORDS.has(word) && !is_object
    });
    let is_value = |word: &str| word.starts_with('$') || word.bytes().all(|b| b.is_ascii_digit());
    let after = after
        .iter()
        .filter(|word| !other.words.contains(word) && !is_value(word));
    let words = before.chain(after).cloned().collect();
    deed.with(words)
}

/// The command by which something is set up, if it is one that may be told.
fn set_up(deed: &Deed) -> Option<String> {
    let told = deed
        .part
        .split(' ')
        .chain(deed.objects.iter().map(String::as_str));
    let sets_up = told
        .chain([deed.program.as_str()])
        .any(|word| SETS_UP.has(word));
    (sets_up && deed.is_heard)
        .then(|| general(deed, deed))
        .flatten()
}

/// A command as it is told: what exists only once is left open, and so are the files that
/// stand in `other` as well; `None` for one that must not or cannot be told.
fn general(deed: &Deed, other: &Deed) -> Option<String> {
    let is_one = std::ptr::eq(deed, other);
    let mut told: Vec<String> = Vec::new();
    let mut before = "";
    for word in &deed.words {
        let is_shared = !is_one && other.words.contains(word);
        let is_forbidden = NEVER_TOLD.words().iter().any(|part| {
            word == *part || (part.len() > 4 && part.starts_with("--") && word.starts_with(part))
        });
        let is_program =
            deed.interpreter.is_none() && word.rsplit('/').next() == Some(deed.program.as_str());
        // `python -m pytest` names a module, `git commit -m …` what is said.
        let is_module = before == "-m" && *word == deed.program;
        let open = if PROSE.has(before) && !is_module {
            Some("<text>")
        } else if NAMES_A_TEST.has(before) || is_test(word) {
            Some("<test>")
        } else if before == "origin" && !["main", "master", "HEAD"].contains(&word.as_str()) {
            Some("<branch>")
        } else if is_shared && is_path(word) && !is_program && word != "./..." {
            Some("<file>")
        } else {
            one_time(word, before)
        };
        match open {
            Some(open) => told.push(open.to_owned()),
            None if is_forbidden || is_temporary(word) || word.len() > MAX_WORD => return None,
            None => told.push(quoted(word)?),
        }
        before = word;
    }
    let told = told.join(" ");
    (told.len() <= MAX_COMMAND).then_some(told)
}

/// What a word is to be shown as that is another one each time.
fn one_time(word: &str, before: &str) -> Option<&'static str> {
    let bare = word.trim_start_matches('#');
    let hex = bare.len() >= 7 && bare.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits > 0 && digits == bare.len();
    if word.contains("://") {
        Some("<url>")
    } else if (hex && digits > 0) || digits > 4 || (is_number && !before.starts_with('-')) {
        Some("<id>")
    } else {
        None
    }
}

fn is_test(word: &str) -> bool {
    let rest = word.strip_prefix("Test").unwrap_or_default();
    rest.starts_with(|c: char| c.is_ascii_uppercase()) || word.contains("::")
}

fn is_temporary(word: &str) -> bool {
    TEMPORARY.iter().any(|place| word.contains(place))
}

/// A word as it is typed; `None` when it takes more than quotes.
fn quoted(word: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%~$#<>{}^*".contains(c);
    if word.chars().all(is_plain) && !word.is_empty() {
        return Some(word.to_owned());
    }
    let fits = !word.contains(['\'', '\n', '`']);
    fits.then(|| format!("'{word}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::failure;
    use rstest::rstest;

    fn call(tool: &str, input: &str) -> Arc<Call> {
        Arc::new(Call {
            tool: tool.to_owned(),
            input: input.to_owned(),
            ..Call::default()
        })
    }

    /// The fix of a command that failed with `error`, after `then` was run.
    fn fix(failed: &str, error: &str, then: &[(&str, &str)]) -> Option<String> {
        let failed = call("Bash", failed);
        let mut fixes = Fixes::default();
        fixes.failed("t", &failed, &failure::read(&failed, error));
        let found = then
            .iter()
            .flat_map(|(tool, input)| fixes.worked(&call(tool, input)));
        let mut fixes = found.filter_map(|good| good.fix);
        fixes.next().map(|fix| fix.way.to_string())
    }

    const FLAG: &str = "Error: unknown flag: --stat";
    const NO_YAML: &str = "ModuleNotFoundError: No module named 'yaml'";

    #[rstest]
    #[case::option("gh pr diff 12 --stat", FLAG, &["gh pr diff 12 --name-only"],
        "`gh pr diff --name-only` instead of `gh pr diff --stat`")]
    #[case::masked("A=1 acme exec upload --file '/home/a/x.json' --issue-number 12 || true",
        "Usage: acme exec upload [OPTIONS]\n\nError: No such option: --issue-number",
        &["acme exec upload -h", "acme exec upload --file '/home/a/x.json' --plan-id 12 || true"],
        "`acme exec upload --plan-id` instead of `acme exec upload --issue-number`")]
    #[case::masked_in_a_script("if [ -n \"$N\" ]; then acme exec upload --issue-number \"$N\" || true; else echo no; fi",
        "Usage: acme exec upload [OPTIONS]\n\nError: No such option: --issue-number",
        &["if [ -n \"$P\" ]; then acme exec upload --plan-id \"$P\" || true; else echo no; fi"],
        "`acme exec upload --plan-id` instead of `acme exec upload --issue-number`")]
    #[case::environment("cargo test", "error: linker `cc` not found", &["CC=clang cargo test"],
        "`CC=clang cargo test` instead of `cargo test`")]
    #[case::starter("pytest tests/a.py", "bash: pytest: command not found", &["uv run pytest tests/a.py"],
        "`uv run pytest <file>` instead of `pytest <file>`")]
    #[case::module("pytest tests/a.py", "bash: pytest: command not found", &["python3 -m pytest tests/a.py"],
        "`python3 -m pytest <file>` instead of `pytest <file>`")]
    #[case::install("python a.py", NO_YAML, &["pip install pyyaml", "python a.py"],
        "`pip install pyyaml`, then `python <file>` again")]
    #[case::folder("make all", "make: *** No rule to make target 'all'.  Stop.", &["cd web && make all"],
        "`cd web && make all` instead of `make all`")]
    #[case::branch("git push", "fatal: The current branch x has no upstream branch.", &["git push -u origin fix-a-thing"],
        "`git push -u origin <branch>` instead of `git push`")]
    fn what_differed_is_the_fix(
        #[case] failed: &str,
        #[case] error: &str,
        #[case] then: &[&str],
        #[case] want: &str,
    ) {
        let then: Vec<_> = then.iter().map(|line| ("Bash", *line)).collect();
        assert_eq!(fix(failed, error, &then).as_deref(), Some(want));
    }

    #[rstest]
    #[case::unchanged("npm start", "error: x", &[("Bash", "npm start")])]
    #[case::edited("cargo run", "error: x", &[("Edit", "/a.rs"), ("Bash", "cargo run --all")])]
    #[case::read("cat a.txt", "cat: a.txt: No such file or directory", &[("Bash", "cat b.txt")])]
    #[case::still_there("gh pr diff 1 --stat", FLAG, &[("Bash", "gh pr diff 1 --stat -R a/b")])]
    #[case::red_tests("go test ./... -run TestA", "--- FAIL: TestA\nerror: x", &[("Bash", "go test ./... -run TestB")])]
    #[case::forced("git push", "error: x", &[("Bash", "git push --force")])]
    #[case::once_only("acme run", "error: x", &[("Bash", "acme run --to /tmp/x1")])]
    #[case::other_program("git push", "error: x", &[("Bash", "git status")])]
    fn what_is_not_certain_is_no_fix(
        #[case] failed: &str,
        #[case] error: &str,
        #[case] then: &[(&str, &str)],
    ) {
        assert_eq!(fix(failed, error, then), None);
    }

    #[test]
    fn a_failure_stays_open_until_it_is_made_good() {
        let failed = call("Bash", "git push");
        let mut fixes = Fixes::default();
        fixes.failed("t", &failed, &failure::read(&failed, "error: x"));
        assert_eq!(fixes.worked(&call("Bash", "git status")), []);
        assert_eq!(fixes.open(), 1);
        assert_eq!(fixes.worked(&call("Bash", "git push")).len(), 1);
        assert_eq!(fixes.open(), 0);
    }
}
