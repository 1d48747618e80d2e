//! The lists of words and phrases in `data/words.txt`, by name.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A list of words or phrases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List(pub(crate) &'static str);

/// Programs, some with what they are told, that change nothing.
pub(crate) const LOOKS: List = List("looks");
/// What makes room for what a line is about.
pub(crate) const PREPARES: List = List("prepares");
/// Programs, some with what they are told, that start the one that counts.
pub(crate) const STARTERS: List = List("starters");
/// Options whose value is a word of its own.
pub(crate) const VALUED: List = List("valued");
/// Words that begin or end what runs other commands.
pub(crate) const BRACKETS: List = List("brackets");
/// Programs that run the script they are given.
pub(crate) const INTERPRETERS: List = List("interpreters");
/// Programs that run a task of the project's own, which only its output names.
pub(crate) const TASK_RUNNERS: List = List("task runners");
/// Programs of which no word says what they are to do; then those of which one does.
pub(crate) const TOLD_NOTHING: List = List("told nothing");
pub(crate) const TOLD_ONE_WORD: List = List("told one word");
/// Options whose value is prose.
pub(crate) const PROSE: List = List("prose");
/// Programs that check, and what others are told that check.
pub(crate) const CHECKERS: List = List("checkers");
pub(crate) const CHECKS: List = List("checks");
/// What sets something up: what a program is told, or the program.
pub(crate) const SETS_UP: List = List("sets up");
/// Words of which a command that has one is never told: it forces, skips a check, escalates
/// or takes something away.
pub(crate) const NEVER_TOLD: List = List("never told");
/// Options whose value is the name of a test.
pub(crate) const NAMES_A_TEST: List = List("names a test");
/// What says that something is missing, not running or not allowed where the command runs.
pub(crate) const MISSING: List = List("missing");
/// What says that the command was told wrongly.
pub(crate) const USAGE: List = List("usage");
/// What a client or a service says of its own calls.
pub(crate) const CLIENT: List = List("client");
/// What only sums up, names another cause above it, or is the moment's or the code's.
pub(crate) const NO_MESSAGE: List = List("no message");
/// The client's own commands: what stands after them sets the client up and asks for nothing.
pub(crate) const CLIENT_COMMANDS: List = List("client commands");
/// How a text begins that the client wrote in the user's name.
pub(crate) const ECHOES: List = List("echoes");
/// How an answer begins that only says the user refused the call.
pub(crate) const REFUSALS: List = List("refusals");
/// How lines begin that the client wraps around a subagent's report.
pub(crate) const WRAPPING: List = List("wrapping");
/// Tools that only keep the agent's own notes; their calls say nothing.
pub(crate) const HOUSEKEEPING: List = List("housekeeping");
/// Extensions of files, by which a word without a slash is known as one.
pub(crate) const EXTENSIONS: List = List("extensions");
/// How a text begins that was written for an agent to carry out.
pub(crate) const DOCUMENTS: List = List("documents");
/// Words that begin no order, beside verbs in another form than the plain one.
pub(crate) const NO_ORDER: List = List("no order");
/// Plain verbs that look like another form.
pub(crate) const PLAIN: List = List("plain");
/// How words end that are no verb in its plain form.
pub(crate) const ENDINGS: List = List("endings");
/// Orders that need no object.
pub(crate) const ALONE: List = List("alone");
/// What people do to their work, while a program may do all the rest.
pub(crate) const WORKS: List = List("works");
/// What people say of how they want their work.
pub(crate) const WISHES: List = List("wishes");
/// What the name of a file has that holds a task.
pub(crate) const PLANS: List = List("plans");
/// Commands that show a task.
pub(crate) const ISSUE_VIEWS: List = List("issue views");

static LISTS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let text = include_str!("../../data/words.txt");
    let sections = text.split("\n[").skip(1);
    let lists = sections.filter_map(|section| section.split_once("]\n"));
    lists
        .map(|(name, words)| {
            let words = words.split([',', '\n']).map(str::trim);
            (name, words.filter(|word| !word.is_empty()).collect())
        })
        .collect()
});

impl List {
    pub(crate) fn words(self) -> &'static [&'static str] {
        LISTS.get(self.0).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn has(self, word: &str) -> bool {
        self.words().contains(&word)
    }

    /// Tells whether a text begins with one of them.
    pub(crate) fn begins(self, text: &str) -> bool {
        self.words().iter().any(|word| text.starts_with(word))
    }
}
