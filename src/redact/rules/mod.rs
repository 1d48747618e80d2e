//! The table of rules, by who hands the secrets out.

mod chat;
mod cloud;
mod commands;
mod look;
mod models;
mod named;
mod other;
mod payment;
mod registry;
mod vcs;

use super::rule::Rule;

/// All rules, in groups; what looks closer comes last.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    [
        cloud::RULES,
        vcs::RULES,
        registry::RULES,
        chat::RULES,
        payment::RULES,
        models::RULES,
        other::RULES,
        look::RULES,
        commands::RULES,
        named::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The examples of all rules.
#[cfg(test)]
pub(super) fn examples() -> impl Iterator<Item = &'static super::rule::Examples> {
    [
        cloud::EXAMPLES,
        vcs::EXAMPLES,
        registry::EXAMPLES,
        chat::EXAMPLES,
        payment::EXAMPLES,
        models::EXAMPLES,
        other::EXAMPLES,
        look::EXAMPLES,
        commands::EXAMPLES,
        named::EXAMPLES,
    ]
    .into_iter()
    .flatten()
}
