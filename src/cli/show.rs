//! `playbook show`: prints the key points of a project.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::session::NamedSession;
use super::{answer, args, output};
use crate::freshness;
use crate::playbook::context::Admission;
use crate::playbook::votes::PointUsage;
use crate::playbook::{Due, Point};
use crate::trust;
use crate::usage;

pub(super) fn run(session: &NamedSession, args: &args::ShowArgs) -> anyhow::Result<()> {
    let (points, is_empty) = points(session, args)?;
    let is_own = session.project == session.paths.own();
    let own = if session.config.injection.own && !is_own {
        self::points(&NamedSession::on_own()?, args)?.0
    } else {
        Vec::new()
    };
    let mut answer = json!({
        "project": session.project,
        "playbook": session.store().path(),
        "points": &points,
        "own": own,
    });
    if !args.on.json {
        answer["is_empty"] = is_empty.into();
        if !points.is_empty() {
            note_distrust(&trust::TrustStanding::of(&session.paths, &session.project));
        }
    }
    answer::give(args.on.json, include_str!("screens/show.txt"), answer)
}

/// Returns the requested key points of a playbook, and whether the playbook is empty.
fn points(session: &NamedSession, args: &args::ShowArgs) -> anyhow::Result<(Vec<Value>, bool)> {
    let now = session.env.clock().now();
    let file = session.playbook_file()?;
    let playbook = session.shown(file.clone());
    let words: Vec<String> = args.query.iter().map(|word| word.to_lowercase()).collect();
    let trust = trust::TrustStanding::of(&session.paths, &session.project);
    let freshness = freshness::record(&session.paths, &session.project);
    let usage = usage::record(&session.paths, &session.project);
    let mut points = Vec::new();
    for (point, as_stands) in playbook.points().zip(file.points()) {
        if !matches(&point, &words) {
            continue;
        }
        let mut value = in_json(&point, now);
        value["gone"] = freshness.gone(&point).into();
        let seen = usage.of(point.name);
        value["shown"] = seen.shown.into();
        value["cited"] = seen.cited.into();
        if !args.on.json {
            let is_news = seen != PointUsage::default();
            value["seen"] = is_news.then(|| seen.to_string()).into();
            // A trust record identifies a point by its text in the file.
            let (name, text) = (as_stands.name, as_stands.text);
            let admission = trust.admits(as_stands.section, name, text);
            value["refusal"] = refusal(admission, &trust).into();
            value["due"] = as_stands
                .due()
                .map(|due| in_words(name, due, &trust))
                .into();
        }
        points.push(value);
    }
    Ok((points, playbook.is_empty()))
}

fn matches(point: &Point<'_>, words: &[String]) -> bool {
    let text = format!("{} {} {}", point.name, point.section.title(), point.text).to_lowercase();
    words.iter().all(|word| text.contains(word))
}

fn refusal(admission: Admission, trust: &trust::TrustStanding) -> Option<&'static str> {
    match admission {
        Admission::Held => Some("held back: `playbook review`"),
        Admission::Unknown if trust.is_trusted() => Some("not screened yet"),
        Admission::Given | Admission::Unknown | Admission::Stale => None,
    }
}

/// Describes a point's cue, and whether it waits for the user.
fn in_words(name: &str, due: &Due, trust: &trust::TrustStanding) -> String {
    let cue = due.told();
    if let Err(why) = due.when.compile() {
        format!("{cue}: not used, {why}")
    } else if trust.is_trusted() && trust.admits_cue(name, due) != Admission::Given {
        format!("{cue}: waits for `playbook review`")
    } else {
        cue
    }
}

/// Notes that sessions are given nothing of an untrusted playbook.
pub(super) fn note_distrust(trust: &trust::TrustStanding) {
    if let trust::TrustStanding::Unreadable(error) = trust {
        output::note(&format!(
            "sessions are given no key point of this project: {error}; \
             `playbook doctor` says what to do"
        ));
    } else if !trust.is_trusted() {
        output::note("sessions are given no key point of this project until `playbook trust`");
    }
}

pub(super) fn in_json(point: &Point<'_>, now: Timestamp) -> Value {
    let mut value = json!(point);
    value["pinned"] = point.is_pinned().into();
    value["stale"] = point.is_stale(now).into();
    let due = point.due().cloned().unwrap_or_default();
    value["when"] = (!due.when.is_empty()).then(|| json!(due.when)).into();
    value["guard"] = due.guard.into();
    value
}
