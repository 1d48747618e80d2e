//! How what was learned is told to the model: a heading, then one line for each hint, with
//! the id by which the worker learns from the transcript what came of it.
//!
//! The texts of the index come from sessions; the worker has made each one clean line of data
//! that cannot close the client's reminder. What is more than a line is not told, and none can
//! look like another hint.

use jiff::Timestamp;

use crate::clip::units;
use crate::hint::{Hint, ID_PREFIXES, Index, is_memory_id};

use super::context::HookContext;
use super::throttle;
use crate::digest::name_of;
use crate::env::name;
use crate::fsx::FsError;
use crate::prepared::{Notices, PointLeftOut};
use crate::state_guard;

/// At most so many hints are told at once.
pub(super) const MOST: usize = 3;
/// A text is told up to so many characters.
const TEXT: usize = 320;
/// The most UTF-16 units of all that is told.
const UNITS: usize = 1_500;

/// Opens what the worker has written for this project; an index that is missing, of no use,
/// or one that others can have written, says nothing.
pub(super) fn open(context: &HookContext<'_>) -> Option<Index> {
    let file = context.paths.memory_index(&context.project);
    state_guard::check_prepared(&file)
        .and_then(|()| Index::open(&file))
        .inspect_err(|error| context.log(&error.to_string()))
        .ok()?
}

/// Returns `true` if the reader, a session or a subagent in it, is told `what` for the first
/// time; nobody is told anything who cannot be told apart.
pub(super) fn is_news(context: &HookContext<'_>, what: &str) -> Result<bool, FsError> {
    let Some(session) = &context.input.session else {
        return Ok(false);
    };
    let agent = context.input.agent_id.as_deref().unwrap_or_default();
    let name = name_of(format!("{session}\n{agent}\n{what}").as_bytes());
    throttle::is_first(&context.paths.shown().join(name))
}

/// Puts the hints under the heading, as many as fit; `None` when none does.
pub(super) fn tell(heading: &str, hints: &[Hint]) -> Option<String> {
    tell_lines(heading, hints.iter().filter_map(line))
}

/// As [`tell`], with lines that are made already.
pub(super) fn tell_lines(heading: &str, lines: impl Iterator<Item = String>) -> Option<String> {
    let mut told = heading.to_owned();
    let mut used = units(heading);
    for line in lines.take(MOST) {
        used += 1 + units(&line);
        if used > UNITS {
            break;
        }
        told.push('\n');
        told.push_str(&line);
    }
    (told.len() > heading.len()).then_some(told)
}

/// Returns `true` if lines can be told at once, all of them.
pub(super) fn have_room<'l>(heading: &str, lines: impl Iterator<Item = &'l str>) -> bool {
    let used: usize = lines.map(|line| 1 + units(line)).sum();
    units(heading) + used <= UNITS
}

/// A hint as it is told; `None` when it cannot be.
pub(super) fn line(hint: &Hint) -> Option<String> {
    let text = cut(&without_ids(&hint.text))?;
    if !is_memory_id(&hint.id) {
        return None;
    }
    Some(format!("- [{}] {}: {text}", hint.id, hint.kind.word()))
}

/// A key point as a prompt brings it; its text has the length of one already.
pub(super) fn point_line(point: &PointLeftOut) -> Option<String> {
    let text = without_ids(&point.text);
    (!text.contains(char::is_control)).then(|| format!("- [{}] {text}", point.name))
}

fn without_ids(text: &str) -> String {
    ID_PREFIXES.iter().fold(text.to_owned(), |text, prefix| {
        text.replace(&format!("[{prefix}"), &format!("({prefix}"))
    })
}

/// What a person at the terminal is told of what the model was told: its ids, in a line.
pub(super) fn to_user(context: &HookContext<'_>, told: &str) -> Vec<String> {
    let notices = context.settings.as_ref().map(|settings| settings.notices);
    if notices == Some(Notices::Quiet) || !context.env.is_on(name::ATTENDED) {
        return Vec::new();
    }
    let ids = told
        .lines()
        .filter_map(|line| line.strip_prefix("- [")?.split_once(']'));
    let ids: Vec<String> = ids.map(|(id, _)| format!("`{id}`")).collect();
    vec![format!("reminded Claude of {}", ids.join(", "))]
}

/// One line, cut to its length; `None` when it is none.
fn cut(text: &str) -> Option<String> {
    if text.is_empty() || text.contains(char::is_control) {
        return None;
    }
    Some(match text.char_indices().nth(TEXT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    })
}

pub(super) fn times(count: u64) -> String {
    match count {
        0 | 1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

pub(super) fn ago(time: Timestamp, now: Timestamp) -> String {
    let minutes = now.duration_since(time).as_mins();
    let (count, unit) = match minutes {
        ..=1 => return "just now".to_owned(),
        2..120 => (minutes, "minutes"),
        120..2880 => (minutes / 60, "hours"),
        _ => (minutes / 1440, "days"),
    };
    format!("{count} {unit} ago")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::MemoryKind;
    use proptest::prelude::*;
    use rstest::rstest;

    fn hint(id: &str, text: &str) -> Hint {
        Hint {
            id: id.to_owned(),
            kind: MemoryKind::Lesson,
            text: text.to_owned(),
            occurrences: 1,
            last_seen: Timestamp::UNIX_EPOCH,
            effectiveness: 0.5,
        }
    }

    const ID: &str = "les-0123456789ab";

    #[rstest]
    #[case::empty("")]
    #[case::other_prefix("pat-0123456789ab")]
    #[case::too_long("les-0123456789abc")]
    #[case::a_bracket("les-0123456789a]")]
    fn what_has_no_id_of_ours_is_not_told(#[case] id: &str) {
        assert_eq!(tell("H", &[hint(id, "text")]), None);
    }

    #[rstest]
    #[case::just_now(30, "just now")]
    #[case::clock_went_back(-4000, "just now")]
    #[case::minutes(119 * 60, "119 minutes ago")]
    #[case::hours(47 * 3600, "47 hours ago")]
    #[case::days(3 * 86_400 + 5, "3 days ago")]
    fn a_time_is_told_in_words(#[case] seconds: i64, #[case] words: &str) {
        let at = |s| Timestamp::from_second(1_800_000_000 + s).unwrap();
        assert_eq!(ago(at(0), at(seconds)), words);
    }

    proptest! {
        #[test]
        fn all_that_is_told_is_short_and_one_line_for_each_hint(
            texts in proptest::collection::vec("(\\PC|[\u{1f600}\n<>]|\\[les-){0,900}", 0..6)
        ) {
            let hints: Vec<_> = texts.iter().map(|text| hint(ID, text)).collect();
            if let Some(told) = tell("heading", &hints) {
                prop_assert!(units(&told) <= UNITS);
                prop_assert!((2..=1 + MOST).contains(&told.lines().count()));
                prop_assert!(told.lines().skip(1).all(|line| line.starts_with("- [les-0123456789ab] lesson: ")));
                prop_assert_eq!(told.matches("[les-").count(), told.lines().count() - 1);
            }
        }
    }
}
