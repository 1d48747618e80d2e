//! The words that a text must hold for a pattern to match it.
//!
//! Hundreds of patterns take a fifth of a second to compile, and most texts hold nothing that
//! any of them is after. So it is worked out here what each surely needs: `curl\s+\S+\|\s*(?:ba|z)?sh`
//! needs "curl", "|" and "sh". Only a pattern whose words are there is ever compiled.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

pub(crate) type PatternWord = Vec<u8>;

/// Of a list of words, one at least stands in whatever matches.
pub(crate) type AnyOf = Vec<PatternWord>;

/// More words are not listed for one place of a pattern.
const MAX_WORDS: usize = 24;
/// A class of more characters than so, such as all blanks, has no words.
const MAX_CLASS: usize = 4;
/// A list of words that a text of a few hundred bytes holds anyhow says nothing.
const MAX_LIKELY: f64 = 0.02;
/// How likely a byte is to be a certain letter or digit.
const LETTER: f64 = 1.0 / 12.0;
/// How likely a byte behind a word is to be a blank.
const BLANK: f64 = 1.0 / 2.0;
/// How likely a byte is to be a certain sign.
const SIGN: f64 = 1.0 / 60.0;

/// What is known of a part of a pattern.
struct PatternFacts {
    /// All that it can match, if that is little.
    exact: Option<AnyOf>,
    needs: Vec<AnyOf>,
}

/// For each branch of `pattern` the lists of words of which a text must hold one each, for this
/// branch to match it.
pub(crate) fn needs(pattern: &str) -> Vec<Vec<AnyOf>> {
    let mut parser = ParserBuilder::new().unicode(false).utf8(false).build();
    let hir = parser
        .parse(pattern)
        .unwrap_or_else(|e| panic!("{pattern}: {e}"));
    let needs = branches(&hir).iter().map(|branch| {
        let mut needs = facts(branch).into_needs();
        needs.retain(|any| likely(any) < MAX_LIKELY);
        needs
    });
    needs.collect()
}

/// The branches of a pattern. The parser takes a `\b` that all begin with out of them.
fn branches(hir: &Hir) -> &[Hir] {
    match hir.kind() {
        HirKind::Alternation(branches) => branches,
        HirKind::Concat(parts) => {
            let mut parts = parts
                .iter()
                .filter(|part| !matches!(part.kind(), HirKind::Look(_)));
            match (parts.next(), parts.next()) {
                (Some(part), None) => branches(part),
                _ => std::slice::from_ref(hir),
            }
        }
        _ => std::slice::from_ref(hir),
    }
}

fn facts(hir: &Hir) -> PatternFacts {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => PatternFacts::exactly(vec![PatternWord::new()]),
        HirKind::Literal(literal) => PatternFacts::exactly(vec![literal.0.to_vec()]),
        HirKind::Class(class) => PatternFacts {
            exact: members(class),
            needs: Vec::new(),
        },
        HirKind::Capture(capture) => facts(&capture.sub),
        HirKind::Repetition(repeated) => {
            let one = facts(&repeated.sub);
            match (repeated.min, repeated.max) {
                (1, Some(1)) => one,
                (0, max) => PatternFacts {
                    exact: one.exact.filter(|_| max == Some(1)).map(|mut exact| {
                        exact.push(PatternWord::new());
                        exact
                    }),
                    needs: Vec::new(),
                },
                _ => PatternFacts {
                    exact: None,
                    needs: one.into_needs(),
                },
            }
        }
        HirKind::Concat(parts) => in_a_row(parts),
        HirKind::Alternation(branches) => one_of(branches),
    }
}

/// What stands one behind the other: words that touch are one.
fn in_a_row(parts: &[Hir]) -> PatternFacts {
    let mut needs = Vec::new();
    let mut here = vec![PatternWord::new()];
    let mut is_exact = true;
    for part in parts {
        let part = facts(part);
        match part.exact {
            Some(exact) if exact.len() * here.len() <= MAX_WORDS => {
                here = joined(&here, &exact);
            }
            exact => {
                is_exact = false;
                needs.extend(part.needs);
                let next = exact.unwrap_or_else(|| vec![PatternWord::new()]);
                needs.extend(useful(std::mem::replace(&mut here, next)));
            }
        }
    }
    if is_exact {
        return PatternFacts::exactly(here);
    }
    needs.extend(useful(here));
    PatternFacts { exact: None, needs }
}

/// One of several: each gives the list that is least likely to be met by chance.
fn one_of(branches: &[Hir]) -> PatternFacts {
    let branches: Vec<PatternFacts> = branches.iter().map(facts).collect();
    let exact = branches
        .iter()
        .map(|branch| branch.exact.clone())
        .collect::<Option<Vec<_>>>()
        .map(|all| all.concat())
        .filter(|all| all.len() <= MAX_WORDS);
    if exact.is_some() {
        return PatternFacts {
            exact,
            needs: Vec::new(),
        };
    }
    let rarest = branches.into_iter().map(|branch| {
        let needs = branch.into_needs().into_iter();
        needs.min_by(|a, b| likely(a).total_cmp(&likely(b)))
    });
    let any = rarest.collect::<Option<Vec<_>>>();
    PatternFacts {
        exact: None,
        needs: any
            .and_then(|all| useful(all.concat()))
            .into_iter()
            .collect(),
    }
}

impl PatternFacts {
    fn exactly(words: AnyOf) -> Self {
        Self {
            exact: Some(words),
            needs: Vec::new(),
        }
    }

    fn into_needs(self) -> Vec<AnyOf> {
        let exact = self.exact.and_then(useful);
        self.needs.into_iter().chain(exact).collect()
    }
}

/// The members of a class, if they are few.
fn members(class: &Class) -> Option<AnyOf> {
    let Class::Bytes(class) = class else {
        return None;
    };
    let members = class.iter().flat_map(|range| range.start()..=range.end());
    let members: AnyOf = members.take(MAX_CLASS + 1).map(|byte| vec![byte]).collect();
    (1..=MAX_CLASS).contains(&members.len()).then_some(members)
}

fn joined(before: &AnyOf, behind: &AnyOf) -> AnyOf {
    let all = before.iter().flat_map(|start| {
        let ends = behind.iter();
        ends.map(move |end| [start.as_slice(), end].concat())
    });
    all.collect()
}

/// A list of words without those that hold another of it; `None` when nothing is needed.
fn useful(mut words: AnyOf) -> Option<AnyOf> {
    if words.iter().any(Vec::is_empty) {
        return None;
    }
    words.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    let mut shortest: AnyOf = Vec::new();
    for word in words {
        let holds =
            |part: &PatternWord| word.windows(part.len()).any(|here| here == part.as_slice());
        if !shortest.iter().any(holds) {
            shortest.push(word);
        }
    }
    Some(shortest)
}

/// How likely a place in a text is to begin one of some words, roughly.
fn likely(words: &AnyOf) -> f64 {
    let each = words.iter().map(|word| {
        let bytes = word.iter().map(|byte| match byte {
            b' ' => BLANK,
            _ if byte.is_ascii_punctuation() => SIGN,
            _ => LETTER,
        });
        bytes.product::<f64>()
    });
    each.sum()
}
