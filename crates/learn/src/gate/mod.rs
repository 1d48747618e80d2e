//! The quality gate: whether what an agent says at its stop holds against what happened.
//!
//! A [`Turn`] is what happened since the user's last prompt; [`Turn::verdict`] compares it with
//! the agent's last message, by rules and only where they are certain. What must be understood is
//! asked of a model, where the user wants that: [`question`], [`Judgement`]. `docs/gate.md` says
//! what is found and what each finding weighs.

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
pub use verdict::GateVerdict;
