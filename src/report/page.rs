//! Figures → the page: pure.

use jiff::tz::TimeZone;

use super::figures::Figures;
use super::parts::Parts;
use super::policy::policy;
use crate::reflect::fill::fill;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Makes the page; times are shown as in `zone`.
///
/// Equal figures make equal pages, byte for byte.
pub fn page(figures: &Figures, zone: &TimeZone) -> String {
    let parts = Parts { figures, zone };
    fill(
        PAGE,
        &[
            ("policy", &policy(STYLE, SCRIPT)),
            ("style", STYLE),
            ("script", SCRIPT),
            ("name", &parts.name()),
            ("project", &parts.project()),
            ("made", &parts.made()),
            ("problems", &parts.problems()),
            ("tiles", &parts.tiles()),
            ("points", &parts.points()),
            ("sessions", &parts.sessions()),
            ("errors", &parts.errors()),
            ("evaluations", &parts.evaluations()),
            ("costs", &parts.costs()),
        ],
    )
}
