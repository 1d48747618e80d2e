//! The context of a command: folders, settings, project, account.

use std::collections::HashMap;
use std::sync::Arc;

use super::jobs::{self, JobState, Row};
use super::prelude::*;
use super::worker;
use crate::account::{self, Account, Sent};
use crate::backend::Backend;
use crate::config::{self, Config};
use crate::memory::{Answer, Question};
use crate::queue::ask::{BackendParts, build};
use crate::queue::budget::{Caller, Meter};
use crate::queue::context::Worker;
use crate::queue::outcome::in_words;
use crate::queue::worker::see_through;
use crate::queue::worker_lock;
use crate::redact::{Masker, PatternError};
use crate::reflect::tellable::Outlet;
use crate::sharing::Names;
use crate::state_guard::Breach;
use crate::store::{self, Snapshots};
use crate::tenant::Tenant;
use crate::trust::outside;
use crate::{memory, news, place, project};

pub(super) const PATIENCE: Duration = Duration::from_secs(600);

pub(super) struct NamedSession {
    pub(super) env: Env,
    pub(super) paths: Paths,
    pub(super) config: Config,
    pub(super) project: PathBuf,
    pub(super) tenant: Tenant,
}

impl NamedSession {
    /// A playbook behind a symlink that leads out of an untrusted project is an error.
    pub(super) fn open(project: Option<&Path>) -> anyhow::Result<Self> {
        let mut session = Self::look(project)?;
        session.config = config::for_project(&session.paths, &session.project)?;
        session.may_follow()?;
        Ok(session)
    }

    fn follow_move(&self) {
        let moved = place::follow(&self.paths, &self.project).ok().flatten();
        let former = moved.iter().flat_map(|place| place.left(&self.paths));
        let mut memory = None;
        for former in former {
            let name = self.project.to_string_lossy();
            let memory = memory.get_or_insert_with(|| Memory::open(&self.paths.memory_db()));
            // A command that needs the memory reports what is wrong with it.
            if let Ok(memory) = memory {
                _ = memory.move_project(&former.to_string_lossy(), &name);
            }
        }
    }

    /// Merges a playbook that git left in the middle of a merge, and reports it. A command that
    /// needs the playbook reports what prevents that.
    fn tell_merge(&self) {
        if outside::refused(Some(&self.paths), &self.project).is_none() {
            self.store().settle();
        }
        if let Some(news) = news::take(&self.paths, &self.project) {
            output::note(&news);
        }
    }

    fn may_follow(&self) -> anyhow::Result<()> {
        let hint = "look where it leads; then `playbook trust`, or replace the link";
        let refused = outside::refused(Some(&self.paths), &self.project);
        refused.map_or(Ok(()), |what| Err(Hinted::error(what, hint)))
    }

    /// Works even if the settings cannot be used, for a read-only command.
    pub(super) fn look(project: Option<&Path>) -> anyhow::Result<Self> {
        let (session, breach) = Self::examine(project)?;
        breach.map_or(Ok(session), |breach| Err(breach.into()))
    }

    /// Also returns the breach of the guard; after one, the state folder must not be read.
    pub(super) fn examine(project: Option<&Path>) -> anyhow::Result<(Self, Option<Breach>)> {
        let env = Env::from_process();
        let paths = Paths::resolve(&env)?;
        let breach = state_guard::check(&paths).err();
        let project = match project {
            Some(folder) if std::path::absolute(folder)? == paths.own() => folder.to_owned(),
            folder => self::project(&env, folder)?,
        };
        let config = config::for_project(&paths, &project).unwrap_or_default();
        let session = Self {
            env,
            paths,
            config,
            project,
            tenant: Tenant::User,
        };
        if breach.is_none() {
            session.follow_move();
            session.tell_merge();
        }
        Ok((session, breach))
    }

    pub(super) fn on_own() -> anyhow::Result<Self> {
        Self::open(Some(Paths::resolve(&Env::from_process())?.own()))
    }

    pub(super) fn on(on: &args::On) -> anyhow::Result<Self> {
        Self::open(on.project.as_deref())
    }

    /// Also takes a project that only the database may know.
    pub(super) fn that_learned_of(of: &args::Of) -> anyhow::Result<Self> {
        let found = Self::that_learned(of.project.as_deref(), &of.whose);
        let (Err(_), Some(name)) = (&found, &of.project) else {
            return found;
        };
        let mut session = Self::look(None)?;
        if of.whose.tenant.is_some() || !sharing::is_wanted(&session.env, &session.config) {
            return found;
        }
        session.project.clone_from(name);
        Ok(session)
    }

    /// Resolves the context in `chosen`: a folder, or the exact name under which the project was
    /// learned. Such a name is that of a removed folder, or from another agent's trace.
    pub(super) fn that_learned(
        chosen: Option<&Path>,
        tenant: &args::OfTenant,
    ) -> anyhow::Result<Self> {
        let mut session = Self::look(None)?;
        session.tenant = tenant.tenant.clone().unwrap_or_default();
        let Some(chosen) = chosen else {
            return Ok(session);
        };
        let known = match session.memory()? {
            Some(memory) => memory.projects()?,
            None => Vec::new(),
        };
        let absolute = std::path::absolute(chosen)?;
        // If a folder here has the same name, `./name` is the folder.
        for name in [chosen, &absolute] {
            if known.iter().any(|known| name.as_os_str() == known.as_str()) {
                name.clone_into(&mut session.project);
                session.config = config::for_project(&session.paths, name).unwrap_or_default();
                return Ok(session);
            }
        }
        if absolute.is_dir() {
            return Self::look(Some(chosen));
        }
        Err(Hinted::error(
            format!("no such project: {}", plain(&chosen.to_string_lossy())),
            "a folder, or a name that `playbook recall --all` shows",
        ))
    }

    pub(super) fn project_of(&self, of: &args::Of) -> Option<String> {
        (!of.all).then(|| self.project_name())
    }

    /// Opens the memory; `None` if nothing was ever stored.
    pub(super) fn memory(&self) -> anyhow::Result<Option<Memory>> {
        let file = self.paths.memory_of(&self.tenant);
        // If the file cannot be inspected, opening it reports why.
        let is_there = file.try_exists().unwrap_or(true);
        let memory = is_there.then(|| Memory::open(&file)).transpose()?;
        Ok(memory.map(|memory| memory.masked_by(self.masker().unwrap_or_default())))
    }

    /// Asks the database of `memory.url`, if one is set; else, or if it does not answer, this
    /// machine's memory.
    pub(super) fn ask(&self, question: &Question) -> anyhow::Result<Answer> {
        if self.tenant == Tenant::User && sharing::is_wanted(&self.env, &self.config) {
            match self.ask_database(question.clone()) {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => {}
                Err(error) => output::note(&format!("only what this machine knows: {error:#}")),
            }
        }
        let memory = self.memory()?;
        let answer = memory.map(|memory| memory.ask(question, self.env.clock().now()));
        Ok(answer.transpose()?.unwrap_or_default())
    }

    /// Returns `None` for a project that is not shared.
    fn ask_database(&self, mut question: Question) -> anyhow::Result<Option<Answer>> {
        let mut names = Names::of(&self.paths, &self.config);
        let asked = question.project().clone();
        let mut here = vec![asked.unwrap_or_else(|| self.project_name())];
        if let Some(project) = question.project() {
            let Some(shared) = names.shared(project) else {
                return Ok(None);
            };
            *project = shared;
        } else if let Some(memory) = self.memory()? {
            here.extend(memory.all_projects()?);
        }
        let mut answer = worker::ask(&question)?;
        let here = here.into_iter();
        let own: HashMap<String, String> = here
            .filter_map(|own| Some((names.shared(&own)?, own)))
            .collect();
        let outlet = Outlet::new(self.masker()?);
        let errors = answer.errors.iter_mut().map(|(error, _)| error);
        for memory in answer.memories.iter_mut().chain(errors) {
            outlet.memory(memory);
            if let Some(own) = own.get(&memory.project) {
                memory.project.clone_from(own);
            }
        }
        Ok(Some(answer))
    }

    pub(super) fn playbook(&self) -> anyhow::Result<Playbook> {
        Ok(self.shown(self.playbook_file()?))
    }

    /// Keeps the secrets. Refuses a symlink that leads out of an untrusted project.
    pub(super) fn playbook_file(&self) -> anyhow::Result<Playbook> {
        Ok(self.with_votes(self.without_votes()?))
    }

    /// Returns the same without the votes of the memory, which is not read.
    pub(super) fn without_votes(&self) -> anyhow::Result<Playbook> {
        self.may_follow()?;
        Ok(self.store().load()?)
    }

    fn with_votes(&self, file: Playbook) -> Playbook {
        match store::votes::read(&self.paths, &self.project, &file) {
            Ok(votes) => file.with_votes(&votes),
            Err(error) => {
                output::note(&format!("only the votes in the file are counted: {error}"));
                file
            }
        }
    }

    /// Masks a playbook for display. Works also if the settings cannot be used.
    pub(super) fn shown(&self, mut playbook: Playbook) -> Playbook {
        playbook.mask_secrets(&self.masker().unwrap_or_default());
        playbook
    }

    /// Returns the project's playbook with secrets masked, as a job would find it.
    pub(super) fn masked_playbook(&self) -> anyhow::Result<Playbook> {
        let mut playbook = self.with_votes(self.store().load()?);
        playbook.mask_secrets(&self.masker()?);
        Ok(playbook)
    }

    pub(super) fn masker(&self) -> Result<Masker, PatternError> {
        Ok(self.config.secrets.secrecy()?.masker)
    }

    pub(super) fn store(&self) -> store::Store {
        store::Store::of(&self.paths, &self.project)
    }

    pub(super) fn snapshots(&self) -> Snapshots {
        Snapshots::new(&self.paths.project(&self.project))
    }

    pub(super) fn project_name(&self) -> String {
        self.project.to_string_lossy().into_owned()
    }

    pub(super) fn account(&self) -> anyhow::Result<Account> {
        Ok(account::of_worker(
            &self.env,
            &self.config,
            (&self.paths, Some(&self.project)),
        )?)
    }

    /// Returns the ledger's figures; empty if it cannot be read.
    pub(super) fn sent(&self) -> Sent {
        let memory = self.memory().ok().flatten();
        let sent = memory.and_then(|memory| Sent::of(&memory, self.env.clock().now()).ok());
        sent.unwrap_or_default()
    }

    pub(super) fn account_to_look_at(&self) -> Account {
        let place = (&self.paths, Some(&*self.project));
        account::to_look_at(&self.env, &self.config, place)
    }

    /// Completes a job; `None` if it waits, or if another process holds it up for `patience`.
    pub(super) fn see_through(
        context: &Arc<Worker>,
        id: &JobId,
        patience: Duration,
    ) -> anyhow::Result<Option<memory::FinishedJob>> {
        let row = runtime()?.block_on(async {
            tokio::select! {
                row = see_through(Arc::clone(context), id, PATIENCE) => row,
                () = hangs(context, patience) => Ok(None),
            }
        })?;
        Ok(row.map(|row| row.job))
    }

    pub(super) fn waits(&self, id: &JobId) -> anyhow::Error {
        let now = self.env.clock().now();
        let rows = jobs::rows(self, now).unwrap_or_default().into_iter();
        let mut waiting = rows.filter(|row| row.id == *id && row.state == JobState::Waiting);
        let (why, hint) = if let Some(Row { reason, next, .. }) = waiting.next() {
            let next = next.filter(|next| *next > now);
            let next = next.map(|next| change_text::seen_from(next, now));
            let again = next.map(|next| format!("; it is tried again {next}"));
            (
                format!(": {}{}", in_words(&reason), again.unwrap_or_default()),
                "nothing is lost; mend what it names, then `playbook jobs retry --all` tries it",
            )
        } else if let Some(pid) = other_worker(&self.paths) {
            (
                format!(": a worker (process {pid}) has not come to it"),
                "nothing is lost; if that process hangs, end it, then `playbook worker`",
            )
        } else {
            (
                String::new(),
                "nothing is lost; `playbook jobs` says why it is not done and when it is tried again",
            )
        };
        Hinted::error(format!("job {id} is not done yet{why}"), hint)
    }

    /// Builds an account's backend; calls that cost something count against the budgets.
    pub(super) fn backend<'a>(
        &self,
        parts: BackendParts<'a>,
        context: Option<&'a Worker>,
    ) -> anyhow::Result<Box<dyn Backend + 'a>> {
        let backend = build(parts.account.need.backend, parts).map_err(anyhow::Error::msg)?;
        Ok(match context {
            Some(context) => {
                let caller = Caller::without_job(&self.project, context.now());
                Box::new(Meter::new(backend, context, caller))
            }
            None => backend,
        })
    }

    /// Returns the context for a question of the user's own; `None` where it costs nothing.
    pub(super) fn context_for(&self, account: &Account) -> anyhow::Result<Option<Arc<Worker>>> {
        let costs = !account.need.backend.is_offline();
        costs.then(|| self.context()).transpose()
    }

    pub(super) fn context(&self) -> anyhow::Result<Arc<Worker>> {
        state_guard::close(&self.paths)?;
        let user = config::load(&self.paths.config_file())?;
        let account = (self.account()?, Some(self.project.clone()));
        let memory = sharing::open_memory(&self.paths, &self.config)?;
        let worker = Worker::new(&self.env, self.paths.clone(), user, account, memory);
        Ok(Arc::new(worker))
    }
}

pub(super) fn project(env: &Env, chosen: Option<&Path>) -> anyhow::Result<PathBuf> {
    let start = match (chosen, env.path(name::CLAUDE_PROJECT_DIR)) {
        (Some(folder), _) => existing(folder)?,
        (None, Some(folder)) => std::path::absolute(folder)?,
        (None, None) => std::env::current_dir().map_err(|error| Hinted {
            what: format!("could not find the current folder: {error}"),
            hint: "`cd` to a folder that is there, or give `--project FOLDER`",
        })?,
    };
    let project = project::find(&start);
    if project.to_str().is_none() {
        let shown = project.display();
        return Err(Hinted::error(
            format!("could not use project: {shown}: its path is not UTF-8"),
            "rename the folder; nothing is learned from sessions in it either",
        ));
    }
    Ok(project)
}

pub(super) fn existing(folder: &Path) -> anyhow::Result<PathBuf> {
    let folder = std::path::absolute(folder)?;
    let why = match std::fs::metadata(&folder) {
        Ok(about) if about.is_dir() => return Ok(folder),
        Ok(_) => "not a folder".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "no such folder".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Hinted::error(
        format!("could not find project: {}: {why}", folder.display()),
        "give the folder that the session was started in, or one in it",
    ))
}

pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("could not start the runtime")
}

const QUIET_TIME: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);

fn other_worker(paths: &Paths) -> Option<i32> {
    let holder = worker_lock::holder(&paths.worker_lock())?;
    let own = i32::try_from(std::process::id()).ok();
    Some(holder.process.pid).filter(|pid| Some(*pid) != own)
}

/// Ends when one other process has held on for `patience`; reports first what is waited for.
async fn hangs(context: &Worker, patience: Duration) {
    let (mut held, mut since) = (None, Instant::now());
    let mut is_reported = false;
    loop {
        tokio::time::sleep(LOOK).await;
        if !is_reported && context.has_unsaved_answers() {
            output::note(
                "the model's answer cannot be stored now: trying again; Ctrl-C gives it up",
            );
            is_reported = true;
        }
        let pid = other_worker(context.paths());
        if pid != held {
            (held, since) = (pid, Instant::now());
        }
        let Some(pid) = pid else { continue };
        if !is_reported && since.elapsed() >= QUIET_TIME {
            output::note(&format!("waiting for the worker (process {pid})"));
            is_reported = true;
        }
        if since.elapsed() >= patience {
            return;
        }
    }
}
