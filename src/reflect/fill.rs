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
//! Its two marks stand alone on their lines and go in any case. A mark whose name is not
//! known, or that has no partner, is text. Blocks do not nest.

/// In so many places a value is put at most: a template that asks for it more often is
/// mistaken, and would make gigabytes of a long session.
const MAX_COPIES: usize = 8;

/// Fills the `{name}`s of `template` that stand in `values`; everything else stays, and so
/// does a name after its eighth place.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut copies = vec![0; values.len()];
    let mut rest = template;
    while let Some((before, name, after)) = next_placeholder(rest) {
        out.push_str(before);
        match values.iter().position(|(known, _)| *known == name) {
            Some(at) if copies[at] < MAX_COPIES => {
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
    let lines: Vec<&str> = template.split_inclusive('\n').collect();
    let ends: Vec<Vec<usize>> = conditions
        .iter()
        .map(|(name, _)| {
            let is_end = |at: &usize| is_mark(lines[*at], "{/", name);
            (0..lines.len()).filter(is_end).collect()
        })
        .collect();
    let mut out = String::with_capacity(template.len());
    let mut at = 0;
    while at < lines.len() {
        let block = conditions
            .iter()
            .zip(&ends)
            .find_map(|(&(name, holds), ends)| {
                is_mark(lines[at], "{?", name).then_some(())?;
                let next = ends.partition_point(|&end| end <= at);
                Some((*ends.get(next)?, holds))
            });
        if let Some((end, holds)) = block {
            if holds {
                out.extend(lines[at + 1..end].iter().copied());
            }
            at = end + 1;
        } else {
            out.push_str(lines[at]);
            at += 1;
        }
    }
    out
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

fn is_mark(line: &str, open: &str, name: &str) -> bool {
    line.trim()
        .strip_prefix(open)
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|found| found == name)
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
    #[case::inline("say {?no} b {/no}\n", "say {?no} b {/no}\n")]
    #[case::no_blocks("a {playbook}\n", "a {playbook}\n")]
    fn blocks_follow_their_condition(#[case] template: &str, #[case] chosen: &str) {
        assert_eq!(choose(template, &[("yes", true), ("no", false)]), chosen);
    }
}
