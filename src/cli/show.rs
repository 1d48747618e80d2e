//! `playbook show`: prints the key points of a project.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::session::NamedSession;
use super::{answer, args, output};
use crate::freshness;
use crate::playbook::render::Admission;
use crate::playbook::votes::PointUsage;
use crate::playbook::{Due, Point};
use crate::prepare;
use crate::shown_record::ShownPoints;
use crate::trust;
use crate::usage;

/// A key point is marked as new until so many sessions were given it.
const NEW_SESSIONS: u64 = 3;

pub(super) fn run(session: &NamedSession, args: &args::ShowArgs) -> anyhow::Result<()> {
    let (given, _) = prepare::given_next(&session.paths, &session.project, &session.config)?;
    let (points, is_empty) = points(session, args, &given)?;
    let is_own = session.project == session.paths.own();
    let own = if session.config.injection.own && !is_own {
        self::points(&NamedSession::on_own()?, args, &given)?.0
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

/// Also returns whether the playbook has no points at all; `given` are those of the next start.
fn points(
    session: &NamedSession,
    args: &args::ShowArgs,
    given: &ShownPoints,
) -> anyhow::Result<(Vec<Value>, bool)> {
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
        value["given"] = given.has(point.name).into();
        if !args.on.json {
            let is_news = seen != PointUsage::default();
            value["seen"] = is_news.then(|| seen.to_string()).into();
            // A trust record identifies a point by its text in the file.
            let (name, text) = (as_stands.name, as_stands.text);
            let admission = trust.admits(as_stands.section, name, text);
            let refusal = refusal(admission, &trust);
            value["refusal"] = refusal.into();
            let is_added = point.note.is_some_and(|note| note.added.is_some());
            value["is_new"] = (is_added && seen.shown < NEW_SESSIONS).into();
            let is_left_out = trust.is_trusted() && refusal.is_none() && value["gone"].is_null();
            let is_left_out = is_left_out && !given.has(point.name);
            value["no_room"] = is_left_out.then(|| no_room(&point)).into();
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

fn no_room(point: &Point<'_>) -> &'static str {
    match point.due() {
        Some(_) => "no room at the start; given at its cue",
        None => "no room at the start",
    }
}

pub(super) fn in_words(name: &str, due: &Due, trust: &trust::TrustStanding) -> String {
    let cue = due.told();
    if let Err(why) = due.when.compile() {
        format!("{cue}: not used, {why}")
    } else if trust.is_trusted() && trust.admits_cue(name, due) != Admission::Given {
        format!("{cue}: waits for `playbook review`")
    } else {
        cue
    }
}

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
