//! `playbook export`: the key points, and what is remembered beyond them, as a document.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::args;
use super::output;
use super::session::Session;
use super::show;
use crate::hint::MemoryKind;
use crate::memory::RecallQuery;
use crate::playbook::clean::clean_text;
use crate::playbook::{Playbook, Point, Section};
use crate::reflect::remembered::{Detail, Remembered};

/// More memories than are ever kept.
const ALL: u64 = 1_000_000;

pub(super) fn run(session: &Session, args: &args::Export) -> anyhow::Result<()> {
    let playbook = session.playbook()?;
    let now = session.env.clock().now();
    let query = RecallQuery {
        project: Some(session.project_name()),
        ..RecallQuery::best(ALL)
    };
    let memories = match session.memory()? {
        Some(memory) => memory.recall(&query, now)?,
        None => Vec::new(),
    };
    if args.on.json {
        let points: Vec<_> = playbook.points().map(|p| show::in_json(&p, now)).collect();
        return output::json(&json!({
            "project": session.project,
            "points": points,
            "memories": memories,
        }));
    }
    let mut text = markdown(&playbook, &session.project);
    for kind in MemoryKind::ALL {
        let of_kind = memories.iter().filter(|memory| memory.kind == kind);
        let told: String = of_kind.map(remembered).collect();
        if !told.is_empty() {
            // Writing to a string cannot fail.
            _ = write!(text, "\n## Memory: {}\n\n{told}", kind.word());
        }
    }
    Ok(output::whole(format_args!("{}", text.trim_end()))?)
}

/// A memory as items of a list: what it says, and what fixed it if it is an error.
fn remembered(memory: &Remembered) -> String {
    let (name, says) = (escaped(&memory.id), escaped(&memory.text));
    let mut text = format!(
        "- **{name}** {says} (importance {:.2})\n",
        memory.importance
    );
    if let Detail::Error { fixes, .. } = &memory.detail {
        for fix in fixes {
            // Writing to a string cannot fail.
            _ = writeln!(text, "  - fixed by: {}", escaped(&fix.text));
        }
    }
    text
}

fn markdown(playbook: &Playbook, project: &Path) -> String {
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!("# Playbook of {}\n", escaped(&name));
    for section in Section::ALL {
        let points: Vec<Point<'_>> = playbook.points().filter(|p| p.section == section).collect();
        if !points.is_empty() {
            // Writing to a string cannot fail.
            _ = writeln!(text, "\n## {}\n", section.title());
        }
        for point in points {
            let votes = format!("helpful {}, harmful {}", point.helpful, point.harmful);
            let (name, says) = (escaped(point.name), escaped(point.text));
            _ = writeln!(text, "- **{name}** {says} ({votes})");
        }
    }
    text
}

/// Text that Markdown shows as it is; code in backticks stays code.
fn escaped(text: &str) -> String {
    let text = clean_text(text);
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick without a partner opens nothing.
    let is_code = |n: usize| n % 2 == 1 && n + 1 < parts.len();
    let mut escaped = String::with_capacity(text.len());
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            escaped.push('`');
        }
        for c in part.chars() {
            if matches!(c, '\\' | '*' | '_' | '<' | '[' | '&') && !is_code(n) {
                escaped.push('\\');
            }
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("run the tests", "run the tests")]
    #[case::marks("use *both* <b>", "use \\*both\\* \\<b>")]
    #[case::code("run `just *` now_", "run `just *` now\\_")]
    #[case::one_backtick("a ` b_c", "a ` b\\_c")]
    #[case::two_lines("a\n# b", "a b")]
    fn markdown_shows_a_text_as_it_is(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(escaped(text), expected);
    }
}
