//! Promise: whatever git does with branches that have learned, no point and no vote is lost and
//! none is doubled: with the merge driver without a conflict, without it after any command.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::repository::{Driver, Repository, told};

/// What was learned on branches and how they were joined; then what there is to be.
const CASES: [(&str, &str); 39] = [
    ("+p; new t; +b; on main; merge t", "b, p"),
    ("+p; new t; +b; on main; merge --no-ff t", "b, p"),
    ("+p; new t; +b; on main; +c; merge t", "b, c, p"),
    ("+p; new t; ^p; on main; ^p; merge t", "p 2/0"),
    ("+p; new t; !p; on main; ^p; ^p; merge t", "p 2/1"),
    ("+p; new t; +a; ^a; on main; +a; !a; merge t", "a 1/1, p"),
    ("+p; new t; p~q; on main; ^p; merge t", "q 1/0"),
    ("+p; new t; p~q; on main; p~r; merge t", "r"),
    ("+p; +o; new t; -p; on main; ^p; merge t", "o, p 1/0"),
    ("+p; +o; new t; -p; on main; ^o; merge t", "o 1/0"),
    (
        "+p; +o; new t; p&o~q; ^q; on main; ^p; !o; merge t",
        "q 2/1",
    ),
    (
        "+p; +o; ^o; new t; p&o~q; on main; o~x; !x; merge t",
        "q 1/0, x 0/1",
    ),
    (
        "+p; +o; ^o; ^p; new t; p&o~q; on main; p&o~q; ^q; merge t",
        "q 3/0",
    ),
    (
        "+p; +o; +n; ^o; new t; p&o~q; on main; n&o~m; ^m; merge t",
        "m 2/0, q",
    ),
    (
        "+p; +o; ^o; new t; @x p&o~q; on main; @x p&o~q; ^q; merge t",
        "q 2/0",
    ),
    (
        "+p; new t; ^p; +b; on main; +c; merge --squash t; commit",
        "b, c, p 1/0",
    ),
    (
        "+p; style diff3; new t; ^p; on main; ^p; merge t; style merge",
        "p 2/0",
    ),
    (
        "+p; style zdiff3; new t; +b; on main; +b; +c; merge t; style merge",
        "b, c, p",
    ),
    // Merged again and again: a point that got a new number keeps it, and its votes.
    (
        "+p; new t; +b; on main; +c; merge t; on t; ^b; on main; ^c; merge t",
        "b 1/0, c 1/0, p",
    ),
    (
        "+p; new t; on main; +c; on t; +b; on main; merge t; on t; ^b; on main; merge t",
        "b 1/0, c, p",
    ),
    (
        "+p; new t; on main; +c; on t; +b; on main; merge t; on t; b~d; on main; ^b; merge t",
        "c, d 1/0, p",
    ),
    (
        "+p; new t; +b; tag b; on main; +c; tag c; merge b; ^b; on t; merge c; ^c; on main; merge t",
        "b 1/0, c 1/0, p",
    ),
    // A job that both sides have counts once.
    ("+p; new t; @x ^p; on main; @x ^p; ^p; merge t", "p 2/0"),
    ("+p; new t; +b; ^p; on main; ^p; cherry-pick t", "p 2/0"),
    (
        "+p; new t; ^p; on main; +c; cherry-pick t; ^p; on t; ^p; on main; merge t",
        "c, p 3/0",
    ),
    (
        "+p; new t; ^p; +b; ^b; on main; +c; ^p; cherry-pick main..t",
        "b 1/0, c, p 2/0",
    ),
    // Fixes the votes that were lost: a pick brought the names of jobs without their votes.
    (
        "+p; new t; on main; ^p; !p; ^p; on t; cherry-pick main; merge main",
        "p 2/1",
    ),
    ("+p; ^p; !p; revert HEAD~1", "p 0/1"),
    // Rebase.
    (
        "+p; new t; +b; ^p; +d; on main; +c; ^p; on t; rebase main",
        "b, c, d, p 2/0",
    ),
    (
        "+p; new t; p~q; ^q; on main; +c; ^p; on t; rebase main",
        "c, q 2/0",
    ),
    (
        "+p; new t; +b; new u; ^b; +d; on main; +c; on u; rebase main; on main; merge u",
        "b 1/0, c, d, p",
    ),
    // Stash.
    ("+p; *^p; stash; ^p; pop", "p 2/0"),
    ("+p; *+b; stash; +c; ^c; pop", "b, c 1/0, p"),
    // Octopus.
    (
        "+p; new t; ^p; on main; new u; +c; on main; merge t u",
        "c, p 1/0",
    ),
    (
        "+p; new t; +b; ^p; on main; new u; +c; ^p; on main; +d; ^p; merge t u",
        "b, c, d, p 3/0",
    ),
    // Histories that did not begin together.
    (
        "+p; ^p; orphan u; +p; ^p; +b; on main; merge --allow-unrelated-histories u",
        "b, p 2/0",
    ),
    // Linked worktrees.
    (
        "+p; new t; +b; on main; +c; tree t; ^p; back; ^p; merge t",
        "b, c, p 2/0",
    ),
    (
        "+p; new t; +b; ^p; on main; +c; ^p; tree t; merge main",
        "b, c, p 2/0",
    ),
    (
        "+p; new t; +b; ^p; on main; +c; ^p; tree t; rebase main",
        "b, c, p 2/0",
    ),
];

#[test]
fn every_way_to_join_branches_keeps_what_each_has_learned() {
    let mut failures = String::new();
    for driver in [Driver::Installed, Driver::Missing] {
        let repository = Repository::new(driver);
        for (script, expected) in CASES {
            let said = repository.run(script);
            if said != expected {
                // Writing to a string cannot fail.
                _ = writeln!(failures, "{driver:?}: {script}: {said}, not {expected}");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Two branches that learn, pick and merge at random. What comes of it is what each job did,
/// once.
fn history(random: &mut impl FnMut(usize) -> usize) -> (String, String) {
    let mut script = vec!["+p".to_owned(), "new t".to_owned(), "on main".to_owned()];
    let mut all: BTreeMap<String, (u64, u64)> = BTreeMap::from([("p".to_owned(), (0, 0))]);
    let mut here = [vec!["p".to_owned()], vec!["p".to_owned()]];
    let names = ["main", "t"];
    // Whether the last job of each branch added a point, where the other has not picked it yet.
    let mut tips: [Option<bool>; 2] = [None, None];
    let mut at = 0;
    for _ in 0..6 + random(10) {
        let known = here[at].clone();
        let text = known[random(known.len())].clone();
        match random(9) {
            8 => {
                // What is picked from a branch with other points may be about one that has
                // another number here.
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

/// 40 pairs of histories; `PLAYBOOK_TEST_HISTORIES` says how many, `PLAYBOOK_TEST_SEED` which.
#[test]
fn random_histories_lose_nothing_and_double_nothing() {
    let number = |name: &str, otherwise: u64| {
        let set = std::env::var(name).ok();
        set.map_or(otherwise, |number| number.parse().unwrap())
    };
    let count = number("PLAYBOOK_TEST_HISTORIES", 40);
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
        let which = usize::from(seed % 4 == 0);
        assert_eq!(
            repositories[which].run(&script),
            expected,
            "seed {seed}: {script}"
        );
    }
}
