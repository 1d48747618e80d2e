//! `playbook export`: prints the key points and the memories as a document.

use super::prelude::*;
use super::show;
use crate::memory::{Question, RecallQuery};
use crate::playbook::clean::clean_text;

const ALL: u64 = 1_000_000;

pub(super) fn run(session: &NamedSession, as_json: bool) -> anyhow::Result<()> {
    let playbook = session.playbook()?;
    let now = session.env.clock().now();
    let query = RecallQuery {
        project: Some(session.project_name()),
        ..RecallQuery::best(ALL)
    };
    let memories = session.ask(&Question::Recall(query))?.memories;
    let points: Vec<_> = playbook.points().map(|p| show::in_json(&p, now)).collect();
    let mut answer = json!({
        "project": session.project,
        "points": points,
        "memories": memories,
    });
    if as_json {
        return output::json(&answer);
    }
    let name = session.project.file_name().unwrap_or_default();
    answer["name"] = name.to_string_lossy().into();
    let text = answer::laid_out(include_str!("screens/export.txt"), answer)?;
    Ok(output::whole(format_args!("{}", text.trim_end()))?)
}

/// Escapes a text for Markdown; code in backticks stays code.
pub(super) fn escaped(text: &str) -> String {
    let text = clean_text(text);
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick without a partner does not start code.
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
