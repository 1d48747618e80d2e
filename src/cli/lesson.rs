//! `playbook lesson add` and `outcome`: the user's own word on lessons (spec/4
//! `store_lesson`, `record_lesson_outcome`).

use serde_json::json;

use super::output::{Hinted, plain};
use super::session::NamedSession;
use super::{agent, answer, args};
use crate::digest::name_of;
use crate::playbook::clean::clean_text;
use crate::queue::job::JobId;
use crate::reflect::learned::{
    Effect, EffectWhenShown, Learned, LearnedFrom, NewLesson, NoteDetail,
};
use crate::reflect::remembered::Detail;
use crate::reflect::tellable::tellable;
use crate::sharing;
use crate::state_guard;
use crate::usage;

const SCREEN: &str = include_str!("screens/lesson.txt");
/// What the user says outright matters as much as what the curator takes at once.
const IMPORTANCE: f64 = 0.8;

pub(super) fn run(action: &args::LessonAction) -> anyhow::Result<()> {
    match action {
        args::LessonAction::Add(add) => self::add(&NamedSession::on(&add.on)?, add),
        args::LessonAction::Outcome(of) => outcome(&NamedSession::on(&of.on)?, of),
    }
}

fn add(session: &NamedSession, add: &args::LessonAddArgs) -> anyhow::Result<()> {
    agent::refuse(&session.env, "what you teach by hand")?;
    let masker = session.masker()?;
    let said = |text: &str| clean_text(&masker.mask(text));
    let lesson = NewLesson {
        task_type: said(&add.task),
        mistake: said(&add.mistake),
        correction: said(&add.correction),
        context_hash: name_of(add.task.as_bytes()),
        signature: None,
        importance: IMPORTANCE,
        tags: Vec::new(),
        note: NoteDetail::default(),
    };
    if lesson.correction.is_empty() {
        return Err(Hinted::error(
            "the correction is empty".to_owned(),
            "say in a sentence what is right: --correction \"…\"",
        ));
    }
    let (learned, refused) = tellable(vec![Learned::Lesson(lesson)]);
    if let Some(refused) = refused.first() {
        return Err(Hinted::error(
            format!("not remembered: {}", refused.why),
            "docs/trust.md says what no session is told",
        ));
    }
    let ids = learn(session, &learned)?;
    answer::give(add.on.json, SCREEN, json!({"id": ids.first()}))
}

fn outcome(session: &NamedSession, of: &args::LessonOutcomeArgs) -> anyhow::Result<()> {
    agent::refuse(&session.env, "what a lesson was worth to you")?;
    let id = of.id.trim();
    if worth(session, id)?.is_none() {
        return Err(Hinted::error(
            format!("no lesson {}", plain(id)),
            "`playbook recall --kind lesson` shows the ids",
        ));
    }
    let effect = if of.helped {
        Effect::Helped
    } else {
        Effect::Failed
    };
    let shown = EffectWhenShown {
        id: id.to_owned(),
        effect,
    };
    learn(session, &[Learned::Shown(shown)])?;
    let told = json!({"id": id, "effectiveness": worth(session, id)?});
    answer::give(of.on.json, SCREEN, told)
}

/// Returns what the lesson of this id was worth so far; `None` where it names none.
fn worth(session: &NamedSession, id: &str) -> anyhow::Result<Option<f64>> {
    let Some(memory) = session.memory()? else {
        return Ok(None);
    };
    let found = memory.find(id)?;
    let lesson = found.filter(|found| matches!(found.detail, Detail::Lesson { .. }));
    Ok(lesson.map(|lesson| lesson.effectiveness))
}

/// Stores what the user teaches, in the memory and for the hooks.
fn learn(session: &NamedSession, learned: &[Learned]) -> anyhow::Result<Vec<String>> {
    state_guard::close(&session.paths)?;
    let mut memory = sharing::open_memory(&session.paths, &session.config)?;
    let now = session.env.clock().now();
    let source = LearnedFrom {
        project: session.project_name(),
        session: String::new(),
        root: String::new(),
        job: JobId::new(now, rand::random()).to_string(),
        time: now,
    };
    let ids = memory.learn(&source, learned)?;
    usage::refresh_corrections(&session.paths, &memory, &session.project)?;
    Ok(ids)
}
