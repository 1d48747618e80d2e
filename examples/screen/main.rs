//! Teaches the screen what attacks read like, and says how well it does.
//!
//! `cargo run --release --example screen` learns from the texts in `tests/poison/taught`,
//! writes `src/screen/likeness.bin`, and prints the rates on texts left out in turn and on
//! those in `tests/poison/unseen`, which are never learned from, and in the folders named.
//! Attacks in invisible characters are none to learn from: what is seen of them is honest.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use playbook::screen::{FEATURES, Features, Model, readings};

#[path = "../../tests/poison/texts.rs"]
mod texts;

/// How often all texts are learned from.
const ROUNDS: usize = 30;
/// How far a first step goes.
const RATE: f32 = 0.2;
/// How strongly weights are drawn to zero.
const DECAY: f32 = 4e-4;
/// Into how many parts the texts are cut, of which each is left out once.
const FOLDS: usize = 5;

/// A text's readings, and whether it is an attack.
type Example = (Vec<Features>, bool);

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let taught = examples(&root.join("tests/poison/taught"))?;
    let mut scores = Vec::new();
    for fold in 0..FOLDS {
        let part = |wanted: bool| {
            let chosen = move |(at, _): &(usize, &Example)| (at % FOLDS == fold) == wanted;
            taught.iter().enumerate().filter(chosen).map(|(_, e)| e)
        };
        let model = learn(&part(false).collect::<Vec<_>>());
        scores.extend(part(true).map(|(readings, is)| (worst(&model, readings).0, *is)));
    }
    report("left out in turn", scores);
    let model = learn(&taught.iter().collect::<Vec<_>>());
    std::fs::write(root.join("src/screen/likeness.bin"), model.to_bytes())?;
    let model = Model::from_bytes(&model.to_bytes()).ok_or("the model cannot be read back")?;
    let unseen = root.join("tests/poison/unseen");
    for folder in [unseen]
        .into_iter()
        .chain(env::args_os().skip(1).map(PathBuf::from))
    {
        let examples = examples(&folder)?;
        let scores = examples
            .iter()
            .map(|(readings, is)| (worst(&model, readings).0, *is));
        report(&folder.display().to_string(), scores.collect());
    }
    Ok(())
}

fn examples(folder: &Path) -> Result<Vec<Example>, Box<dyn Error>> {
    let mut examples = Vec::new();
    for (name, is_attack) in [("attacks.txt", true), ("honest.txt", false)] {
        let file: PathBuf = folder.join(name);
        for text in texts::texts(&std::fs::read_to_string(file)?) {
            examples.push((readings(&text), is_attack));
        }
    }
    Ok(examples)
}

/// The reading that looks most like an attack, and its score.
fn worst<'r>(model: &Model, readings: &'r [Features]) -> (f32, Option<&'r Features>) {
    let scores = readings
        .iter()
        .map(|reading| (model.score(reading), reading));
    let worst = scores.max_by(|a, b| a.0.total_cmp(&b.0));
    worst.map_or((0.0, None), |(score, reading)| (score, Some(reading)))
}

/// Learns by logistic regression from the worst reading of each text, as it will be judged by:
/// of a long attack mostly the sentence that is one. Each weight goes by smaller steps the more it has gone.
fn learn(examples: &[&Example]) -> Model {
    let mut model = Model {
        bias: 0.0,
        weights: vec![0.0; FEATURES],
    };
    let mut gone = vec![1e-6_f32; FEATURES];
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..ROUNDS {
        for last in (1..order.len()).rev() {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = random % (last as u64 + 1);
            order.swap(last, usize::try_from(other).unwrap_or(0));
        }
        for (readings, is_attack) in order.iter().map(|&at| examples[at]) {
            let (score, Some(features)) = worst(&model, readings) else {
                continue;
            };
            let likely = 1.0 / (1.0 + (-score).exp());
            let wrong = likely - f32::from(u8::from(*is_attack));
            model.bias -= 0.01 * wrong;
            for number in &features.numbers {
                let at = *number as usize;
                let slope = wrong * features.share_of(*number) + DECAY * model.weights[at];
                gone[at] += slope * slope;
                model.weights[at] -= RATE * slope / gone[at].sqrt();
            }
        }
    }
    model
}

/// Prints the share of attacks caught at several shares of false alarms.
fn report(name: &str, mut scores: Vec<(f32, bool)>) {
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    let attacks = scores.iter().filter(|(_, is)| *is).count();
    let honest = scores.len() - attacks;
    println!("{name}: {attacks} attacks, {honest} honest texts");
    for allowed in [5, 10, 15, 20, 30, 50] {
        let (mut caught, mut alarms, mut at) = (0, 0, 0.0);
        for (score, is) in &scores {
            alarms += usize::from(!is);
            caught += usize::from(*is);
            at = *score;
            if alarms * 1_000 > allowed * honest {
                break;
            }
        }
        let caught = caught * 1_000 / attacks.max(1);
        println!("  {allowed} in 1,000 held back: {caught} in 1,000 caught, above {at:.2}");
    }
}
