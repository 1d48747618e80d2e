//! The notices for the next start of a session, about jobs that make no progress.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::context::Worker;
use super::job::{JobEvent, JobId};
use super::outcome::in_words;
use super::schedule::Schedule;
use super::status::{Notice, Status};
use super::{progress, spool};
use crate::account::Sent;
use crate::hook::HookEvent;
use crate::learned_news::{LearnedNews, told_until};
use crate::memory::{Entry, JobOutcome, JobRow, Memory, UnsettledQuote};
use crate::playbook::ChangeKind;
use crate::prepared::Notices;
use crate::setup::{switched_on, templates};
use crate::shown::counted;

const LONG: SignedDuration = SignedDuration::from_hours(24);
/// The number of sessions without a reflection from which on a notice is shown.
const MANY_SESSIONS: usize = 10;
/// The number of finished jobs that are looked at for that.
const LAST_JOBS: u64 = 50;
/// The most failed jobs whose transcripts are looked for.
const MANY_FAILED: usize = 50;

pub(super) fn all(
    context: &Worker,
    schedule: &Schedule,
    unreadable: &BTreeSet<String>,
) -> Vec<Notice> {
    let told = [
        failed(context),
        waiting(context, schedule),
        unreflected(context, schedule),
        used_up(context),
    ];
    let mut all: Vec<Notice> = told.into_iter().flatten().collect();
    all.extend(sent(context));
    all.extend(begun_anew(context));
    all.extend(unreadable.iter().map(|why| {
        let text = format!("a job is left alone: {why}; `playbook jobs` lists the jobs");
        Notice::new(why, text)
    }));
    let templates = templates::unfit(context.paths()).into_iter();
    all.extend(templates.map(|text| Notice::new(&text.clone(), text)));
    all.extend(without_account(context, schedule));
    all
}

/// Keys and logins that are refused or not there, by the names that hooks know them by.
fn without_account(context: &Worker, schedule: &Schedule) -> Vec<Notice> {
    let own = context.account.names();
    let has_jobs = schedule.waiting().next().is_some();
    let lack = context.account.lack().filter(|_| has_jobs);
    let lack = lack.map(|lack| (own[0].clone(), lack));
    let backoff = context.backoff();
    let refused = backoff.refused().filter_map(|(account, parked)| {
        let (command, why) = parked.remedy.as_ref()?;
        let text = format!("{}; `{command}` {why}", in_words(&parked.reason));
        Some((account.clone(), text))
    });
    let notices = lack.into_iter().chain(refused).flat_map(|(account, text)| {
        let is_own = own.contains(&account);
        let names = if is_own { own.clone() } else { vec![account] };
        names.into_iter().map(move |account| Notice {
            account: Some(account),
            ..Notice::new("account", format!("nothing is learned: {text}"))
        })
    });
    notices.collect()
}

/// Today's calls, for the first start after one, and once a day.
fn sent(context: &Worker) -> Option<Notice> {
    let sent = Sent::of(&context.memory(), context.now()).ok()?;
    let text = sent.today(&context.account, context.now());
    let text = text.filter(|_| context.config.top.notices == Notices::All)?;
    let topic = format!("sent\n{}", context.account.need.account());
    Some(Notice::new(&topic, text))
}

fn begun_anew(context: &Worker) -> Vec<Notice> {
    let since = context.now().checked_sub(LONG).unwrap_or(Timestamp::MIN);
    let projects = context.memory().begun_anew(since).unwrap_or_default();
    let notices = projects.into_iter().map(|(project, until)| {
        let until = until.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M");
        Notice::new(
            &format!("begun anew\n{project}"),
            format!("what was remembered of {project} is gone, as memory.db was deleted, moved away or replaced; sessions until {until} have counted and are not counted again, later ones are"),
        )
    });
    let renamed = Memory::set_aside_since(&context.paths().memory_db(), since);
    let renamed = renamed.into_iter().map(|file| {
        let file = file.display();
        let text = format!("memory.db could not be read and is now {file}; a new one was begun, the playbooks are as they were");
        Notice::new(&format!("renamed\n{file}"), text)
    });
    notices.chain(renamed).collect()
}

pub(super) fn quarantine(context: &Worker) -> BTreeMap<String, u64> {
    let counts = context.memory().quarantine_counts().unwrap_or_default();
    let key = |project: &str| Status::project_key(Path::new(project));
    let keyed = counts.iter().map(|(project, count)| (key(project), *count));
    keyed.collect()
}

fn failed(context: &Worker) -> Option<Notice> {
    let folder = context.paths().failed();
    let failed = spool::list(&folder).ok()?;
    let is_gone = |id: &JobId| {
        let job = progress::read(&folder, id);
        job.is_ok_and(|job| job.is_of_session() && !job.ticket.transcript.exists())
    };
    let can_be_retried = failed.len() > MANY_FAILED || !failed.iter().all(is_gone);
    let remedy = if can_be_retried {
        "`playbook jobs` says why, `playbook jobs retry --all` tries again"
    } else {
        "the transcripts are gone; `playbook jobs` lists them, `playbook jobs drop ID` removes one"
    };
    let have = if failed.len() == 1 { "has" } else { "have" };
    let text = format!("{} {have} failed; {remedy}", counted(failed.len(), "job"));
    (!failed.is_empty()).then(|| Notice::new("failed", text))
}

fn used_up(context: &Worker) -> Option<Notice> {
    let account = context.account.need.account();
    let backoff = context.backoff();
    let parked = backoff.parked(&account, context.now());
    let parked = parked.filter(|parked| parked.is_budget)?;
    let text = format!(
        "sessions wait until tomorrow: {}; `playbook --cost` shows what was spent",
        in_words(&parked.reason)
    );
    Some(Notice::new("budget", text))
}

/// Names what keeps jobs waiting: at once where the user can change it, else after a day.
fn waiting(context: &Worker, schedule: &Schedule) -> Option<Notice> {
    let now = context.now();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let is_long = |since: Timestamp| now.duration_since(since) > LONG;
    let waiting = schedule.waiting();
    for entry in waiting.filter(|it| it.is_stuck || is_long(it.since)) {
        let reason = entry.reason.as_deref();
        let reason = reason.map_or("no worker came to it", in_words);
        *reasons.entry(reason).or_default() += 1;
    }
    let count: usize = reasons.values().sum();
    let (reason, _) = reasons.into_iter().max_by_key(|(_, count)| *count)?;
    let text = format!(
        "{}: {reason}; `playbook jobs` lists what waits, `playbook jobs retry --all` tries again",
        match count {
            1 => "1 job waits".to_owned(),
            _ => format!("{count} jobs wait"),
        }
    );
    Some(Notice::new("waiting", text))
}

fn unreflected(context: &Worker, schedule: &Schedule) -> Option<Notice> {
    let rows = context.memory().last_jobs(None, LAST_JOBS).ok()?;
    let is_applied = |row: &&JobRow| row.job.outcome == JobOutcome::Applied;
    let since = rows.iter().find(is_applied).map(|row| row.job.finished);
    let done = rows.iter().take_while(|row| !is_applied(row));
    let done = done.filter(|row| is_session(row)).count();
    let waiting = schedule.waiting();
    let waiting = waiting.filter(|entry| entry.is_ended_session && Some(entry.since) > since);
    let sessions = done + waiting.count();
    let text = format!(
        "none of the last {sessions} sessions was learned from; `playbook doctor` says what to do"
    );
    (sessions >= MANY_SESSIONS).then(|| Notice::new("unreflected", text))
}

fn is_session(row: &JobRow) -> bool {
    row.job.event == JobEvent::SessionEnd.word() && row.job.reason != super::stages::NOTHING_NEW
}

const LATEST: u64 = 500;
const NAMED: usize = 3;

/// Writes the news for the next start in a project, also an empty list.
pub(super) fn refresh(context: &Worker, project: &Path) {
    let written = news(context, project).and_then(|news| {
        LearnedNews::leave(news.as_ref(), context.paths(), project).map_err(|e| e.to_string())
    });
    if let Err(error) = written {
        context.log("worker", &error);
    }
}

fn news(context: &Worker, project: &Path) -> Result<Option<LearnedNews>, String> {
    let config = context.config_for(project);
    if config.map_err(|e| e.to_string())?.top.notices == Notices::Quiet {
        return Ok(None);
    }
    let told = told_until(context.paths(), project);
    let name = project.to_string_lossy();
    let changes = context.memory().history(&name, LATEST);
    let mut changes = changes.map_err(|e| e.to_string())?;
    let guarded = first_guarded(&changes).filter(|first| Some(first.time) > told);
    let is_off = || switched_on(context.paths(), HookEvent::PreToolUse).is_none();
    let guarded = guarded.filter(|first| is_learned(first) && is_off());
    let guarded = guarded.map(|first| first.change.id.clone());
    changes.retain(|entry| Some(entry.time) > told && is_learned(entry));
    let said = context.memory().unsettled_quotes(&name);
    let mut said = said.map_err(|e| e.to_string())?;
    said.retain(|said| Some(said.since) > told);
    Ok(with_said(of(&changes, guarded.as_deref()), &said))
}

fn is_learned(entry: &Entry) -> bool {
    let by_hand = [
        JobEvent::Edit,
        JobEvent::AgentEdit,
        JobEvent::Undo,
        JobEvent::HandEdit,
    ];
    !by_hand.iter().any(|event| event.word() == entry.event)
}

fn first_guarded(changes: &[Entry]) -> Option<&Entry> {
    let has_guard = |entry: &&Entry| {
        let after = entry.change.after.as_ref();
        after.is_some_and(|after| after.due().guard)
    };
    changes.iter().rev().find(has_guard)
}

/// Summarises changes, the newest first; `guarded` is a key point whose guard is off.
fn of(changes: &[Entry], guarded: Option<&str>) -> Option<LearnedNews> {
    let (mut new, mut reworded, mut gone, mut wrong) = <[BTreeSet<&str>; 4]>::default().into();
    for Entry { change, .. } in changes.iter().rev() {
        let id = change.id.as_str();
        match change.kind {
            ChangeKind::Add | ChangeKind::Merge => _ = new.insert(id),
            ChangeKind::Update => _ = reworded.insert(id),
            ChangeKind::Harmful => _ = wrong.insert(id),
            ChangeKind::Delete | ChangeKind::Prune | ChangeKind::Evict => {
                // What came and went in between was never seen.
                if !new.remove(id) {
                    gone.insert(id);
                }
                reworded.remove(id);
                wrong.remove(id);
            }
            _ => {}
        }
    }
    reworded.retain(|id| !new.contains(id));
    let told = [
        (new.len(), "new key point", ""),
        (reworded.len(), "key point", " reworded"),
        (gone.len(), "key point", " removed"),
    ];
    let told = told.into_iter().filter(|(count, ..)| *count > 0);
    let told = told.map(|(count, what, how)| format!("{}{how}", counted(count, what)));
    let told: Vec<String> = told.collect();
    let (first, last) = (changes.last()?, changes.first()?);
    let day = |entry: &Entry| {
        let time = entry.time.to_zoned(TimeZone::system());
        time.strftime("%-d %b").to_string()
    };
    let since = match (day(first), day(last)) {
        (first, last) if first == last => format!("on {first}"),
        (first, _) => format!("since {first}"),
    };
    let mut parts = Vec::new();
    if !told.is_empty() {
        parts.push(format!("{} {since}", told.join(", ")));
    }
    if !wrong.is_empty() {
        parts.push(format!("{} marked wrong", named(&wrong)));
    }
    parts.extend(
        guarded.map(|id| {
            format!("`playbook guard on` lets `{id}` turn its command back before it runs")
        }),
    );
    let text = parts.join("; ");
    (!text.is_empty()).then(|| LearnedNews {
        text: format!("{text} (`playbook log`)"),
        until: last.time,
    })
}

fn with_said(news: Option<LearnedNews>, said: &[UnsettledQuote]) -> Option<LearnedNews> {
    let until = news.as_ref().map(|news| news.until);
    let until = said.iter().map(|said| said.since).max().max(until)?;
    let quotes = said.iter().take(NAMED);
    let quotes =
        quotes.map(|said| format!("You said: \"{}\" (kept; waits for the curator)", said.quote));
    let parts = news.map(|news| news.text).into_iter().chain(quotes);
    Some(LearnedNews {
        text: parts.collect::<Vec<_>>().join("; "),
        until,
    })
}

/// `pat-001 was`, `pat-001, pat-002 and 4 more were`.
fn named(ids: &BTreeSet<&str>) -> String {
    let names: Vec<String> = ids.iter().take(NAMED).map(|id| format!("`{id}`")).collect();
    let more = ids.len().saturating_sub(NAMED);
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    let were = if ids.len() == 1 { "was" } else { "were" };
    format!("{}{more} {were}", names.join(", "))
}
