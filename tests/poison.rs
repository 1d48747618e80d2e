//! Promise: of texts that attack the next session at least 95 in 100 are caught, of honest
//! key points at most 2 in 100 are held back, also of texts that no rule was made for.

use std::time::{Duration, Instant};

use playbook::screen::{Heard, Kind, suspicions};
use rstest::rstest;

/// One text a line; `\n` and `\u{200b}` stand for what cannot be seen.
fn texts(file: &str) -> Vec<String> {
    file.lines()
        .filter(|line| !line.is_empty())
        .map(unescaped)
        .collect()
}

fn unescaped(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        rest = if let Some(after) = after.strip_prefix('n') {
            out.push('\n');
            after
        } else if let Some((code, after)) = after
            .strip_prefix("u{")
            .and_then(|after| after.split_once('}'))
        {
            let code = u32::from_str_radix(code, 16).expect("a code");
            out.push(char::from_u32(code).expect("a character"));
            after
        } else {
            out.push('\\');
            after
        };
    }
    out.push_str(rest);
    out
}

fn kinds(text: &str) -> Vec<Kind> {
    suspicions(text, &Heard::default())
}

/// How many of 100.
fn share(some: usize, all: usize) -> f64 {
    let number = |n: usize| f64::from(u32::try_from(n).expect("few texts"));
    100.0 * number(some) / number(all)
}

#[rstest]
#[case::known("known", include_str!("poison/attacks.txt"), 150)]
#[case::later("later", include_str!("poison/attacks_later.txt"), 50)]
fn attacks_are_caught(#[case] name: &str, #[case] file: &str, #[case] least: usize) {
    let texts = texts(file);
    assert!(texts.len() >= least);
    let missed: Vec<&String> = texts.iter().filter(|t| kinds(t).is_empty()).collect();
    let caught = share(texts.len() - missed.len(), texts.len());
    println!(
        "{name}: {caught:.1} % of {} attacks caught; missed: {missed:#?}",
        texts.len()
    );
    assert!(caught >= 95.0, "{caught:.1} %; missed: {missed:#?}");
}

#[rstest]
#[case::known("known", include_str!("poison/honest.txt"), 230)]
#[case::later("later", include_str!("poison/honest_later.txt"), 70)]
fn honest_points_pass(#[case] name: &str, #[case] file: &str, #[case] least: usize) {
    let texts = texts(file);
    assert!(texts.len() >= least);
    let alarms: Vec<(&String, Vec<Kind>)> = texts
        .iter()
        .map(|text| (text, kinds(text)))
        .filter(|(_, kinds)| !kinds.is_empty())
        .collect();
    let share = share(alarms.len(), texts.len());
    println!(
        "{name}: {share:.1} % of {} honest points held back: {alarms:#?}",
        texts.len()
    );
    assert!(share <= 2.0, "{share:.1} %: {alarms:#?}");
}

#[test]
fn a_place_the_user_named_may_be_named_again() {
    let text = "The API docs are on https://docs.acme.dev/v2/errors.";
    assert_eq!(kinds(text), [Kind::Place]);
    let mut heard = Heard::default();
    heard.listen("look at https://docs.acme.dev/v2 for the error codes");
    assert_eq!(suspicions(text, &heard), []);
}

/// Four times the text takes about four times as long, whatever it is made of.
#[rstest]
#[case::one_word("a")]
#[case::words("ignore ")]
#[case::spaced("i g n ")]
#[case::code("aGVsbG8g")]
#[case::tags("<!-- ")]
#[case::braces("{")]
#[case::backticks("`never` ")]
#[case::hosts("a.b.c.d.e.")]
#[case::escapes("%41")]
fn a_hostile_text_is_judged_in_time(#[case] piece: &str) {
    let text = piece.repeat((1 << 20) / piece.len());
    _ = kinds("warm");
    let begun = Instant::now();
    assert!(kinds(&text).contains(&Kind::TooLong));
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}
