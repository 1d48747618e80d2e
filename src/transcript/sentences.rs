//! Cuts what a person typed into sentences, without code, quotations and logs.

/// Short forms, in lower case, whose full stop does not end a sentence.
const SHORT_FORMS: &[&str] = &[
    "vs", "etc", "cf", "approx", "incl", "resp", "bzw", "ca", "usw", "evtl", "ggf", "vgl", "p",
    "pp",
];

/// Returns the sentences of a text, each with the mark that ends it.
///
/// Lines of fenced code and those that begin as quotations, tables, tags, prompts, and
/// differences do are left out; so are headings, but the first line may be a note (`# …`).
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines()
        .enumerate()
        .filter(move |(number, line)| {
            let line = line.trim_start();
            let fence = line.starts_with("```");
            fenced ^= fence;
            let heading = *number > 0 && line.starts_with('#');
            !fence && !fenced && !heading && !line.starts_with(['>', '|', '{', '<', '$', '+', '@'])
        })
        .flat_map(|(_, line)| split(line))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// Splits a line after each mark that ends a sentence.
fn split(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (sentence, after) = rest.split_at(end(rest));
        rest = after;
        Some(sentence)
    })
}

/// Where the first sentence of `line` ends.
fn end(line: &str) -> usize {
    let mut code_ends = 0;
    for (at, c) in line.char_indices() {
        let after = at + c.len_utf8();
        match c {
            _ if at < code_ends => {}
            // What stands in code ends nothing; a lone backtick begins none.
            '`' => match line[after..].find('`') {
                Some(length) => code_ends = after + length + 1,
                None => code_ends = after,
            },
            '。' | '！' | '？' => return after,
            '.' | '!' | '?' | ';' => {
                let closed = line[after..]
                    .trim_start_matches(['"', '\'', ')', '”', '’', '*', '.', '!', '?']);
                let ends = closed.is_empty() || closed.starts_with(char::is_whitespace);
                if ends && !(c == '.' && goes_on(&line[..at], closed.trim_start())) {
                    return line.len() - closed.len();
                }
            }
            _ => {}
        }
    }
    line.len()
}

/// Tells whether a sentence goes on after a full stop: `e.g.`, `etc. and`, `No. 5`.
fn goes_on(before: &str, after: &str) -> bool {
    let word = before
        .rsplit([' ', '(', '"'])
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let initials = word.contains('.')
        && word.split('.').all(|part| {
            !part.is_empty() && part.chars().count() <= 2 && part.chars().all(char::is_alphabetic)
        });
    let lower = after.starts_with(|c: char| c.is_lowercase() || matches!(c, '`' | ',' | '@'));
    initials
        || (SHORT_FORMS.contains(&word.as_str()) && lower)
        || (matches!(word.as_str(), "no" | "nr" | "fig" | "vs")
            && after.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::file("never edit src/main.rs by hand. Thanks!", &["never edit src/main.rs by hand.", "Thanks!"])]
    #[case::version("Always use v2.1. Then go on", &["Always use v2.1.", "Then go on"])]
    #[case::for_example("Don't use e.g. lodash", &["Don't use e.g. lodash"])]
    #[case::german("Nutze z.B. pnpm. Gut", &["Nutze z.B. pnpm.", "Gut"])]
    #[case::etc("Mind a, b etc. and go. Mind c etc. Then d", &["Mind a, b etc. and go.", "Mind c etc.", "Then d"])]
    #[case::number("No. 5 in the list", &["No. 5 in the list"])]
    #[case::no("No. Use it", &["No.", "Use it"])]
    #[case::code("always run `a. b` first. c", &["always run `a. b` first.", "c"])]
    #[case::open_backtick("a ` b. c", &["a ` b.", "c"])]
    #[case::several_marks("Stop!!! Now... go", &["Stop!!!", "Now...", "go"])]
    #[case::quoted("He said \"no.\" Go", &["He said \"no.\"", "Go"])]
    #[case::wide("不对。应该用pnpm！好", &["不对。", "应该用pnpm！", "好"])]
    #[case::lines("a\n\nb\n> c\n```\nd\n```\n# e\nf", &["a", "b", "f"])]
    #[case::note("# always use tabs", &["# always use tabs"])]
    #[case::empty(" \n", &[])]
    fn sentences_end_where_they_end(#[case] text: &str, #[case] want: &[&str]) {
        assert_eq!(sentences(text).collect::<Vec<_>>(), want);
    }
}
