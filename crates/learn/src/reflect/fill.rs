//! Fills templates: blocks chosen by condition, then placeholders, each in one pass.
//!
//! A placeholder is `{name}` with a name that is known; every other brace is text, so a
//! template may hold JSON or code. Values are never looked at again: one that contains
//! `{playbook}` changes nothing.
//!
//! A block is kept or dropped whole:
//!
//! ```text
//! {?failure}
//! Find the root cause.
//! {/failure}
//! ```
//!
//! Its two marks go in any case, and with them the lines on which they stand alone. A mark
//! whose name is not known, or that has no partner, is text. Blocks do not nest.

use std::ops::Range;

/// In so many places a value is put at most: a template that asks for it more often is
/// mistaken, and would make gigabytes of a long session.
const MAX_COPIES: usize = 8;
/// What is no longer than this, in bytes, may be put in any number of places.
const SHORT: usize = 64;

/// Fills the `{name}`s of `template` that stand in `values`; everything else stays, and so
/// does the name of a long value after its eighth place.
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

/// Keeps the blocks of `template` whose condition holds and drops the others.
pub(crate) fn choose(template: &str, conditions: &[(&str, bool)]) -> String {
    let marks = |(name, holds): &(&str, bool)| {
        let (begin, end) = (format!("{{?{name}}}"), format!("{{/{name}}}"));
        // Behind its last end no block begins; each is looked for once.
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

/// What goes with a mark: the whole line where it stands alone.
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

/// Splits `text` at its first `{name}`: what is before, the name, what is after.
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
