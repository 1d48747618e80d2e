//! Draws README's picture of a session that teaches the next one, from what the demo says:
//!
//! ```sh
//! cargo run -- demo --json | cargo run --example picture > docs/demo.svg
//! ```

use std::fmt::Write as _;
use std::io;

use serde_json::Value;

/// The units of the drawing: its width, its margin, the height of a line.
const WIDTH: usize = 860;
const EDGE: usize = 24;
const LINE: usize = 20;

const STYLE: &str = "\
.paper{fill:#fff;stroke:#d0d7de}.head{font:600 14px system-ui,sans-serif;fill:#1f2328}\
.text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#59636e;white-space:pre}\
.new{fill:#1a7f37;font-weight:600}\
@media(prefers-color-scheme:dark){.paper{fill:#0d1117;stroke:#3d444d}.head{fill:#f0f6fc}\
.text{fill:#9198a1}.new{fill:#3fb950}}";

fn main() -> anyhow::Result<()> {
    let told = serde_json::from_reader(io::stdin().lock())?;
    print!("{}", picture(&told));
    Ok(())
}

/// Returns the drawing of the output of `playbook demo --json`.
pub(crate) fn picture(told: &Value) -> String {
    let blocks = [
        ("1. You say something in a session", said(told)),
        ("2. It ends, and Playbook learns from it", learned(told)),
        ("3. The next session begins with that", given(told)),
    ];
    let mut drawn = String::new();
    let mut y = EDGE;
    for (head, lines) in blocks {
        y += LINE;
        draw(&mut drawn, "head", y, head);
        for (is_new, line) in lines {
            y += LINE;
            draw(
                &mut drawn,
                if is_new { "text new" } else { "text" },
                y,
                &line,
            );
        }
        y += EDGE;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y}\" role=\"img\">\n\
         <title>A session teaches the next one</title>\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n\
         {drawn}</svg>\n",
        WIDTH - 1,
        y - 1
    )
}

fn draw(drawn: &mut String, class: &str, y: usize, text: &str) {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    // Writing to a string cannot fail.
    _ = writeln!(
        drawn,
        "<text class=\"{class}\" x=\"{EDGE}\" y=\"{y}\">{text}</text>"
    );
}

/// The lines, each with a flag that marks it as new.
type Lines = Vec<(bool, String)>;

/// Returns the words on which the new key point is based.
fn said(told: &Value) -> Lines {
    let reason = told["story"]["story"][0]["reason"].as_str();
    let words = reason.and_then(|reason| reason.split('"').nth(1));
    vec![(false, format!("> {}", words.unwrap_or_default()))]
}

/// Returns the points that are new or have other counts than before.
fn learned(told: &Value) -> Lines {
    let before = list(&told["before"]);
    let changed = list(&told["after"])
        .iter()
        .filter(|now| !before.contains(now));
    let lines = changed.map(|now| {
        let name = now["name"].as_str().unwrap_or_default();
        let was = before.iter().find(|was| was["name"] == now["name"]);
        let what = was.map_or("learned".to_owned(), |was| {
            format!("helpful {} -> {}", was["helpful"], now["helpful"])
        });
        let text = now["text"].as_str().unwrap_or_default();
        (was.is_none(), format!("{name:<8}  {what:<14}  {text}"))
    });
    lines.collect()
}

/// Returns the key points that the next session is given, below their headings.
fn given(told: &Value) -> Lines {
    let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
    let (before, after) = (text("given_before"), text("given_after"));
    let points = after.lines().skip_while(|line| !line.starts_with("## "));
    let lines = points
        .filter(|line| !line.is_empty())
        .map(|line| (!before.lines().any(|was| was == line), line.to_owned()));
    lines.collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
