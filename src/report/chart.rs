//! Charts as inline SVG. They hold no text of anyone: numbers and our own words only.

use std::fmt::Write as _;

use super::figures::Moment;

/// How wide the drawing of a chart is; the page stretches it.
const WIDTH: f64 = 600.0;
/// How high it is.
const HEIGHT: f64 = 120.0;
/// How much of its place a bar leaves free.
const GAP: f64 = 0.24;
/// The size of a sparkline.
const SPARK: (f64, f64) = (96.0, 24.0);

/// One bar: what it stands for, and its parts from below, each with its class.
pub(super) struct Bar {
    pub(super) title: String,
    pub(super) parts: Vec<(&'static str, u64)>,
}

impl Bar {
    pub(super) fn total(&self) -> u64 {
        self.parts.iter().map(|(_, value)| value).sum()
    }
}

/// Bars side by side on one scale, with what they show in words.
pub(super) fn bars(label: &str, bars: &[Bar]) -> String {
    let most = bars.iter().map(Bar::total).max().unwrap_or_default().max(1);
    let place = WIDTH / real(bars.len() as u64).max(1.0);
    let mut svg = format!(
        "<svg class=\"bars\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" \
         role=\"img\" aria-label=\"{label}\">"
    );
    for (n, bar) in bars.iter().enumerate() {
        let x = place * (real(n as u64) + GAP / 2.0);
        let width = place * (1.0 - GAP);
        _ = write!(
            svg,
            "<g><title>{}</title><rect class=\"none\" x=\"{:.2}\" y=\"0\" width=\"{place:.2}\" height=\"{HEIGHT}\"/>",
            bar.title,
            place * real(n as u64)
        );
        let mut y = HEIGHT;
        for (class, value) in bar.parts.iter().filter(|(_, value)| *value > 0) {
            let height = HEIGHT * real(*value) / real(most);
            y -= height;
            _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"/>"
            );
        }
        svg.push_str("</g>");
    }
    svg.push_str("</svg>");
    svg
}

/// The votes of a key point over time, as two lines of steps on one scale.
pub(super) fn votes(history: &[Moment]) -> String {
    let (Some(first), Some(last)) = (history.first(), history.last()) else {
        return String::new();
    };
    let label = format!(
        "after {} changes: helpful {}, harmful {}",
        history.len(),
        last.helpful,
        last.harmful
    );
    let most = history.iter().map(|m| m.helpful.max(m.harmful)).max();
    let most = real(most.unwrap_or_default().max(1));
    let from = first.time.as_millisecond();
    let span = (last.time.as_millisecond() - from).max(0);
    let steps = |votes: &dyn Fn(&Moment) -> u64| {
        let mut path = String::new();
        for (n, moment) in history.iter().enumerate() {
            // Changes at one moment, as in a test, stand side by side all the same.
            let share = if span == 0 {
                real(n as u64) / real(history.len() as u64 - 1).max(1.0)
            } else {
                real((moment.time.as_millisecond() - from).unsigned_abs())
                    / real(span.unsigned_abs())
            };
            let (x, y) = spark(share.clamp(0.0, 1.0), real(votes(moment)) / most);
            if n == 0 {
                _ = write!(path, "M0 {y:.1}H{x:.1}");
            } else {
                _ = write!(path, "H{x:.1}V{y:.1}");
            }
        }
        _ = write!(path, "H{}", SPARK.0);
        path
    };
    let (helpful, harmful) = (steps(&|m| m.helpful), steps(&|m| m.harmful));
    let mut svg = open_spark(&label);
    _ = write!(svg, "<path class=\"good\" d=\"{helpful}\"/>");
    if history.iter().any(|moment| moment.harmful > 0) {
        _ = write!(svg, "<path class=\"bad dashed\" d=\"{harmful}\"/>");
    }
    svg.push_str("</svg>");
    svg
}

/// Shares from 0 to 1 over time, as one line.
pub(super) fn shares(label: &str, shares: &[f64]) -> String {
    let mut path = String::new();
    let steps = real(shares.len().saturating_sub(1) as u64).max(1.0);
    for (n, share) in shares.iter().enumerate() {
        let (x, y) = spark(real(n as u64) / steps, share.clamp(0.0, 1.0));
        _ = write!(path, "{}{x:.1} {y:.1}", if n == 0 { "M" } else { "L" });
    }
    if shares.len() == 1 {
        _ = write!(path, "H{}", SPARK.0);
    }
    let mut svg = open_spark(label);
    _ = write!(svg, "<path class=\"accent\" d=\"{path}\"/></svg>");
    svg
}

fn open_spark(label: &str) -> String {
    let (width, height) = SPARK;
    format!(
        "<svg class=\"spark\" viewBox=\"0 -2 {width} {}\" preserveAspectRatio=\"none\" \
         role=\"img\" aria-label=\"{label}\"><title>{label}</title>",
        height + 4.0
    )
}

/// The place of a share of the time and a share of the height.
fn spark(time: f64, value: f64) -> (f64, f64) {
    (time * SPARK.0, (1.0 - value) * SPARK.1)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a drawing needs no exact number"
)]
fn real(number: u64) -> f64 {
    number as f64
}
