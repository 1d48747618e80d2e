//! `playbook add`, `edit`, `remove`, `pin`, `undo`: the user's own changes.
//!
//! Each is a job like any other, so it is applied once, recorded, and can be undone. It is tried on
//! a copy first: an impossible change is reported immediately and leaves no job.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::guard::GUARD;
use super::output::{self, Hinted, plain};
use super::session::{self, NamedSession};
use super::show::note_distrust;
use super::{agent, answer, args, change_text, jobs, restore};
use crate::cue::Cue;
use crate::memory::JobOutcome;
use crate::playbook::change::Applied;
use crate::playbook::ops::RefusedEdit;
use crate::playbook::{DueChange, Playbook, Point, Section, is_own_name};
use crate::queue::apply::{self, EditError, NOBODY, PlaybookEdit, Sources};
use crate::queue::context::Worker;
use crate::queue::job::{JobEvent, JobId, Ticket};
use crate::queue::progress::{self, Job};
use crate::queue::screening;
use crate::queue::spool::{self, IdEntropy};
use crate::setup::switched_on;
use crate::store::Store;
use crate::trust::TrustStanding;

/// The longest wait for a running worker to make an edit, which takes no time itself.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
pub(super) const SCREEN: &str = include_str!("screens/edit.txt");

pub(super) fn add(args: args::AddArgs) -> anyhow::Result<()> {
    let (text, section) = (args.text, section(&args.section)?);
    let edit = PlaybookEdit::Add {
        text,
        section,
        due: DueChange::default(),
        brought: None,
    };
    if args.propose {
        propose(&NamedSession::on(&args.on)?, &edit, args.on.json)
    } else {
        run(&args.on, &edit)
    }
}

fn propose(session: &NamedSession, edit: &PlaybookEdit, as_json: bool) -> anyhow::Result<()> {
    let context = session.context()?;
    let edit = &edit.masked(&session.masker()?);
    let checked = check(session, &context, edit, session.masked_playbook()?)?;
    if let Checked::Nothing { why, .. } = checked {
        return tell_nothing(&why, as_json);
    }
    let by = if agent::is_at_it(&session.env) {
        screening::BY_AGENT
    } else {
        screening::BY_USER
    };
    let why = screening::propose(&context, &session.project, edit, by)?;
    tell_screened(session, &context, edit, &why, as_json)
}

pub(super) fn edit(args: args::EditArgs) -> anyhow::Result<()> {
    let due = due(&args);
    let edit = PlaybookEdit::Change {
        point: args.id,
        text: args.text,
        section: args.section.as_deref().map(section).transpose()?,
        due,
    };
    run(&args.on, &edit)
}

/// Reads the cue to set. A guard is set with it, or added to the existing cue.
fn due(args: &args::EditArgs) -> DueChange {
    let when = Cue {
        command: args.when_command.clone(),
        file: args.when_file.clone(),
        words: args.when_words.clone(),
    };
    let is_set = args.no_when || !when.is_empty();
    DueChange {
        when: is_set.then_some(when),
        guard: (is_set || args.guard).then_some(args.guard),
    }
}

pub(super) fn pin(args: args::PinArgs) -> anyhow::Result<()> {
    let (point, off) = (args.id, args.off);
    run(&args.on, &PlaybookEdit::Pin { point, off })
}

pub(super) fn undo(args: &args::UndoArgs) -> anyhow::Result<()> {
    let on = &args.on;
    if let Some(snapshot) = &args.to {
        return restore::run(&NamedSession::on(on)?, snapshot.as_deref(), on.json);
    }
    let job = args.job.as_deref().unwrap_or_default();
    let id = JobId::parse(job).ok_or_else(|| Hinted {
        what: format!("not a job id: {}", plain(job)),
        hint: "`playbook log` lists the jobs of this project",
    })?;
    let session = on_job(on, &id)?;
    finish_first(&session, &id)?;
    run_in(&session, &PlaybookEdit::Undo { job: id }, on.json)
}

fn on_job(on: &args::On, id: &JobId) -> anyhow::Result<NamedSession> {
    let session = NamedSession::on(on)?;
    let row = match session.memory()? {
        Some(memory) => memory.job(id.as_str())?,
        None => None,
    };
    let is_own = row.is_some_and(|row| session.paths.own().as_os_str() == row.job.project.as_str());
    if is_own {
        NamedSession::on_own()
    } else {
        Ok(session)
    }
}

/// Completes a job that was applied but interrupted; a job that still waits is an error.
fn finish_first(session: &NamedSession, id: &JobId) -> anyhow::Result<()> {
    let Ok(job) = progress::read(&session.paths.spool(), id) else {
        return Ok(());
    };
    let playbook = Store::of(&session.paths, &job.ticket.project).load()?;
    if !job.progress.is_applied && !playbook.is_applied(id.as_str()) {
        return Err(Hinted::error(
            format!("job {id} has not been applied yet"),
            "`playbook jobs` says what it waits for",
        ));
    }
    NamedSession::see_through(&session.context()?, id, session::PATIENCE)?;
    Ok(())
}

pub(super) fn run(on: &args::On, edit: &PlaybookEdit) -> anyhow::Result<()> {
    let session = if edit.points().iter().any(|id| is_own_name(id)) {
        NamedSession::on_own()?
    } else {
        NamedSession::on(on)?
    };
    run_in(&session, edit, on.json)
}

fn run_in(session: &NamedSession, edit: &PlaybookEdit, as_json: bool) -> anyhow::Result<()> {
    let context = session.context()?;
    if matches!(edit, PlaybookEdit::Change { due, .. } if !due.is_none()) {
        agent::refuse(&session.env, "when a key point is due")?;
    }
    let edit = &edit.masked(&session.masker()?);
    let left = match check(session, &context, edit, session.masked_playbook()?)? {
        Checked::Changes(left) => left,
        Checked::Nothing { why, is_left }
            if is_left && matches!(edit, PlaybookEdit::Undo { .. }) =>
        {
            // Another process may be making the same undo: its job stays until that is recorded.
            let is_at_it = is_waiting(session, edit)?;
            match check(session, &context, edit, session.masked_playbook()?)? {
                Checked::Nothing {
                    why,
                    is_left: false,
                } => return tell_nothing(&why, as_json),
                _ if is_at_it => return tell_nothing("it is being undone", as_json),
                _ => {}
            }
            return Err(Hinted::error(
                format!("could not undo it: {why}"),
                "`playbook log` shows what came after it; `playbook undo --to` brings a snapshot back",
            ));
        }
        Checked::Nothing { why, .. } => return tell_nothing(&why, as_json),
    };
    if agent::is_at_it(&session.env)
        && let Some(why) =
            screening::hold_foreign(&context, &session.project, edit, screening::BY_AGENT)?
    {
        return tell_screened(session, &context, edit, &why, as_json);
    }
    let mut answer = carry_out(session, &context, edit)?;
    answer["left"] = left.into();
    answer::give(as_json, SCREEN, answer)?;
    note_distrust(&TrustStanding::of(&session.paths, &session.project));
    let is_guarded = matches!(edit, PlaybookEdit::Change { due, .. } if due.guard == Some(true));
    if is_guarded && switched_on(&session.paths, GUARD).is_none() {
        output::note("the guard is off, so the command runs; `playbook guard on` switches it on");
    }
    Ok(())
}

fn is_waiting(session: &NamedSession, edit: &PlaybookEdit) -> anyhow::Result<bool> {
    let rows = jobs::rows(session, session.env.clock().now())?;
    let edits = rows
        .iter()
        .filter_map(|row| row.job.as_ref()?.edit.as_ref());
    Ok(edits.into_iter().any(|other| other == edit))
}

pub(super) fn quietly(session: &NamedSession, edit: &PlaybookEdit) -> anyhow::Result<()> {
    let context = session.context()?;
    let edit = &edit.masked(&session.masker()?);
    let playbook = session.masked_playbook()?;
    if let Checked::Changes(_) = check(session, &context, edit, playbook)? {
        carry_out(session, &context, edit)?;
    }
    Ok(())
}

pub(super) enum Checked {
    /// The changes that could not be made, each with its reason.
    Changes(Vec<String>),
    /// The edit changes nothing; `is_left` if it could make none of its changes.
    Nothing { why: String, is_left: bool },
}

/// Tries an edit on a copy of the playbook; the error says why it is impossible.
pub(super) fn check(
    session: &NamedSession,
    context: &Worker,
    edit: &PlaybookEdit,
    mut playbook: Playbook,
) -> anyhow::Result<Checked> {
    let sources = Sources {
        project: &session.project_name(),
        memory: &context.memory(),
        snapshots: &session.snapshots(),
        max_points: session.config.playbook.max_points,
    };
    let before = pinned(&playbook);
    let Applied { changes, skipped } =
        match apply::apply_edit(edit, &mut playbook, sources, context.now()) {
            Ok(applied) => applied,
            Err(EditError::Nothing(why)) => {
                return Ok(Checked::Nothing {
                    why,
                    is_left: false,
                });
            }
            Err(EditError::Refused(why)) => {
                return Err(Hinted::error(why.to_string(), hint(edit, &why)));
            }
            Err(error) => return Err(error.into()),
        };
    if pinned(&playbook) != before {
        agent::refuse(&session.env, "what is pinned")?;
    }
    let left: Vec<String> = skipped
        .into_iter()
        .map(|it| format!("{}: {}", it.what, it.reason))
        .collect();
    if !changes.is_empty() {
        return Ok(Checked::Changes(left));
    }
    let is_left = !left.is_empty();
    let why = if is_left {
        left.join("; ")
    } else {
        "it is so already".to_owned()
    };
    Ok(Checked::Nothing { why, is_left })
}

fn pinned(playbook: &Playbook) -> Vec<(String, Section, String)> {
    let pinned = playbook.points().filter(Point::is_pinned);
    let texts = pinned.map(|point| (point.name.to_owned(), point.section, point.text.to_owned()));
    texts.collect()
}

fn hint(edit: &PlaybookEdit, why: &RefusedEdit) -> &'static str {
    match edit {
        _ if *why == RefusedEdit::Empty => "say what is to be remembered, in a sentence",
        _ if matches!(why, RefusedEdit::TooLong(_)) => "shorten it, or make two of it",
        PlaybookEdit::Undo { .. } => "`playbook log` lists the jobs of this project",
        PlaybookEdit::Restore { .. } => "`playbook undo --to` lists the snapshots",
        PlaybookEdit::Add { .. } => {
            "`playbook show` lists the key points; `playbook edit` changes one"
        }
        _ => "`playbook show` lists the key points",
    }
}

pub(super) fn tell_nothing(why: &str, as_json: bool) -> anyhow::Result<()> {
    let answer = json!({"applied": false, "reason": why, "changes": []});
    answer::give(as_json, SCREEN, answer)
}

/// Reports that an edit waits because of `why`, or that the user has decided on it before.
fn tell_screened(
    session: &NamedSession,
    context: &Worker,
    edit: &PlaybookEdit,
    why: &str,
    as_json: bool,
) -> anyhow::Result<()> {
    let waiting = context.memory().quarantine(&session.project_name())?;
    let text = edit.text().unwrap_or_default();
    if !waiting.iter().any(|row| row.held.text == text) {
        return tell_nothing("the user has decided on it before", as_json);
    }
    let why = format!("held back: {why}");
    if as_json {
        return tell_nothing(&why, as_json);
    }
    answer::show(SCREEN, json!({"held": true, "reason": why}))
}

/// Masks the edit, because the job may have to wait.
pub(super) fn carry_out(
    session: &NamedSession,
    context: &Arc<Worker>,
    edit: &PlaybookEdit,
) -> anyhow::Result<Value> {
    let edit = edit.masked(&session.masker()?);
    let event = match edit {
        PlaybookEdit::Undo { .. } => JobEvent::Undo,
        _ if agent::is_at_it(&session.env) => JobEvent::AgentEdit,
        _ => JobEvent::Edit,
    };
    let ticket = Ticket {
        need: Some(NOBODY),
        ..Ticket::new(event, &session.project, context.now())
    };
    let entropy = IdEntropy::in_order(session.env.clock(), ticket.at);
    let id = spool::put_as(&session.paths, &entropy, ticket, |ticket| {
        let mut job = Job::new(ticket.clone());
        job.edit = Some(edit.clone());
        job
    })?;
    let Some(job) = NamedSession::see_through(context, &id, PATIENCE)? else {
        return Err(session.waits(&id));
    };
    // Another process undid the same job first.
    let is_taken_back = job.outcome == JobOutcome::Skipped && event == JobEvent::Undo;
    if job.outcome != JobOutcome::Applied && !is_taken_back {
        return Err(Hinted::error(
            format!("job {id} was {}: {}", job.outcome.word(), job.reason),
            "the playbook was changed meanwhile; look with `playbook show`, then try again",
        ));
    }
    let changes = context.memory().changes_of(id.as_str())?;
    Ok(json!({
        "applied": job.outcome == JobOutcome::Applied,
        "job": job.id,
        "reason": job.reason,
        "changes": change_text::all_in_json(&changes),
    }))
}

fn section(text: &str) -> anyhow::Result<Section> {
    let word = text.trim().to_lowercase();
    let has_word = |section: &Section| {
        let title = section.title().to_lowercase();
        word != "&" && title.split(' ').any(|known| known == word)
    };
    Section::from_title(text)
        .or_else(|| Section::from_slug(&word))
        .or_else(|| Section::ALL.into_iter().find(has_word))
        .ok_or_else(|| {
            let what = format!("no section {}", plain(text));
            let hint = "they are: patterns, mistakes, preferences, context, others";
            Hinted::error(what, hint)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::title("patterns & approaches", Some(Section::Patterns))]
    #[case::slug("mis", Some(Section::Mistakes))]
    #[case::word("Preferences", Some(Section::Preferences))]
    #[case::last_word("context", Some(Section::Context))]
    #[case::none("", None)]
    #[case::sign("&", None)]
    #[case::unknown("ideas", None)]
    fn a_section_has_many_names(#[case] text: &str, #[case] expected: Option<Section>) {
        assert_eq!(section(text).ok(), expected);
    }
}
