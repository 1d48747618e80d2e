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

/// Fills the `{name}`s of `template` that stand in `values`; everything else stays.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, name, after)) = next_placeholder(rest) {
        out.push_str(before);
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => out.push_str(value),
            None => out.extend(["{", name, "}"]),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Keeps the blocks of `template` whose condition holds and drops the others.
pub fn choose(template: &str, conditions: &[(&str, bool)]) -> String {
    let lines: Vec<&str> = template.split_inclusive('\n').collect();
    let mut out = String::with_capacity(template.len());
    let mut at = 0;
    while at < lines.len() {
        let block = conditions.iter().find_map(|&(name, holds)| {
            is_mark(lines[at], "{?", name).then_some(())?;
            let body = at + 1;
            let len = lines[body..]
                .iter()
                .position(|line| is_mark(line, "{/", name))?;
            Some((body, body + len, holds))
        });
        if let Some((body, end, holds)) = block {
            if holds {
                out.extend(lines[body..end].iter().copied());
            }
            at = end + 1;
        } else {
            out.push_str(lines[at]);
            at += 1;
        }
    }
    out
}

/// Lists what looks like a placeholder in `template`, in order, each once.
///
/// A checker of edited templates compares it with the names that are known.
pub fn placeholders(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = template;
    while let Some((_, name, after)) = next_placeholder(rest) {
        if !names.contains(&name) {
            names.push(name);
        }
        rest = after;
    }
    names
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
    use proptest::prelude::*;
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

    #[test]
    fn placeholders_are_listed_once_in_order() {
        assert_eq!(
            placeholders("{b} {a} {b} {\"c\": {d}} {E}"),
            ["b", "a", "d"]
        );
    }

    proptest! {
        #[test]
        fn a_template_without_known_names_stays(template in "[{}a-c?/\\n ]{0,80}") {
            prop_assert_eq!(fill(&template, VALUES), template.clone());
            prop_assert_eq!(choose(&template, &[("yes", true)]), template);
        }
    }
}
