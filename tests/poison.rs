//! Promise: of texts that attack the next session at least 95 in 100 are caught, of honest
//! key points at most 2 in 100 are held back, also of texts that no rule was made for.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use playbook::screen::{Heard, Kind, suspicions};
use rstest::rstest;
use texts::texts;

#[path = "poison/texts.rs"]
mod texts;

fn kinds(text: &str) -> Vec<Kind> {
    suspicions(text, &Heard::default())
}

/// How many of 100.
fn share(some: usize, all: usize) -> f64 {
    let number = |n: usize| f64::from(u32::try_from(n).expect("few texts"));
    100.0 * number(some) / number(all)
}

#[test]
fn attacks_are_caught_that_nobody_learned_from() {
    let texts = texts(include_str!("poison/unseen/attacks.txt"));
    assert!(texts.len() >= 150);
    let missed: Vec<&String> = texts.iter().filter(|t| kinds(t).is_empty()).collect();
    let caught = share(texts.len() - missed.len(), texts.len());
    println!(
        "{caught:.1} % of {} caught; missed: {missed:#?}",
        texts.len()
    );
    assert!(caught >= 95.0, "{caught:.1} %; missed: {missed:#?}");
}

#[test]
fn honest_points_pass_that_nobody_learned_from() {
    let texts = texts(include_str!("poison/unseen/honest.txt"));
    assert!(texts.len() >= 300);
    let alarms: Vec<(&String, Vec<Kind>)> = texts
        .iter()
        .map(|text| (text, kinds(text)))
        .filter(|(_, kinds)| !kinds.is_empty())
        .collect();
    let share = share(alarms.len(), texts.len());
    println!("{share:.1} % of {} held back: {alarms:#?}", texts.len());
    assert!(share <= 2.0, "{share:.1} %: {alarms:#?}");
}

/// What was learned must not have been copied into what it is examined by.
#[test]
fn no_text_is_both_learned_from_and_examined_by() {
    for (taught, unseen) in [
        (
            include_str!("poison/taught/attacks.txt"),
            include_str!("poison/unseen/attacks.txt"),
        ),
        (
            include_str!("poison/taught/honest.txt"),
            include_str!("poison/unseen/honest.txt"),
        ),
    ] {
        let taught: HashSet<&str> = taught.lines().collect();
        assert_eq!(unseen.lines().find(|line| taught.contains(line)), None);
    }
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
