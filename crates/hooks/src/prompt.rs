//! user-prompt-submit: what was learned that this prompt touches, and the start did not say.
//!
//! By itself it brings key points alone. Of the lessons that single sessions taught, hardly one in
//! six was of use when it was brought in real sessions: they come where the user asks for them.

use std::cmp::Reverse;
use std::io::Write;

use super::answer::HookAnswer;
use super::context::HookContext;
use super::hints;
use crate::fsx::{self, FsError};
use crate::hint::{Hint, Index, PromptTerms};
use crate::open_session;
use crate::prepared::{LeftOut, OnPrompt, PointLeftOut, StartKind};
use crate::shown_record::{self, ShownPoints, Start};

/// At most so many are told at once; where what is only like the prompt is told, too, one more.
const MOST: usize = 2;
const MOST_ALIKE: usize = hints::MOST;
/// The prompt must have this share of the words of what is like it, rare ones weighing more:
/// less is chance.
const RELEVANT: f64 = 0.15;
/// Stands above what was learned. The worker learns what helped from the ids that the model names.
pub const HEADING: &str =
    "Playbook: learned earlier in this project; name the id in brackets when you act on one.";
/// What the client sends as a prompt though no user wrote it.
const TASK_NOTIFICATION: &str = "<task-notification>";
/// The time of a compaction is no longer.
const MAX_MARK: u64 = 1 << 10;

struct FoundPoints {
    touch: u32,
    id: String,
    line: String,
    /// A key point, with the hash of its text.
    point: Option<String>,
}

impl FoundPoints {
    fn point((touch, point): (u32, PointLeftOut)) -> Option<Self> {
        Some(Self {
            touch,
            line: hints::point_line(&point)?,
            id: point.name,
            point: Some(point.hash),
        })
    }

    fn hint((touch, hint): (u32, Hint)) -> Option<Self> {
        Some(Self {
            touch,
            line: hints::line(&hint)?,
            id: hint.id,
            point: None,
        })
    }
}

/// Gives the key points that a prompt touches, each once in a session and again after a
/// compaction; the lessons, too, where the user wants all.
pub(super) fn run(context: &HookContext<'_>, out: &mut dyn Write) -> Result<(), FsError> {
    let settings = context.settings.as_ref();
    let wanted = settings.map_or(OnPrompt::Never, |settings| settings.on_prompt);
    let prompt = context.input.prompt.as_deref();
    let Some(prompt) = prompt.filter(|prompt| {
        wanted != OnPrompt::Never && !prompt.trim_start().starts_with(TASK_NOTIFICATION)
    }) else {
        return Ok(());
    };
    let compacted = compacted(context);
    let kind = match compacted {
        None => StartKind::Full,
        Some(_) => StartKind::Short,
    };
    let left_out = LeftOut::find(&context.paths, &context.project, kind);
    let index = (wanted == OnPrompt::Always).then(|| hints::open(context));
    let index = index.flatten().filter(Index::has_words);
    if left_out.is_none() && index.is_none() {
        return Ok(());
    }
    let mut found = touched(prompt, left_out, index.as_ref());
    if compacted.is_none() {
        let shown = shown(context);
        found.retain(|found| found.point.is_none() || !shown.has(&found.id));
    }
    let most = match index {
        Some(index) => {
            let alike = index.for_prompt(prompt, RELEVANT, MOST_ALIKE).into_iter();
            found.extend(alike.filter_map(|hint| FoundPoints::hint((0, hint))));
            MOST_ALIKE
        }
        None => MOST,
    };
    let since = compacted.unwrap_or_default();
    let mut news: Vec<FoundPoints> = Vec::new();
    for found in found {
        // What is not told now may be told later.
        let has_room = hints::have_room(HEADING, news.iter().chain([&found]).map(|it| &*it.line));
        if news.len() < most
            && has_room
            && hints::is_news(context, &format!("{}{since}", found.id))?
        {
            news.push(found);
        }
    }
    let told = hints::tell_lines(HEADING, news.iter().map(|found| found.line.clone()));
    remember(context, told.as_deref().unwrap_or_default(), news);
    HookAnswer {
        told: told
            .iter()
            .flat_map(|told| hints::to_user(context, told))
            .collect(),
        context: told,
        ..HookAnswer::default()
    }
    .give(context.event, out);
    Ok(())
}

/// The lessons that a text touches for certain, best first, each as a line to be told.
pub fn lessons_about(context: &HookContext<'_>, text: &str) -> Vec<String> {
    let found = touched(text, None, hints::open(context).as_ref());
    found.into_iter().map(|found| found.line).collect()
}

/// What a prompt touches for certain, best first; of two that it touches alike the key point.
fn touched(prompt: &str, left_out: Option<LeftOut>, index: Option<&Index>) -> Vec<FoundPoints> {
    let prompt = PromptTerms::of(prompt);
    let points = left_out.map(|left| left.touched_by(&prompt));
    let lessons = index.map(|index| index.touched_by(&prompt));
    let points = points.into_iter().flatten().filter_map(FoundPoints::point);
    let lessons = lessons.into_iter().flatten().filter_map(FoundPoints::hint);
    let mut found: Vec<FoundPoints> = points.chain(lessons).collect();
    found.sort_by_key(|found| Reverse(found.touch));
    found
}

/// When the session was compacted last, if ever.
fn compacted(context: &HookContext<'_>) -> Option<String> {
    let session = context.input.session.as_ref()?;
    let mark = open_session::injection_file(&context.paths, session, open_session::COMPACT);
    let mark = fsx::read_if_there(&mark, MAX_MARK).ok()??;
    Some(String::from_utf8_lossy(&mark).into_owned())
}

/// What the session was shown, at its start or since.
fn shown(context: &HookContext<'_>) -> ShownPoints {
    let session = context.input.session.as_ref();
    let folder = context.paths.shown_points(&context.project);
    let record = session.and_then(|session| shown_record::read(&folder, session));
    record.map(|record| record.points).unwrap_or_default()
}

/// Adds the key points that are told to what the session was shown: their votes count.
fn remember(context: &HookContext<'_>, told: &str, news: Vec<FoundPoints>) {
    let mut points = ShownPoints::default();
    let told = news.into_iter().filter(|found| told.contains(&found.line));
    for found in told {
        if let Some(hash) = found.point {
            points.insert(&found.id, hash);
        }
    }
    if let Some((session, transcript)) = context.session()
        && points != ShownPoints::default()
    {
        let folder = context.paths.shown_points(&context.project);
        let added = shown_record::add(&folder, session, transcript, Start::Later, points);
        if let Err(error) = added {
            context.log(&error.to_string());
        }
    }
}
