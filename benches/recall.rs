//! Measures the memory's answers with 100,000 rows: `recall` by words, with filters and without
//! words, and `seen`. All rows are in one project, the worst case.
//!
//! Prints medians and 99th percentiles as a table. `--rows N` sets the number of rows.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]

use std::error::Error;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use playbook::digest::name_of;
use playbook::errors::Signature;
use playbook::memory::{Memory, RecallQuery};
use playbook::reflect::learned::{Learned, LearnedFrom, NewError, NewLesson, NewReflection};
use playbook::reflect::remembered::MemoryKind;
use playbook::transcript::error_keys;
use rand::rngs::SmallRng;
use rand::{Rng as _, RngExt as _, SeedableRng as _};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// The default number of rows.
const ROWS: u64 = 100_000;
/// The number of rows that one job adds while the memory is filled.
const AT_ONCE: u64 = 1_000;
const QUESTIONS: usize = 200;
/// The number of words; the n-th is n times rarer than the first.
const WORDS: usize = 20_000;
const PROJECT: &str = "/home/me/project";

fn main() -> Fallible<()> {
    let rows = rows(std::env::args().skip(1))?;
    let folder = tempfile::tempdir()?;
    let mut memory = Memory::open(&folder.path().join("memory.db"))?;
    let now: Timestamp = "2026-11-21T12:00:00Z".parse()?;
    let mut speech = Speech::new();
    fill(&mut memory, &mut speech, rows, now)?;

    println!("\n| question | p50 | p99 | found |\n|---|---:|---:|---:|");
    let in_project = || RecallQuery {
        project: Some(PROJECT.to_owned()),
        ..RecallQuery::best(5)
    };
    let mut recall = |name: &str, query: &dyn Fn(&mut Speech) -> RecallQuery| {
        let queries: Vec<_> = (0..QUESTIONS).map(|_| query(&mut speech)).collect();
        measure(name, &queries, |query| Ok(memory.recall(query, now)?.len()))
    };
    recall("recall, 3 words", &|speech| RecallQuery {
        text: Some(speech.says(3)),
        ..in_project()
    })?;
    recall("recall, 12 words", &|speech| RecallQuery {
        text: Some(speech.says(12)),
        ..in_project()
    })?;
    recall("recall, 3 words, lessons only", &|speech| RecallQuery {
        text: Some(speech.says(3)),
        kinds: vec![MemoryKind::Lesson],
        ..in_project()
    })?;
    recall("recall, 3 words, a tag and importance 0.7", &|speech| {
        RecallQuery {
            text: Some(speech.says(3)),
            tags: vec!["tag-7".to_owned()],
            min_importance: 0.7,
            ..in_project()
        }
    })?;
    recall("recall, no words", &|_| in_project())?;
    let errors: Vec<_> = (0..QUESTIONS).map(|n| error_text(n * 7)).collect();
    measure("seen", &errors, |text| {
        Ok(memory.seen(&error_keys(text), Some(PROJECT))?.len())
    })?;
    println!("\n{rows} rows, {QUESTIONS} questions of each sort");
    Ok(())
}

/// Reads `--rows N`; skips the arguments that cargo adds.
fn rows(mut args: impl Iterator<Item = String>) -> Fallible<u64> {
    let mut rows = ROWS;
    while let Some(arg) = args.next() {
        if arg == "--rows" {
            rows = args.next().ok_or("--rows needs a number")?.parse()?;
        }
    }
    Ok(rows)
}

fn measure<Q>(
    name: &str,
    questions: &[Q],
    mut ask: impl FnMut(&Q) -> Fallible<usize>,
) -> Fallible<()> {
    let mut times = Vec::new();
    let mut found = 0;
    for question in questions {
        let start = Instant::now();
        found += ask(question)?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |share: usize| milliseconds(times[(times.len() - 1) * share / 100]);
    println!("| {name} | {} | {} | {found} |", at(50), at(99));
    Ok(())
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

/// Generates words as in language: few are frequent, most are rare.
struct Speech {
    random: SmallRng,
}

impl Speech {
    fn new() -> Self {
        Self {
            random: SmallRng::seed_from_u64(7),
        }
    }

    fn says(&mut self, words: usize) -> String {
        let words: Vec<String> = (0..words).map(|_| self.word()).collect();
        words.join(" ")
    }

    /// Returns the n-th word with a probability of about 1/n.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place in a list"
    )]
    fn word(&mut self) -> String {
        let at = (WORDS as f64).powf(self.random.random::<f64>()) as u64;
        // Letters that the stemmer does not shorten.
        let letters = |n: u64| char::from(b'a' + u8::try_from(n % 26).unwrap_or(0));
        format!(
            "w{}{}{}ok",
            letters(at),
            letters(at / 26),
            letters(at / 676)
        )
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.next_u64() % end
    }
}

fn error_text(n: usize) -> String {
    format!("error[E{n:04}]: something of its own is wrong")
}

fn fill(memory: &mut Memory, speech: &mut Speech, rows: u64, now: Timestamp) -> Fallible<()> {
    let mut done = 0;
    while done < rows {
        let learned: Vec<Learned> = (done..(done + AT_ONCE).min(rows))
            .map(|n| row(n, speech))
            .collect();
        done += learned.len() as u64;
        let source = LearnedFrom {
            root: String::new(),
            project: PROJECT.to_owned(),
            session: format!("s{done}"),
            job: format!("j{done}"),
            time: now.checked_sub(SignedDuration::from_hours(i64::try_from(
                speech.below(3_000),
            )?))?,
        };
        memory.learn(&source, &learned)?;
    }
    Ok(())
}

/// Returns a row: half are reflections, a quarter lessons, a quarter errors.
fn row(n: u64, speech: &mut Speech) -> Learned {
    let words = 12 + usize::try_from(speech.below(20)).unwrap_or(0);
    let text = speech.says(words);
    #[expect(clippy::cast_precision_loss, reason = "a number of three digits")]
    let importance = speech.below(1_000) as f64 / 1_000.0;
    let tags = vec![format!("tag-{}", speech.below(50))];
    match n % 4 {
        0 | 1 => Learned::Reflection(NewReflection {
            tenant: "default".to_owned(),
            text: format!("{n} {text}"),
            strategy: None,
            outcome: Some("failure".to_owned()),
            error_category: None,
            signature: None,
            importance,
            confidence: 0.7,
            tags,
            event_ids: vec!["e1".to_owned()],
            event_count: 1,
            task: speech.says(6),
            related: Vec::new(),
            correction: None,
        }),
        2 => Learned::Lesson(NewLesson {
            task_type: "coding".to_owned(),
            mistake: format!("{n} {text}"),
            correction: speech.says(8),
            context_hash: name_of("a context".as_bytes()),
            signature: None,
            importance,
            tags,
            ..NewLesson::default()
        }),
        _ => {
            let example = error_text(usize::try_from(n / 4).unwrap_or(0));
            Learned::Error(NewError {
                signature: Signature::of("make all", &example),
                keys: std::collections::BTreeSet::default(),
                error_type: "make all".to_owned(),
                example: format!("{example}\n{text}"),
                occurrences: 1 + speech.below(9),
                category: "unknown".to_owned(),
                outcome: None,
                importance,
                tags,
            })
        }
    }
}
