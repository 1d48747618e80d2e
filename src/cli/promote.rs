//! `playbook promote`: moves a key point to the user's own ones, which every project's sessions are
//! given, or back.

use super::edit_commands::{Checked, carry_out, check};
use super::prelude::*;
use crate::playbook::clean::clean_text;
use crate::playbook::ops::Brought;
use crate::playbook::render::Admission;
use crate::playbook::{DueChange, Point, is_own_name};
use crate::queue::apply::PlaybookEdit;
use crate::trust::TrustStanding;

const SCREEN: &str = include_str!("screens/promote.txt");

pub(super) fn run(args: &args::PromoteArgs) -> anyhow::Result<()> {
    let project = NamedSession::on(&args.on)?;
    agent::refuse(&project.env, "what goes along into every project")?;
    let own = NamedSession::on_own()?;
    match (args.off, is_own_name(&args.id)) {
        (false, false) => {
            fsx::ensure_dir(&own.project)?;
            move_point(&project, &own, args)
        }
        (true, true) => move_point(&own, &project, args),
        (false, true) => Err(Hinted::error(
            format!("{} is your own already", plain(&args.id)),
            "`playbook promote ID --off` brings it back into a project",
        )),
        (true, false) => Err(Hinted::error(
            format!("{} is not one of your own key points", plain(&args.id)),
            "`playbook show` lists them last; their ids begin with `my-`",
        )),
    }
}

/// Adds a point to the other playbook, then removes it from its own. After an interruption between
/// the two it is in both, and the same command continues.
fn move_point(
    from: &NamedSession,
    to: &NamedSession,
    args: &args::PromoteArgs,
) -> anyhow::Result<()> {
    let playbook = from.playbook_file()?;
    let as_stands = playbook.named(&args.id).ok_or_else(|| unknown(&args.id))?;
    may_go(from, &as_stands)?;
    let playbook = from.shown(playbook.clone());
    let point = playbook.named(&args.id).ok_or_else(|| unknown(&args.id))?;
    let target = to.masked_playbook()?;
    let mut jobs = Vec::new();
    let name = if let Some(name) = saying(&target, &point) {
        name
    } else {
        let edit = copy_of(from, &point);
        let context = to.context()?;
        if let Checked::Nothing { why, .. } = check(to, &context, &edit, target)? {
            anyhow::bail!(why);
        }
        jobs.push(carry_out(to, &context, &edit)?["job"].clone());
        let target = to.masked_playbook()?;
        saying(&target, &point).ok_or_else(|| unknown(point.name))?
    };
    let edit = PlaybookEdit::Remove {
        point: point.name.to_owned(),
        reason: Some(format!("is {name} of {}", to.project.display())),
    };
    jobs.push(carry_out(from, &from.context()?, &edit)?["job"].clone());
    let answer = json!({
        "from": point.name,
        "to": name,
        "text": point.text,
        "own": is_own_name(&name),
        "jobs": jobs,
    });
    answer::give(args.on.json, SCREEN, answer)
}

/// Returns the edit that adds a point elsewhere; a cue that waits for the user's approval stays
/// behind.
fn copy_of(from: &NamedSession, point: &Point<'_>) -> PlaybookEdit {
    let standing = TrustStanding::of(&from.paths, &from.project);
    let is_admitted = |due| standing.admits_cue(point.name, due) == Admission::Given;
    let due = point.due().filter(|due| is_admitted(due));
    PlaybookEdit::Add {
        text: point.text.to_owned(),
        section: point.section,
        due: DueChange {
            when: due.map(|due| due.when.clone()),
            guard: due.map(|due| due.guard),
        },
        brought: Some(Brought {
            votes: [point.helpful, point.harmful],
            pinned: point.is_pinned(),
            why: format!("was {} of {}", point.name, from.project.display()),
        }),
    }
}

fn saying(playbook: &Playbook, point: &Point<'_>) -> Option<String> {
    let text = clean_text(point.text);
    let mut points = playbook.points();
    let found = points.find(|known| clean_text(known.text) == text);
    found.map(|known| known.name.to_owned())
}

fn may_go(from: &NamedSession, point: &Point<'_>) -> anyhow::Result<()> {
    let standing = TrustStanding::of(&from.paths, &from.project);
    match standing.admits(point.section, point.name, point.text) {
        Admission::Given | Admission::Stale => Ok(()),
        Admission::Held | Admission::Unknown => Err(Hinted::error(
            format!("{} is not given to sessions here", plain(point.name)),
            "`playbook review` or `playbook trust` first",
        )),
    }
}

fn unknown(id: &str) -> anyhow::Error {
    Hinted::error(
        format!("no key point {}", plain(id)),
        "`playbook show` lists the key points",
    )
}
