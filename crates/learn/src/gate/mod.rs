//! The quality gate: compares an agent's claims at its stop with the events, by rules and only
//! where they are certain.
//!
//! If the user wants it, a model judges the rest: [`question`], [`Judgement`]. `docs/gate.md` lists
//! the findings and their weights.

mod claim;
mod finding;
mod judgement;
mod languages;
mod stops;
mod turn;
mod verdict;

#[cfg(test)]
mod tests;

pub use finding::{Contradiction, GateFault};
pub use judgement::{Judgement, question};
pub use stops::{Stops, TurnEnd};
pub use turn::Turn;
pub use verdict::{GateVerdict, QUALITY_THRESHOLD};
