//! Brings a text into the one form that the rules are written for.

use super::invisible::shows_nothing;

/// Letters of other alphabets that look like a Latin one, and that one.
const LOOK_ALIKES: &[(char, char)] = &[
    ('а', 'a'),
    ('α', 'a'),
    ('с', 'c'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('ε', 'e'),
    ('ɡ', 'g'),
    ('һ', 'h'),
    ('і', 'i'),
    ('ι', 'i'),
    ('ј', 'j'),
    ('к', 'k'),
    ('κ', 'k'),
    ('ӏ', 'l'),
    ('м', 'm'),
    ('о', 'o'),
    ('ο', 'o'),
    ('р', 'p'),
    ('ρ', 'p'),
    ('ѕ', 's'),
    ('т', 't'),
    ('τ', 't'),
    ('υ', 'u'),
    ('ν', 'v'),
    ('х', 'x'),
    ('у', 'y'),
];
/// Files that show how a file of secrets looks and hold none.
const SPECIMENS: [&str; 4] = [".env.example", ".env.sample", ".env.template", ".env.dist"];

/// Returns the text in lower case, without what cannot be seen, with plain letters, quotes and
/// blanks.
///
/// A look-alike is replaced only in a word that has Latin letters too: a Russian word stays.
pub(super) fn fold(text: &str) -> String {
    let plain: String = text
        .chars()
        .filter(|&c| !shows_nothing(c))
        .flat_map(|c| plain_sign(c).to_lowercase())
        .collect();
    let mut folded = String::with_capacity(plain.len());
    for word in plain.split_inclusive(|c: char| c.is_whitespace()) {
        if !word.is_ascii() && word.contains(|c: char| c.is_ascii_lowercase()) {
            folded.extend(word.chars().map(plain_letter));
        } else {
            folded.push_str(word);
        }
    }
    SPECIMENS
        .iter()
        .fold(folded, |text, specimen| text.replace(specimen, "specimen"))
}

/// A sign in full width, a curly quote or an odd blank as the plain one.
fn plain_sign(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '\n' => c,
        c if c.is_whitespace() => ' ',
        c => c,
    }
}

fn plain_letter(c: char) -> char {
    let known = LOOK_ALIKES.iter().find(|(other, _)| *other == c);
    known.map_or(c, |(_, latin)| *latin)
}
