//! Brings a text into the one form that the rules are written for.

use super::invisible::shows_nothing;

/// Letters of other alphabets that look like a Latin one.
const LOOK_ALIKES: &str = "аαсԁеεɡһіιјкκӏмоοрρѕтτυνху";
/// The order is that of [`LOOK_ALIKES`].
const LATIN: &str = "aacdeeghiijkklmooppsttuvxy";
/// Files that show how a file of secrets looks and hold none.
const SPECIMENS: [&str; 4] = [".env.example", ".env.sample", ".env.template", ".env.dist"];

/// Returns the [`plain`] text in lower case, without the names of files that hold no secret.
pub(super) fn fold(text: &str) -> String {
    SPECIMENS
        .iter()
        .fold(plain(text).to_lowercase(), |text, specimen| {
            text.replace(specimen, "specimen")
        })
}

/// A look-alike is replaced only in a word that has Latin letters too: a Russian word stays.
fn plain(text: &str) -> String {
    let plain: String = text
        .chars()
        .filter(|&c| !shows_nothing(c))
        .map(plain_sign)
        .collect();
    let mut folded = String::with_capacity(plain.len());
    for word in plain.split_inclusive(|c: char| c.is_whitespace()) {
        if !word.is_ascii() && word.contains(|c: char| c.is_ascii_alphabetic()) {
            folded.extend(word.chars().map(plain_letter));
        } else {
            folded.push_str(word);
        }
    }
    folded
}

/// Replaces a sign in full width, a curly quote, an odd bracket or blank by the plain one.
fn plain_sign(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '\u{2010}'..='\u{2012}' | '\u{fe63}' => '-',
        '‹' | '⟨' | '〈' | '❮' => '<',
        '›' | '⟩' | '〉' | '❯' => '>',
        '\n' => c,
        c if c.is_whitespace() => ' ',
        c => c,
    }
}

fn plain_letter(c: char) -> char {
    let small = c.to_lowercase().next().unwrap_or(c);
    let mut pairs = LOOK_ALIKES.chars().zip(LATIN.chars());
    match pairs.find(|(other, _)| *other == small) {
        Some((_, latin)) if small == c => latin,
        Some((_, latin)) => latin.to_ascii_uppercase(),
        None => c,
    }
}
