//! A git repository whose branches learn, driven by a script of learned changes and git commands.
//!
//! A script is a list of steps. `+a` learns the text a, `^a` votes for it, `!a` against it, `-a`
//! deletes it, `a~b` changes it to b, `a&b~c` merges both into c. Each is a job and a commit. With
//! a leading `*` it is not committed; `@x` before it names the job. Other steps are git's: `new`
//! and `on` a branch, `tree` and `back` for a linked worktree, and git's own commands.

use std::cell::{Cell, RefCell};
use std::process::Output;

use crate::common::prelude::*;
use playbook::playbook::Playbook;
use playbook::playbook::ops::apply_operations;
use playbook::playbook::votes::{apply_bullet_tags, read_bullet_tags};

const FILE: &str = ".claude/playbook.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Driver {
    Installed,
    Missing,
}

pub(crate) struct Repository {
    pub(crate) env: TestEnv,
    driver: Driver,
    prefix: RefCell<String>,
    /// The script's working folder: the project or a linked worktree.
    folder: RefCell<PathBuf>,
    scripts: Cell<u32>,
    jobs: Cell<i64>,
}

impl Repository {
    pub(crate) fn new(driver: Driver) -> Self {
        let env = TestEnv::without_worker();
        let repository = Self {
            folder: RefCell::new(env.project()),
            prefix: RefCell::default(),
            driver,
            scripts: Cell::new(0),
            jobs: Cell::new(0),
            env,
        };
        repository.git(&["init", "-q"]);
        repository.env.cli(&["trust"]).ok();
        if driver == Driver::Installed {
            let told = repository.env.cli(&["install", "--merge-driver", "--json"]);
            let told = told.json();
            let attributes = repository.env.project().join(".git/info/attributes");
            write(&attributes, format!("{}\n", told["line"].as_str().unwrap()));
        }
        repository
    }

    /// Runs a script on branches of its own; returns the final playbook.
    pub(crate) fn run(&self, script: &str) -> String {
        let number = self.scripts.get() + 1;
        self.scripts.set(number);
        *self.prefix.borrow_mut() = format!("{number}-");
        *self.folder.borrow_mut() = self.env.project();
        self.git(&["switch", "-q", "-f", "--orphan", &self.branch("main")]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
        for step in script.split(';').map(str::trim) {
            self.step(step);
        }
        self.said()
    }

    fn branch(&self, name: &str) -> String {
        format!("{}{name}", self.prefix.borrow())
    }

    fn step(&self, step: &str) {
        let words: Vec<&str> = step.split(' ').collect();
        let own = |name: &str| self.branch(name);
        let revisions = |words: &[&str]| -> Vec<String> {
            let is_of_git = |word: &str| word.starts_with('-') || word.starts_with("HEAD");
            let named = |word: &&str| match word.split_once("..") {
                _ if is_of_git(word) => (*word).to_owned(),
                Some((from, to)) => format!("{}..{}", own(from), own(to)),
                None => own(word),
            };
            words.iter().map(named).collect()
        };
        match words[..] {
            ["new", name] => self.git(&["switch", "-q", "-c", &own(name)]),
            ["on", name] => self.git(&["switch", "-q", &own(name)]),
            ["tag", name] => self.git(&["tag", &own(name)]),
            ["orphan", name] => {
                self.git(&["switch", "-q", "--orphan", &own(name)]);
            }
            ["tree", name] => {
                let tree = self.env.root().join(own(name));
                let path = tree.to_str().unwrap().to_owned();
                self.git(&["worktree", "add", "-q", "-f", &path, &own(name)]);
                *self.folder.borrow_mut() = tree;
            }
            ["back"] => *self.folder.borrow_mut() = self.env.project(),
            ["stash"] => self.git(&["stash", "-q"]),
            ["pop"] => self.with_conflicts(&["stash".to_owned(), "pop".to_owned()]),
            ["commit"] => self.git(&["commit", "-q", "-m", "squashed"]),
            ["style", style] => self.git(&["config", "merge.conflictStyle", style]),
            [
                command @ ("merge" | "rebase" | "cherry-pick" | "revert"),
                ref rest @ ..,
            ] => {
                let mut arguments = vec![command.to_owned()];
                if ["merge", "revert"].contains(&command) && !rest.contains(&"--squash") {
                    arguments.push("--no-edit".to_owned());
                }
                arguments.extend(revisions(rest));
                self.with_conflicts(&arguments);
            }
            ref deed => {
                let (job, deed) = match *deed {
                    [job, deed] => (job.to_owned(), deed),
                    [deed] => (format!("job-{}", self.jobs.get()), deed),
                    _ => panic!("{step}"),
                };
                self.learn(&job, deed.trim_start_matches('*'));
                if !deed.starts_with('*') {
                    self.git(&["add", FILE]);
                    self.git(&["commit", "-q", "-m", deed]);
                }
            }
        }
    }

    fn learn(&self, job: &str, deed: &str) {
        self.jobs.set(self.jobs.get() + 1);
        let now = Timestamp::from_second(1_800_000_000 + self.jobs.get()).unwrap();
        let mut playbook = self.playbook();
        let before = playbook.clone();
        let of = |text: &str| name_of(&before, text);
        let mut vote = |text: &str, tag: &str| {
            let tags = json!([{"name": of(text), "tag": tag, "rationale": "r"}]);
            apply_bullet_tags(&mut playbook, &read_bullet_tags(&tags).0);
        };
        let operation = match deed.split_at(1) {
            ("^", text) => {
                vote(text, "helpful");
                None
            }
            ("!", text) => {
                vote(text, "harmful");
                None
            }
            ("+", text) => Some(json!({"type": "ADD", "text": rule(text), "section": "OTHERS"})),
            ("-", text) => Some(json!({"type": "DELETE", "target_id": of(text), "reason": "r"})),
            _ => Some(match deed.split_once('~').unwrap() {
                (both, text) if both.contains('&') => {
                    let names: Vec<String> = both.split('&').map(of).collect();
                    json!({"type": "MERGE", "source_ids": names, "merged_text": rule(text)})
                }
                (old, new) => json!({"type": "UPDATE", "target_id": of(old), "text": rule(new)}),
            }),
        };
        if let Some(operation) = operation {
            let applied = apply_operations(&mut playbook, &[operation], "r", now);
            assert!(applied.skipped.is_empty(), "{deed}: {:?}", applied.skipped);
        }
        playbook.mark_applied_to(&before, job);
        playbook.set_last_updated(now);
        write(&self.file(), playbook.to_bytes());
    }

    /// Runs a git command that merges; without the driver the user resolves the conflicts and
    /// continues.
    fn with_conflicts(&self, arguments: &[String]) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut done = self.try_git(&arguments);
        let is_octopus = arguments[0] == "merge" && arguments.len() > 3;
        if is_octopus && !done.status.success() && !self.is_in("MERGE_HEAD") {
            // git gives up on such a merge; the user merges one branch after the other.
            for branch in &arguments[2..] {
                self.with_conflicts(&["merge", "--no-edit", branch].map(str::to_owned));
            }
            return;
        }
        while !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            let unmerged = self.say(&["ls-files", "-u"]);
            assert!(unmerged.contains(FILE), "{arguments:?}: {said}");
            let is_fine = self.driver == Driver::Missing || is_octopus;
            assert!(is_fine, "{arguments:?} has a conflict: {said}");
            self.resolve();
            self.git(&["add", FILE]);
            let go_on = ["rebase", "cherry-pick", "revert"]
                .into_iter()
                .find(|command| {
                    let marks = match *command {
                        "rebase" => "rebase-merge",
                        "cherry-pick" => "CHERRY_PICK_HEAD",
                        _ => "REVERT_HEAD",
                    };
                    self.is_in(marks)
                });
            done = match go_on {
                Some(command) => self.try_git(&[command, "--continue"]),
                None if self.is_in("MERGE_HEAD") => self.try_git(&["commit", "-q", "--no-edit"]),
                None if arguments[0] == "stash" => self.try_git(&["stash", "drop", "-q"]),
                None => return,
            };
        }
    }

    fn is_in(&self, mark: &str) -> bool {
        let path = self.say(&["rev-parse", "--git-path", mark]);
        self.folder.borrow().join(path.trim_end()).exists()
    }

    fn resolve(&self) {
        let folder = self.folder.borrow().clone();
        if folder == self.env.project() {
            let told = self.env.cli(&["status"]);
            has!(told.stderr, "was in the middle of a merge");
            return;
        }
        // The project is the main worktree; this folder is another copy.
        let [base, ours, theirs] = [1, 2, 3].map(|stage| {
            let file = folder.join(format!("stage-{stage}"));
            let said = self.try_git(&["show", &format!(":{stage}:{FILE}")]);
            fs::write(&file, said.stdout).unwrap();
            file.to_str().unwrap().to_owned()
        });
        let output = self.file().to_str().unwrap().to_owned();
        let merge = ["merge-files", &base, &ours, &theirs, "-o", &output];
        self.env.cli(&merge).ok();
    }

    fn file(&self) -> PathBuf {
        self.folder.borrow().join(FILE)
    }

    fn playbook(&self) -> Playbook {
        match fs::read(self.file()) {
            Ok(bytes) => Playbook::parse(&bytes).unwrap(),
            Err(_) => Playbook::empty(),
        }
    }

    fn said(&self) -> String {
        let playbook = self.playbook();
        let names: BTreeSet<&str> = playbook.points().map(|point| point.name).collect();
        assert_eq!(names.len(), playbook.points().count(), "an id stands twice");
        let points = playbook.points().map(|point| {
            let text = point.text.strip_prefix("rule ").unwrap_or(point.text);
            (text.to_owned(), (point.helpful, point.harmful))
        });
        told(points)
    }

    fn git(&self, arguments: &[&str]) {
        let done = self.try_git(arguments);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{arguments:?}: {said}");
    }

    fn say(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.try_git(arguments).stdout).unwrap()
    }

    fn try_git(&self, arguments: &[&str]) -> Output {
        try_git(&self.folder.borrow(), arguments)
    }
}

/// Formats texts with their votes, as a case writes them: `a, b 2/1`.
pub(crate) fn told(points: impl IntoIterator<Item = (String, (u64, u64))>) -> String {
    let mut told: Vec<String> = points
        .into_iter()
        .map(|(text, counts)| match counts {
            (0, 0) => text,
            (helpful, harmful) => format!("{text} {helpful}/{harmful}"),
        })
        .collect();
    told.sort();
    told.join(", ")
}

fn rule(text: &str) -> String {
    format!("rule {text}")
}

fn name_of(playbook: &Playbook, text: &str) -> String {
    let mut points = playbook.points();
    let point = points.find(|point| point.text == rule(text));
    point.map_or_else(|| panic!("no {text}"), |point| point.name.to_owned())
}
