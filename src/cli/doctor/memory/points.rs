//! The lessons, the held back texts and the key points that have the words, and which of them a
//! session is given.

use std::collections::BTreeMap;

use super::{NAMED, QueryWords, quoted};
use crate::cli::doctor::DoctorCheck;
use crate::cli::output::plain;
use crate::cli::session::NamedSession;
use crate::freshness;
use crate::hint::MemoryKind;
use crate::memory::{Memory, RecallQuery};
use crate::playbook::Playbook;
use crate::playbook::context::Admission;
use crate::prepare::{self, ShownAt};
use crate::reflect::known::{KnownLesson, unsaid};
use crate::shown::counted;
use crate::trust::TrustStanding;

/// So many lessons are looked into, the best.
const LESSONS: u64 = 500;
const TOPIC: &str = "key point";

pub(super) fn examine(
    session: &NamedSession,
    words: &QueryWords,
) -> anyhow::Result<Vec<DoctorCheck>> {
    let playbook = session.playbook()?;
    let mut checks = Vec::new();
    if let Some(memory) = session.memory()? {
        checks.extend(lessons(session, &memory, &playbook, words)?);
        checks.extend(held(session, &memory, words)?);
    }
    checks.extend(if words.is_any() {
        summary(session)?
    } else {
        named(session, &playbook, words)?
    });
    Ok(checks)
}

/// What one session has taught, and no key point says.
fn lessons(
    session: &NamedSession,
    memory: &Memory,
    playbook: &Playbook,
    words: &QueryWords,
) -> anyhow::Result<Vec<DoctorCheck>> {
    let query = RecallQuery {
        kinds: vec![MemoryKind::Lesson],
        project: Some(session.project_name()),
        ..RecallQuery::best(LESSONS)
    };
    let found = memory
        .recall(&query, session.env.clock().now())?
        .into_iter();
    let found = found.filter(|lesson| words.are_in(&lesson.text));
    let found = found.map(|lesson| KnownLesson {
        id: lesson.id,
        text: lesson.text,
        sessions: 1,
    });
    let found = unsaid(found.collect(), playbook, usize::MAX);
    let todo = "nothing: a second session that teaches it makes it a key point; \
                or `playbook add TEXT` now";
    if words.is_any() {
        let wait = if found.len() == 1 { "waits" } else { "wait" };
        let lessons = counted(found.len(), "lesson");
        let text = format!("{lessons} {wait} for a second session");
        return Ok(match found.len() {
            0 => Vec::new(),
            _ => vec![DoctorCheck::good("lesson", text)],
        });
    }
    let told = found.iter().take(NAMED).map(|lesson| {
        let text = format!("{} is a lesson, no key point yet", quoted(&lesson.text));
        DoctorCheck::note("lesson", text, todo)
    });
    Ok(told.collect())
}

fn held(
    session: &NamedSession,
    memory: &Memory,
    words: &QueryWords,
) -> anyhow::Result<Vec<DoctorCheck>> {
    let rows = memory.quarantine(&session.project_name())?;
    let found = rows.iter().filter(|row| words.are_in(&row.held.text));
    let told = found.take(NAMED).map(|row| {
        let text = format!(
            "{} is held back: {}",
            quoted(&row.held.text),
            row.held.reasons
        );
        DoctorCheck::note("held back", text, "`playbook review` takes or refuses it")
    });
    Ok(told.collect())
}

fn named(
    session: &NamedSession,
    playbook: &Playbook,
    words: &QueryWords,
) -> anyhow::Result<Vec<DoctorCheck>> {
    let places: BTreeMap<String, ShownAt> = places(session)?.into_iter().collect();
    let names = freshness::record(&session.paths, &session.project);
    let found: Vec<_> = playbook.points().filter(|p| words.are_in(p.text)).collect();
    if found.is_empty() {
        return Ok(vec![DoctorCheck::good(TOPIC, "none has these words")]);
    }
    let told = found.iter().take(NAMED).map(|point| {
        let name = format!("{} {}", plain(point.name), quoted(point.text));
        let Some(place) = places.get(point.name) else {
            return DoctorCheck::note(TOPIC, format!("{name}: not looked at"), "`playbook doctor`");
        };
        let why = match place {
            ShownAt::Start => {
                return DoctorCheck::good(TOPIC, format!("{name}: each start gives it"));
            }
            ShownAt::Prompts => {
                let text =
                    format!("{name}: no room for it at a start, comes with a prompt it fits");
                return DoctorCheck::note(
                    TOPIC,
                    text,
                    "nothing; or a larger `injection.max_units`",
                );
            }
            ShownAt::Nowhere(why) => why,
        };
        let (text, todo) = withheld(session, *why, names.gone(point).as_deref());
        DoctorCheck::note(
            TOPIC,
            format!("{name}: {text}"),
            &todo.replace("ID", point.name),
        )
    });
    let more = found.len().saturating_sub(NAMED);
    let more =
        (more > 0).then(|| DoctorCheck::good(TOPIC, format!("and {more} more with these words")));
    Ok(told.chain(more).collect())
}

fn withheld(session: &NamedSession, why: Admission, gone: Option<&str>) -> (String, &'static str) {
    let is_trusted = TrustStanding::of(&session.paths, &session.project).is_trusted();
    match why {
        Admission::Stale => {
            let gone = gone.unwrap_or("what it names is gone");
            let todo = "`playbook edit ID` or `playbook remove ID`; or keep it: `playbook pin ID`";
            (format!("out of date: {gone}"), todo)
        }
        Admission::Resting => (
            "rests: many sessions had no use for it".to_owned(),
            "nothing: a session that touches it wakes it; or `playbook pin ID`",
        ),
        Admission::Held => (
            "held back".to_owned(),
            "`playbook review` takes or refuses it",
        ),
        Admission::Unknown if is_trusted => (
            "not checked for attacks yet".to_owned(),
            "nothing: the next worker does it; or now: `playbook worker`",
        ),
        Admission::Unknown => (
            "this checkout is not trusted, so none of its key points is given".to_owned(),
            "`playbook trust`, once you have read them",
        ),
        Admission::Given => (String::new(), ""),
    }
}

fn summary(session: &NamedSession) -> anyhow::Result<Vec<DoctorCheck>> {
    let places = places(session)?;
    let of = |wanted: &dyn Fn(ShownAt) -> bool| {
        places.iter().filter(|(_, place)| wanted(*place)).count()
    };
    let withheld = |why| of(&move |place| place == ShownAt::Nowhere(why));
    let parts = [
        (of(&|place| place == ShownAt::Start), "at each start"),
        (
            of(&|place| place == ShownAt::Prompts),
            "with a prompt that touches them",
        ),
        (withheld(Admission::Stale), "not given: out of date"),
        (withheld(Admission::Resting), "not given: resting"),
        (withheld(Admission::Held), "held back"),
        (withheld(Admission::Unknown), "not checked, or not trusted"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    let all = counted(places.len(), TOPIC);
    let text = if parts.is_empty() {
        all
    } else {
        format!("{all}: {}", parts.join(", "))
    };
    Ok(vec![DoctorCheck::good(TOPIC, text)])
}

fn places(session: &NamedSession) -> anyhow::Result<Vec<(String, ShownAt)>> {
    let now = session.env.clock().now();
    let (paths, project) = (&session.paths, &session.project);
    Ok(prepare::places(paths, project, &session.config, now)?)
}
