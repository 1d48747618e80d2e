//! `playbook merge-files` merges two playbook files. `playbook install --merge-driver` makes git
//! use that command for a repository's playbooks, so that merges have no conflicts. Only the
//! repository's own configuration is written.

use super::prelude::*;
use super::session;
use crate::freshness::git::Git;
use crate::playbook::three_way::{Sides, Unmergeable, merge_files};
use crate::setup::shell_word;
use crate::store::MAX_FILE_BYTES;

const SECTION: &str = "merge.playbook";
const DRIVER: &str = "merge.playbook.driver";
const NAME: &str = "merge.playbook.name";
/// The line of `.gitattributes` that selects the driver for the file.
const ATTRIBUTE: &str = ".claude/playbook.json merge=playbook";
const LIMIT: Duration = Duration::from_secs(20);

pub(super) fn files(args: &args::MergeFilesArgs) -> anyhow::Result<()> {
    let sides = Sides {
        base: fsx::read_if_there(&args.base, MAX_FILE_BYTES)?,
        ours: fsx::read(&args.ours, MAX_FILE_BYTES)?,
        theirs: fsx::read(&args.theirs, MAX_FILE_BYTES)?,
    };
    let names = [&args.base, &args.ours, &args.theirs].map(|file| file.display().to_string());
    let merged = merge_files(&sides, names.each_ref().map(String::as_str));
    let merged = merged.map_err(|why| {
        let (what, hint) = match why {
            Unmergeable::Unreadable { .. } => (
                "read playbook",
                "mend that file, then try again; nothing was written",
            ),
            Unmergeable::Newer(_) => (
                "merge playbooks",
                "update Playbook, then try again; nothing was written",
            ),
        };
        Hinted::error(format!("could not {what}: {why}"), hint)
    })?;
    fsx::durable(&args.output, &merged.playbook.to_bytes())?;
    let answer = json!({
        "output": args.output,
        "points": merged.playbook.points().count(),
        "decided": merged.decided,
    });
    answer::give(args.json, include_str!("screens/merge_files.txt"), answer)
}

struct Repository {
    project: PathBuf,
    git: Git,
}

impl Repository {
    fn of(env: &Env, project: Option<&Path>) -> anyhow::Result<Self> {
        let project = session::project(env, project)?;
        let git = Git::at(&project, LIMIT);
        if git.ask_now(&["rev-parse", "--git-dir"]).is_none() {
            let shown = project.display();
            let what = format!("{shown} is in no git repository that can be used");
            let hint =
                "`git status` there says why; without git, `playbook merge-files` merges files";
            return Err(Hinted::error(what, hint));
        }
        Ok(Self { project, git })
    }

    fn driver(&self) -> Option<String> {
        let said = self.git.ask_now(&["config", "--local", "--get", DRIVER])?;
        Some(String::from_utf8_lossy(&said).trim_end().to_owned())
    }

    fn configure(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let arguments = [&["config", "--local"], arguments].concat();
        self.git.ask_now(&arguments).map(drop).ok_or_else(|| {
            let project = self.project.display();
            let what = format!("git could not write the configuration of {project}");
            Hinted::error(what, "`git config --local --list` there says why")
        })
    }

    fn has_attribute(&self) -> bool {
        let asked = ["check-attr", "-z", "merge", "--", ".claude/playbook.json"];
        let said = self.git.ask_now(&asked).unwrap_or_default();
        said.split(|byte| *byte == 0)
            .any(|word| word == b"playbook")
    }
}

pub(super) fn install(env: &Env, args: &args::InstallArgs) -> anyhow::Result<()> {
    let repository = Repository::of(env, args.project.as_deref())?;
    let program = std::env::current_exe()?;
    let program = program.to_str().ok_or_else(|| {
        Hinted::error(
            format!("the path of this program is no text: {}", program.display()),
            "install it in a folder whose name is UTF-8",
        )
    })?;
    let driver = format!("{} merge-files %O %A %B -o %A", shell_word(program));
    let is_changed = repository.driver().as_ref() != Some(&driver);
    if is_changed && !args.dry_run {
        repository.configure(&[NAME, "merges playbooks key point by key point"])?;
        repository.configure(&[DRIVER, &driver])?;
    }
    let answer = json!({
        "project": repository.project,
        "driver": driver,
        "changed": is_changed,
        "dry_run": args.dry_run,
        "gitattributes": repository.project.join(".gitattributes"),
        "line": ATTRIBUTE,
        "has_line": repository.has_attribute(),
    });
    answer::give(args.json, include_str!("screens/merge_driver.txt"), answer)
}

pub(super) fn uninstall(env: &Env, args: &args::UninstallArgs) -> anyhow::Result<()> {
    let repository = Repository::of(env, args.project.as_deref())?;
    let driver = repository.driver();
    if driver.is_some() && !args.dry_run {
        repository.configure(&["--remove-section", SECTION])?;
    }
    let answer = json!({
        "project": repository.project,
        "removed": driver,
        "dry_run": args.dry_run,
        "line": ATTRIBUTE,
        "has_line": repository.has_attribute(),
    });
    let screen = include_str!("screens/merge_driver_removed.txt");
    answer::give(args.json, screen, answer)
}
