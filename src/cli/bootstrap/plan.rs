//! Which sessions are new, and what they would take; changes nothing.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::backend::Name;
use crate::cli::args;
use crate::cli::output::{DIM, counted, plain, say};
use crate::cli::session::Session;
use crate::cli::transcripts::{self, Found};
use crate::project;
use crate::queue::bootstrap::{self, Earlier, News};
use crate::queue::budget::Usage;
use crate::queue::job::JobId;
use crate::queue::request::{self, Wish};
use crate::queue::shop::Shop;

#[derive(Debug)]
pub(super) struct Planned {
    pub(super) earlier: Earlier,
    pub(super) began: Timestamp,
    /// Whether others come first: it holds copies of their records.
    pub(super) follows: bool,
}

/// A job of an earlier run that has not ended.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) id: JobId,
    pub(super) planned: Planned,
}

#[derive(Debug)]
pub(super) struct Plan {
    /// Sessions to make jobs of, oldest first.
    pub(super) new: Vec<Planned>,
    /// Jobs of an earlier run, oldest first.
    pub(super) begun: Vec<Begun>,
    pub(super) estimate: Usage,
    pub(super) backend: Name,
    project: PathBuf,
    /// All transcripts of the project, within the time asked for.
    found: usize,
    too_little: usize,
    open: usize,
    unreadable: Vec<String>,
}

pub(super) fn make(
    session: &Session,
    shop: &Arc<Shop>,
    args: &args::Bootstrap,
) -> anyhow::Result<Plan> {
    let candidates = candidates(session, args);
    let waiting = bootstrap::waiting(shop, &session.project)?;
    let open = bootstrap::open_now(shop);
    let mut plan = Plan {
        new: Vec::new(),
        begun: Vec::new(),
        estimate: Usage::default(),
        backend: shop.account.need.backend,
        project: session.project.clone(),
        found: candidates.len(),
        too_little: 0,
        open: 0,
        unreadable: Vec::new(),
    };
    let mut evidence: Vec<u64> = Vec::new();
    for job in &waiting.ours {
        evidence.push(bootstrap::evidence_of(shop, &session.config, job));
        let ticket = &job.ticket;
        plan.begun.push(Begun {
            id: ticket.id.clone(),
            planned: Planned {
                earlier: Earlier {
                    session: ticket.session.clone(),
                    transcript: ticket.transcript.clone(),
                    cwd: ticket.cwd.clone(),
                    project: ticket.project.clone(),
                },
                began: began(&ticket.transcript).unwrap_or(ticket.at),
                follows: false,
            },
        });
    }
    let most = args
        .max
        .map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let bar = bar(candidates.len());
    for (place, planned) in (0..).zip(candidates) {
        if plan.new.len() + plan.begun.len() >= most {
            break;
        }
        bar.inc(1);
        if is_open(&open, &planned) {
            plan.open += 1;
            continue;
        }
        match bootstrap::look(shop, &session.config, &waiting, &planned.earlier, place) {
            Ok(News::Enough { tokens, has_copies }) => {
                evidence.push(tokens);
                plan.new.push(Planned {
                    follows: has_copies,
                    ..planned
                });
            }
            Ok(News::TooLittle) => plan.too_little += 1,
            Ok(News::Nothing) => {}
            Err(error) => plan.unreadable.push(error.to_string()),
        }
    }
    bar.finish_and_clear();
    plan.estimate = bootstrap::estimate(shop, &session.config, &session.project, &evidence)?;
    Ok(plan)
}

/// A bar for the reading; hidden off a terminal.
fn bar(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("reading {bar:30} {pos}/{len}");
    ProgressBar::new(length as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn is_open(open: &HashSet<PathBuf>, planned: &Planned) -> bool {
    open.contains(&planned.earlier.transcript)
}

fn began(transcript: &std::path::Path) -> Option<Timestamp> {
    transcripts::about(transcript).map(|about| about.began)
}

/// The project's sessions, oldest first.
fn candidates(session: &Session, args: &args::Bootstrap) -> Vec<Planned> {
    let now = session.env.clock().now();
    let since = args.since.and_then(|since| now.checked_sub(since).ok());
    let mut candidates: Vec<(Timestamp, Planned)> = transcripts::all(&session.paths)
        .into_iter()
        .filter(|found| !(args.skip_subagents && found.is_subagents))
        .filter_map(|found| candidate(session, found))
        .filter(|(ended, _)| since.is_none_or(|since| *ended >= since))
        .collect();
    // A fork has its parent's beginning: the one that ended first is likely the parent.
    candidates.sort_by(|(a_ended, a), (b_ended, b)| {
        (a.began, a_ended, &a.earlier.transcript).cmp(&(b.began, b_ended, &b.earlier.transcript))
    });
    candidates.into_iter().map(|(_, planned)| planned).collect()
}

/// A transcript of the project, by the folder that it says it was held in; where it says
/// none, by the folder that it lies in.
fn candidate(session: &Session, found: Found) -> Option<(Timestamp, Planned)> {
    let about = transcripts::about(&found.path)?;
    let project = match &about.cwd {
        Some(cwd) => project::find(cwd),
        None if transcripts::is_filed_under(&found, &session.project) => session.project.clone(),
        None => return None,
    };
    (project == session.project).then(|| {
        let planned = Planned {
            earlier: Earlier {
                session: found.session,
                transcript: found.path,
                cwd: about.cwd.unwrap_or_else(|| project.clone()),
                project,
            },
            began: about.began,
            follows: false,
        };
        (about.ended, planned)
    })
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.begun.is_empty()
    }

    /// How many jobs there are to see through, in words.
    pub(super) fn jobs(&self) -> String {
        counted(self.new.len() + self.begun.len(), "session")
    }

    /// Has the jobs of an earlier run tried again now, with the account of this process.
    ///
    /// Returns each with its request, which is gone once a worker has seen to it.
    pub(super) fn wake(&self, shop: &Shop) -> anyhow::Result<Vec<(&Begun, PathBuf)>> {
        let wake = |begun: &'_ Begun| {
            let wish = Wish::Retry {
                job: begun.id.clone(),
                need: shop.account.need.clone(),
            };
            request::leave(&shop.paths, shop.now(), wish)
        };
        let mut awake = Vec::new();
        for begun in &self.begun {
            awake.push((begun, wake(begun)?));
        }
        Ok(awake)
    }

    pub(super) fn tell(&self) -> anyhow::Result<()> {
        let place = plain(&self.project.to_string_lossy());
        say!("Found {} of {place}.", counted(self.found, "session"));
        for (count, why) in [
            (self.begun.len(), "begun by an earlier run"),
            (self.too_little, "in which too little happened"),
            (self.open, "still open: learned from when they end"),
        ] {
            if count > 0 {
                say!("{DIM}{count} {why}{DIM:#}");
            }
        }
        for reason in &self.unreadable {
            say!("{DIM}passed over: {}{DIM:#}", plain(reason));
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "project": self.project,
            "found": self.found,
            "new": self.new.len(),
            "begun": self.begun.len(),
            "too_little": self.too_little,
            "open": self.open,
            "unreadable": self.unreadable,
            "backend": self.backend,
            "estimate": {"calls": self.estimate.calls, "tokens": self.estimate.tokens},
        })
    }
}
