//! Fills templates: blocks chosen by condition, then placeholders, each in one pass.
//!
//! A placeholder is `{name}` with a known name; every other brace is text, so a template may
//! contain JSON or code. Values are not expanded again: one that contains `{playbook}` changes
//! nothing.
//!
//! A block is kept or dropped whole:
//!
//! ```text
//! {?failure}
//! Find the root cause.
//! {/failure}
//! ```
//!
//! Its two marks are always removed, together with the lines that hold only them. A mark with an
//! unknown name or without a partner is text. Blocks do not nest.

use std::ops::Range;

/// The most copies of a value: a template that asks for more is mistaken, and would make gigabytes
/// of a long session.
const MAX_COPIES: usize = 8;
/// The longest value, in bytes, that may be copied any number of times.
const SHORT: usize = 64;

/// Keeps everything else, including the name of a long value after its eighth copy.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut copies = vec![0; values.len()];
    let mut rest = template;
    while let Some((before, name, after)) = next_placeholder(rest) {
        out.push_str(before);
        match values.iter().position(|(known, _)| *known == name) {
            Some(at) if copies[at] < MAX_COPIES || values[at].1.len() <= SHORT => {
                copies[at] += 1;
                out.push_str(values[at].1);
            }
            _ => out.extend(["{", name, "}"]),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

pub(crate) fn choose(template: &str, conditions: &[(&str, bool)]) -> String {
    let marks = |(name, holds): &(&str, bool)| {
        let (begin, end) = (format!("{{?{name}}}"), format!("{{/{name}}}"));
        // No block begins after its last end; each end is searched once.
        let last = template.rfind(&end);
        (begin, end, last, *holds)
    };
    let marks: Vec<_> = conditions.iter().map(marks).collect();
    let mut out = String::with_capacity(template.len());
    let (mut done, mut from) = (0, 0);
    while let Some(at) = template[from..].find("{?").map(|at| from + at) {
        from = at + 2;
        let known = marks.iter().find(|(begin, _, last, _)| {
            template[at..].starts_with(begin) && last.is_some_and(|last| last > at)
        });
        let Some((begin, end, _, holds)) = known else {
            continue;
        };
        let Some(closed) = template[at..].find(end).map(|inner| at + inner) else {
            continue;
        };
        let (first, second) = (
            mark(template, at..at + begin.len()),
            mark(template, closed..closed + end.len()),
        );
        out.push_str(&template[done..first.start]);
        if *holds {
            out.push_str(&template[first.end..second.start]);
        }
        done = second.end;
        from = done;
    }
    out.push_str(&template[done..]);
    out
}

/// Returns the range to remove with a mark: the whole line if it holds only the mark.
fn mark(template: &str, mark: Range<usize>) -> Range<usize> {
    let is_blank = |c: char| c.is_whitespace() && c != '\n';
    let before = template[..mark.start].trim_end_matches(is_blank);
    let after = template[mark.end..].trim_start_matches(is_blank);
    let is_start = before.is_empty() || before.ends_with('\n');
    match after.strip_prefix('\n') {
        Some(next) if is_start => before.len()..template.len() - next.len(),
        None if is_start && after.is_empty() => before.len()..template.len(),
        _ => mark,
    }
}

/// Splits `text` at its first `{name}`: the part before, the name, the part after.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    memchr::memchr_iter(b'{', text.as_bytes()).find_map(|open| {
        let inner = &text[open + 1..];
        let len = inner
            .bytes()
            .take_while(|b| matches!(b, b'a'..=b'z' | b'_'))
            .count();
        let after = inner[len..].strip_prefix('}')?;
        (len > 0).then_some((&text[..open], &inner[..len], after))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const VALUES: &[(&str, &str)] = &[("playbook", "P"), ("transcript", "{playbook} {x} }{")];

    #[rstest]
    #[case::known("a {playbook} b", "a P b")]
    #[case::value_with_placeholder("{transcript}|{playbook}", "{playbook} {x} }{|P")]
    #[case::unknown(
        "{other} {} { playbook } {Playbook}",
        "{other} {} { playbook } {Playbook}"
    )]
    #[case::json("{\"a\": {\"b\": \"{playbook}\"}}", "{\"a\": {\"b\": \"P\"}}")]
    #[case::doubled("{{playbook}}", "{P}")]
    #[case::unclosed("{playbook {playbook", "{playbook {playbook")]
    #[case::touching("{playbook}{playbook}", "PP")]
    fn only_known_names_are_filled(#[case] template: &str, #[case] filled: &str) {
        assert_eq!(fill(template, VALUES), filled);
    }

    #[test]
    fn a_template_that_repeats_a_placeholder_makes_no_giant_prompt() {
        let template = "{playbook}{other}".repeat(60_000);
        let filled = fill(&template, &[("playbook", &"x".repeat(500_000))]);
        assert!(filled.len() < template.len() + MAX_COPIES * 500_000);
        assert!(filled.ends_with("{playbook}{other}"));
    }

    #[test]
    fn a_hostile_template_takes_no_more_than_one_look_at_each_line() {
        let unclosed = "{?yes}\n".repeat(150_000);
        assert_eq!(choose(&unclosed, &[("yes", true), ("no", false)]), unclosed);
    }

    #[rstest]
    #[case::kept("a\n{?yes}\nb\n{/yes}\nc", "a\nb\nc")]
    #[case::dropped("a\n{?no}\nb\n{/no}\nc", "a\nc")]
    #[case::indented("  {?no}  \r\nb\n\t{/no}", "")]
    #[case::unknown("{?maybe}\nb\n{/maybe}\n", "{?maybe}\nb\n{/maybe}\n")]
    #[case::unclosed("{?no}\nb\n", "{?no}\nb\n")]
    #[case::stray_end("b\n{/no}\nc", "b\n{/no}\nc")]
    #[case::inline("say {?no}a{/no}{?yes}b{/yes}, {?yes}c\n{/yes}\n", "say b, c\n")]
    #[case::no_blocks("a {playbook}\n", "a {playbook}\n")]
    fn blocks_follow_their_condition(#[case] template: &str, #[case] chosen: &str) {
        assert_eq!(choose(template, &[("yes", true), ("no", false)]), chosen);
    }
}
