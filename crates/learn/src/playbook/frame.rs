//! What stands around the key points of a project: the template, and the user's own points.

use std::borrow::Cow;

use super::context::{Admission, InjectionLimits, PointsToShow, fill};
use super::json::Defect;
use super::model::Point;
use super::render::{BLANK_LINE, LineStyle, PLACEHOLDER, SHORT_TEMPLATE, TEMPLATE};
use super::usage::UsageRecord;
use crate::clip::units;

/// Of the room one part in so many is for the user's own points.
const OWN_SHARE: usize = 4;
const OWN_TEMPLATE: &str = "# OF YOUR USER, FOR EVERY PROJECT\n\n{key_points}";
const PROJECT_TITLE: &str = "# OF THIS PROJECT";

/// The text around the key points of a project.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The template, with a place for the key points.
    pub template: &'a str,
    /// The user's own key points, as [`own_points`] has them, which come last; empty where there
    /// are none.
    pub own: &'a str,
}

impl<'a> Frame<'a> {
    /// A template with nothing of the user's own.
    pub fn of(template: &'a str) -> Self {
        Self { template, own: "" }
    }

    /// How points are shown in the template: one of the user's has them with their votes.
    pub(super) fn line(&self) -> LineStyle {
        if self.template.trim() == TEMPLATE.trim() {
            LineStyle::Plain
        } else {
            LineStyle::WithVotes
        }
    }

    /// A template in which the user's own points have their place.
    pub(super) fn with_own<'t>(&self, template: &'t str) -> Cow<'t, str> {
        if self.own.is_empty() {
            return Cow::Borrowed(template);
        }
        let own = self.own;
        let both = format!("{PROJECT_TITLE}{BLANK_LINE}{PLACEHOLDER}{BLANK_LINE}{own}");
        Cow::Owned(template.replacen(PLACEHOLDER, &both, 1))
    }

    /// What a session is given where the project has nothing to give.
    pub fn alone(&self, limits: InjectionLimits) -> Option<String> {
        if self.own.is_empty() {
            return None;
        }
        let templates = [self.template, TEMPLATE, SHORT_TEMPLATE].into_iter();
        let mut filled = templates
            .filter(|template| template.contains(PLACEHOLDER))
            .map(|template| template.replace(PLACEHOLDER, self.own));
        filled.find(|text| units(text) <= limits.units)
    }
}

/// Renders the user's own key points, which follow those of a project: they get a quarter of the
/// room of `limits`.
pub fn own_points(
    bytes: &[u8],
    frame: Frame<'_>,
    limits: InjectionLimits,
    usage: &UsageRecord,
    admit: impl Fn(&Point<'_>) -> Admission,
) -> Result<PointsToShow, Defect> {
    let limits = InjectionLimits {
        units: limits.units / OWN_SHARE,
        ..limits
    };
    let mut shown = fill(bytes, &[(OWN_TEMPLATE, frame.line())], limits, usage, admit)?;
    // A place for the project's points is in the template alone.
    shown.text = shown
        .text
        .map(|text| text.replace(PLACEHOLDER, "{key points}"));
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::context::context;
    use serde_json::{Value as Json, json};

    fn file(points: &Json) -> Vec<u8> {
        json!({"sections": {"OTHERS": points}})
            .to_string()
            .into_bytes()
    }

    fn many(count: usize) -> Vec<u8> {
        let point = |n: usize| json!({"name": format!("oth-{n:03}"), "text": "x".repeat(n % 200)});
        file(&(1..=count).map(point).collect())
    }

    #[test]
    fn the_users_own_points_come_last_within_a_quarter_of_the_room() {
        let point = |n: usize| json!({"name": format!("my-{n:03}"), "text": "own ".repeat(30)});
        let usage = UsageRecord::default();
        let limits = InjectionLimits::FULL;
        let own = |count| {
            let bytes = file(&(1..=count).map(point).collect());
            let shown = own_points(&bytes, Frame::of(TEMPLATE), limits, &usage, |_| {
                Admission::Given
            });
            shown.unwrap().text.unwrap()
        };
        assert!(units(&own(50)) <= limits.units / OWN_SHARE);
        assert!(own(50).matches("[my-").count() > 3);
        let both = |bytes: &[u8], own: &str| {
            let template = "Before {key_points} after";
            let frame = Frame { template, own };
            let all = |_: &Point<'_>| Admission::Given;
            context(bytes, frame, limits, &usage, all).unwrap().text
        };
        let text = both(&many(60), &own(2)).unwrap();
        assert!(units(&text) <= limits.units);
        assert!(text.starts_with("Before # OF THIS PROJECT\n\n## OTHERS\n[oth-"));
        let own_part = "\n\n# OF YOUR USER, FOR EVERY PROJECT\n\n## OTHERS\n[my-001]";
        assert!(text.contains(own_part) && text.contains(" after"), "{text}");
        let alone = both(&many(0), &own(1)).unwrap();
        assert!(alone.starts_with("Before # OF YOUR USER"), "{alone}");
        assert!(alone.ends_with(" after"), "{alone}");
        assert_eq!(both(&many(0), ""), None);
    }

    #[test]
    fn a_point_of_the_users_own_leaves_the_projects_points_in_their_place() {
        let point = json!([{"name": "my-001", "text": "write {key_points} so"}]);
        let (limits, usage) = (InjectionLimits::FULL, UsageRecord::default());
        let all = |_: &Point<'_>| Admission::Given;
        let own = own_points(&file(&point), Frame::of(TEMPLATE), limits, &usage, all);
        let own = own.unwrap().text.unwrap();
        let frame = Frame {
            template: TEMPLATE,
            own: &own,
        };
        let text = context(&many(2), frame, limits, &usage, all);
        assert_eq!(text.unwrap().text.unwrap().matches("[oth-001]").count(), 1);
    }
}
