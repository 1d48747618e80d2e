//! Whether what is learned reaches the others that it is shared with.

use super::check::Check;
use crate::cli::change_text;
use crate::cli::server;
use crate::cli::session::Session;
use crate::sharing::{self, Standing};

const TOPIC: &str = "sharing";

/// Nothing where nothing is shared.
pub(super) fn examine(session: &Session) -> Option<Check> {
    if !sharing::is_wanted(&session.env, &session.config) {
        return None;
    }
    if !server::is_there(&session.env) {
        let text = "memory.url is set, and `playbook-server` is not installed";
        return Some(Check::bad(TOPIC, text, "`./install.sh --server`"));
    }
    let last = Standing::of(&session.paths);
    let at = last.succeeded.map(change_text::time);
    Some(match (last.problem, at) {
        (Some(problem), _) => Check::bad(TOPIC, problem, "then `playbook sync`; nothing is lost"),
        (None, Some(at)) => Check::good(TOPIC, format!("exchanged with the others {at}")),
        (None, None) => Check::note(TOPIC, "not yet exchanged", "`playbook sync`"),
    })
}
