//! Promise: whatever git does with branches that have learned, no point or vote is lost or doubled:
//! with the merge driver without a conflict, without it after any command.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rstest::rstest;

use super::repository::{Driver, Repository, told};

/// The histories of branches and how they were joined, each with the expected playbook.
const CASES: &str = include_str!("../vectors/branches.txt");

#[rstest]
#[case::with_the_driver(Driver::Installed)]
#[case::without_it(Driver::Missing)]
fn every_way_to_join_branches_keeps_what_each_has_learned(#[case] driver: Driver) {
    let mut failures = String::new();
    let repository = Repository::new(driver);
    for case in CASES.lines().filter(|line| !line.starts_with('#')) {
        let (script, expected) = case.split_once(" => ").expect("a case");
        let said = repository.run(script);
        if said != expected {
            // Writing to a string cannot fail.
            _ = writeln!(failures, "{script}: {said}, not {expected}");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Generates two branches that learn, pick and merge at random; the expected result is the sum of
/// all jobs.
fn history(random: &mut impl FnMut(usize) -> usize) -> (String, String) {
    let mut script = vec!["+p".to_owned(), "new t".to_owned(), "on main".to_owned()];
    let mut all: BTreeMap<String, (u64, u64)> = BTreeMap::from([("p".to_owned(), (0, 0))]);
    let mut here = [vec!["p".to_owned()], vec!["p".to_owned()]];
    let names = ["main", "t"];
    // `true` if the last job of each branch added a point; `None` once the other branch picked it.
    let mut tips: [Option<bool>; 2] = [None, None];
    let mut at = 0;
    for _ in 0..6 + random(10) {
        let known = here[at].clone();
        let text = known[random(known.len())].clone();
        match random(9) {
            8 => {
                // A pick from a branch with other points may concern one that has another number
                // here.
                let others = here[1 - at].clone();
                let before = match tips[1 - at] {
                    Some(true) => others.split_last().map_or(&[][..], |(_, before)| before),
                    _ => &others[..],
                };
                if tips[1 - at].is_some() && before == known {
                    script.push(format!("cherry-pick {}", names[1 - at]));
                    tips = [None, None];
                    here[at] = others;
                }
            }
            0..2 => {
                at = 1 - at;
                script.push(format!("on {}", names[at]));
            }
            2..4 => {
                let new = ["a", "b", "c", "d", "e", "f"][random(6)].to_owned();
                if !known.contains(&new) {
                    script.push(format!("+{new}"));
                    all.entry(new.clone()).or_default();
                    tips[at] = Some(true);
                    here[at].push(new);
                }
            }
            4 => {
                script.push(format!("!{text}"));
                all.get_mut(&text).unwrap().1 += 1;
                tips[at] = Some(false);
            }
            5 if random(3) == 0 => {
                script.push(format!("merge {}", names[1 - at]));
                let others = here[1 - at].clone();
                here[at].extend(others.into_iter().filter(|text| !known.contains(text)));
                tips = [None, None];
            }
            _ => {
                script.push(format!("^{text}"));
                all.get_mut(&text).unwrap().0 += 1;
                tips[at] = Some(false);
            }
        }
    }
    script.push(format!("merge {}", names[1 - at]));
    (script.join("; "), told(all))
}

/// Runs 16 pairs of histories; `PLAYBOOK_TEST_HISTORIES` sets the number, `PLAYBOOK_TEST_SEED` the
/// first seed.
#[test]
fn random_histories_lose_nothing_and_double_nothing() {
    let number = |name: &str, otherwise: u64| {
        let set = std::env::var(name).ok();
        set.map_or(otherwise, |number| number.parse().unwrap())
    };
    let count = number("PLAYBOOK_TEST_HISTORIES", 16);
    let first = number("PLAYBOOK_TEST_SEED", 1);
    let repositories = [Driver::Installed, Driver::Missing].map(Repository::new);
    for seed in first..first + count {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % below
        };
        let (script, expected) = history(&mut random);
        let found = repositories[usize::from(seed % 4 == 0)].run(&script);
        assert_eq!(found, expected, "seed {seed}: {script}");
    }
}
