//! `playbook trust` chooses the playbooks that sessions are given; `playbook review` lists texts
//! that were held back and takes the user's decisions.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};

use super::args::ReviewAction;
use super::prelude::*;
use super::{edit_commands, reflect};
use crate::cue::Cue;
use crate::memory::HeldRow;
use crate::playbook::DueChange;
use crate::playbook::clean::{MAX_CHARS, clean_text};
use crate::queue::apply::PlaybookEdit;
use crate::queue::curate::CuratorWish;
use crate::queue::screening::{self, PointPart, Screened, What, recount};
use crate::queue::transcripts::{self, PastTranscript};
use crate::trust::{TrustRecord, TrustWord, outside};
use crate::{prepare, project};

const UNTRUSTED: &str = "Sessions in {{ untrusted }} are given no playbook from now on; \
                         `playbook trust` changes that.";

pub(super) fn trust(session: &NamedSession, args: &args::TrustArgs) -> anyhow::Result<()> {
    if args.off {
        return untrust(session, args.on.json);
    }
    agent::refuse(&session.env, "whose playbook is trusted")?;
    let context = session.context()?;
    let projects = if args.all_known {
        known(&session.paths)
    } else {
        BTreeSet::from([session.project.clone()])
    };
    let mut trusted = Vec::new();
    for project in &projects {
        match screening::trust(&context, project) {
            Ok(screened) => {
                recount(&context, project)?;
                context.make_ready(project);
                let Screened { known, held, later } = screened;
                trusted.push(json!({
                    "project": project, "used": known, "quarantine": held, "later": later,
                    "link": outside::of(project),
                }));
            }
            Err(error) if args.all_known => output::error(&error.into()),
            Err(error) => return Err(error.into()),
        }
    }
    if projects.is_empty() && !args.on.json {
        say!("Claude Code has kept no session of any project.");
    }
    let answer = json!({ "trusted": trusted });
    answer::give(args.on.json, include_str!("screens/trust.txt"), answer)
}

fn untrust(session: &NamedSession, as_json: bool) -> anyhow::Result<()> {
    let path = session.paths.trust_record(&session.project);
    let earlier = TrustRecord::read(&path).ok().flatten();
    let mut record = earlier.unwrap_or_else(|| TrustRecord::new(TrustWord::Untrusted));
    record.word = TrustWord::Untrusted;
    record.write(&path)?;
    prepare::ready(&session.paths, &session.project, session.env.clock().now());
    let answer = json!({ "untrusted": session.project.to_string_lossy() });
    answer::give(as_json, UNTRUSTED, answer)
}

pub(super) fn known(paths: &Paths) -> BTreeSet<PathBuf> {
    transcripts::newest_of_each(paths)
        .filter_map(|transcript| PastTranscript::read(transcript, String::new(), false)?.cwd)
        .map(|folder| project::find(&folder))
        .filter(|project| project.is_dir())
        .collect()
}

const ONE: &str = include_str!("screens/review_one.txt");
const DROPPED: &str = "it was held back, and dropped";

pub(super) fn review(session: &NamedSession, args: &args::ReviewArgs) -> anyhow::Result<()> {
    match &args.action {
        None if args.now => reflect::curate(session, CuratorWish::Asked, args.json),
        None => list(session, args.json),
        Some(ReviewAction::Accept { id }) => accept(session, *id, None, args.json),
        Some(ReviewAction::Edit { id, text }) => accept(session, *id, Some(text), args.json),
        Some(ReviewAction::Drop { id }) => drop_it(session, *id, args.json),
    }
}

fn list(session: &NamedSession, as_json: bool) -> anyhow::Result<()> {
    let context = session.context()?;
    let mut rows = context.memory().quarantine(&session.project_name())?;
    let masker = session.masker()?;
    // The text may have been held back before the user added a pattern for it.
    for HeldRow { held, .. } in &mut rows {
        held.text = masker.mask(&held.text).into_owned();
        masker.mask_value(&mut held.what);
    }
    let mut texts: Vec<Value> = rows.iter().map(held_in_json).collect();
    if as_json {
        return output::json(&json!({"project": session.project, "quarantine": texts}));
    }
    for (text, row) in texts.iter_mut().zip(&rows) {
        text["origin"] = origin(row).into();
    }
    let is_asked = io::stdin().is_terminal() && io::stdout().is_terminal();
    if is_asked && !rows.is_empty() {
        return one_by_one(session, &rows, &texts);
    }
    let answer = json!({"quarantine": texts});
    answer::show(include_str!("screens/review.txt"), answer)
}

fn one_by_one(session: &NamedSession, rows: &[HeldRow], texts: &[Value]) -> anyhow::Result<()> {
    for (row, text) in rows.iter().zip(texts) {
        answer::show(ONE, text.clone())?;
        let Some(answer) = output::ask("[t]ake, [e]dit, [d]rop, [l]ater, [q]uit?")? else {
            return Ok(());
        };
        let done = match answer.as_str() {
            "t" | "take" => accept(session, row.id, None, false),
            "e" | "edit" => match output::ask("What it says from now on:")? {
                Some(words) if !words.is_empty() => accept(session, row.id, Some(&words), false),
                _ => Ok(()),
            },
            "d" | "drop" => drop_it(session, row.id, false),
            "q" | "quit" => return Ok(()),
            "l" | "later" => Ok(()),
            _ => {
                output::note("that is no answer: it waits");
                Ok(())
            }
        };
        // A failed decision is reported, and the next text is asked about.
        if let Err(error) = done {
            output::error(&error);
        }
    }
    Ok(())
}

fn held_in_json(row: &HeldRow) -> Value {
    json!({
        "id": row.id,
        "text": row.held.text,
        "reasons": row.held.reasons,
        "job": (!row.held.job.is_empty()).then_some(&row.held.job),
        "since": row.since,
        "what": row.held.what,
    })
}

/// Names the origin: `pat-001, from the file`, `UPDATE pat-002, from job …`.
fn origin(row: &HeldRow) -> String {
    let job = format!("from job {}", row.held.job);
    match what(row) {
        Some(What::Point { name, .. }) => format!("{name}, from the file"),
        Some(What::Cue { name }) => format!("the cue of {name}, from the file"),
        Some(What::Operation(operation)) => {
            let string = |key: &str| operation.get(key).and_then(Value::as_str);
            let kind = string("type").unwrap_or("ADD");
            let target = string("target_id").map(|id| format!(" {id}"));
            format!("{kind}{}, {job}", target.unwrap_or_default())
        }
        Some(What::Edit(_)) if row.held.job == screening::BY_AGENT => {
            "from a command that the agent ran".to_owned()
        }
        Some(What::Edit(_)) => "from a command of yours".to_owned(),
        Some(What::Memory { .. }) => format!("{job}; accepted, it becomes a key point"),
        None => job,
    }
}

fn what(row: &HeldRow) -> Option<What> {
    serde_json::from_value(row.held.what.clone()).ok()
}

fn accept(
    session: &NamedSession,
    id: u64,
    words: Option<&str>,
    as_json: bool,
) -> anyhow::Result<()> {
    agent::refuse(&session.env, "what is held back")?;
    let (row, what) = find(session, id)?;
    if words.is_some() && matches!(what, What::Cue { .. }) {
        return Err(Hinted::error(
            "a cue has no text of its own".to_owned(),
            "`playbook edit ID --when-command COMMAND` sets another cue",
        ));
    }
    let changed = what.changed_since(&session.masked_playbook()?);
    if let (Some(name), None) = (changed, words) {
        return Err(Hinted::error(
            format!("{} was changed since this was asked for", plain(&name)),
            "look at it with `playbook show`; then `playbook review edit` with your own words, or `drop`",
        ));
    }
    match what.as_edit(words) {
        Some(edit) => edit_commands::quietly(session, &edit)?,
        None => admit(session, &row)?,
    }
    let text = words.unwrap_or(&row.held.text);
    decided(session, &row, "accepted", text, as_json)
}

/// Accepts a point of the file as it is, after masking its secrets in the file.
fn admit(session: &NamedSession, row: &HeldRow) -> anyhow::Result<()> {
    let context = session.context()?;
    let playbook = session.store().load()?;
    let Some((point, part)) = screening::held_point(&playbook, &row.held.key) else {
        return Ok(());
    };
    let masker = session.masker()?;
    let (name, mut text) = (masker.mask(point.name), masker.mask(point.text));
    if (&*name, &*text) != (point.name, point.text) {
        text = clean_text(&text).into();
        let edit = PlaybookEdit::Change {
            point: name.clone().into_owned(),
            text: Some(text.clone().into_owned()),
            section: None,
            due: DueChange::default(),
        };
        edit_commands::carry_out(session, &context, &edit)?;
    }
    let point = (&*name, &*text);
    screening::admit(&context, &session.project, point, part)?;
    context.make_ready(&session.project);
    Ok(())
}

fn drop_it(session: &NamedSession, id: u64, as_json: bool) -> anyhow::Result<()> {
    agent::refuse(&session.env, "what is held back")?;
    let (row, what) = find(session, id)?;
    if let What::Point { .. } | What::Cue { .. } = what {
        let playbook = session.store().load()?;
        if let Some((point, part)) = screening::held_point(&playbook, &row.held.key) {
            let point = point.name.to_owned();
            let edit = match part {
                PointPart::Text => PlaybookEdit::Remove {
                    point,
                    reason: Some(DROPPED.to_owned()),
                },
                PointPart::Cue => PlaybookEdit::Change {
                    point,
                    text: None,
                    section: None,
                    due: DueChange {
                        when: Some(Cue::default()),
                        guard: Some(false),
                    },
                },
            };
            edit_commands::quietly(session, &edit)?;
        }
    }
    decided(session, &row, "dropped", &row.held.text, as_json)
}

fn find(session: &NamedSession, id: u64) -> anyhow::Result<(HeldRow, What)> {
    let context = session.context()?;
    let row = context.memory().quarantined(&session.project_name(), id)?;
    let found = row.and_then(|row| what(&row).map(|what| (row, what)));
    let what = || format!("nothing with number {id} is held back");
    found.ok_or_else(|| Hinted::error(what(), "`playbook review` lists what is"))
}

fn decided(
    session: &NamedSession,
    row: &HeldRow,
    word: &str,
    text: &str,
    as_json: bool,
) -> anyhow::Result<()> {
    let context = session.context()?;
    context.memory().decided(row.id)?;
    recount(&context, &session.project)?;
    if as_json {
        return output::json(&json!({"id": row.id, "decided": word}));
    }
    let text = plain(&session.masker()?.mask(text));
    say!("{word}: {}", output::fit(&text, MAX_CHARS));
    Ok(())
}
