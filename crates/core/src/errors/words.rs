//! The tables in `data/words.txt`, by name.

use std::sync::OnceLock;

/// A list of words or phrases.
#[derive(Debug)]
pub struct List {
    name: &'static str,
    /// Read when it is first needed.
    words: OnceLock<Vec<&'static str>>,
}

const LISTS: &str = include_str!("../../data/words.txt");

/// Programs, some with a subcommand, that change nothing.
pub static LOOKS: List = List::named("looks");
/// Programs, some with a subcommand, that only make room for what a line is about.
pub(crate) static PREPARES: List = List::named("prepares");
/// Programs, some with a subcommand, that run a task of the project's own.
pub(crate) static TASK_RUNNERS: List = List::named("task runners");
/// Programs without subcommands; then those whose subcommands have two words.
pub(crate) static NO_SUBCOMMAND: List = List::named("no subcommand");
pub(crate) static TWO_SUBCOMMANDS: List = List::named("two subcommands");
/// Programs whose first operand is a subcommand or a script.
pub(crate) static TOOLCHAINS: List = List::named("toolchains");
/// Arguments with which a checker checks nothing.
pub(crate) static NO_RUN: List = List::named("no run");
/// Programs that change files or the shell, and check nothing.
pub(crate) static CHANGES: List = List::named("changes");
/// Identifiers that name a kind of error: of exceptions, of the system and of the API.
pub static ERROR_NAMES: List = List::named("error names");
/// Programs, some with a subcommand, that start the one that counts.
pub(crate) static STARTERS: List = List::named("starters");
/// Options whose value is a word of its own.
pub(crate) static VALUED: List = List::named("valued");
/// Words that begin or end what runs other commands.
pub(crate) static BRACKETS: List = List::named("brackets");
/// Options whose value is prose.
pub static PROSE: List = List::named("prose");
/// The client's own commands: what stands after them sets the client up and asks for nothing.
pub static CLIENT_COMMANDS: List = List::named("client commands");
/// How a text begins that the client wrote in the user's name.
pub static ECHOES: List = List::named("echoes");
/// How an answer begins that only says the user refused the call.
pub static REFUSALS: List = List::named("refusals");
/// How lines begin that the client wraps around a subagent's report.
pub static WRAPPING: List = List::named("wrapping");
/// Tools that only keep the agent's own notes; their calls say nothing.
pub static HOUSEKEEPING: List = List::named("housekeeping");
/// Programs, some with a subcommand, that print what others wrote.
pub static PRINTS_OTHERS: List = List::named("prints others");
/// How lines of a test run begin that say nothing of a failure.
pub static CHATTER: List = List::named("chatter");
/// Extensions of files, by which a word without a slash is known as one.
pub(crate) static EXTENSIONS: List = List::named("extensions");
/// Programs that many projects use; others are in the lists above.
pub(crate) static PROGRAMS: List = List::named("programs");
/// Words that are so common that they say nothing of a text's subject.
pub static STOP_WORDS: List = List::named("stop words");
/// What git does to the files at hand.
pub static REWRITES: List = List::named("rewrites");
/// Programs that check one language, by the first word of their name, and the endings of its files.
pub static LANGUAGES: List = List::named("languages");

impl List {
    /// The list that goes by a name in the file.
    pub const fn named(name: &'static str) -> Self {
        let words = OnceLock::new();
        Self { name, words }
    }

    pub fn words(&self) -> &[&'static str] {
        self.words.get_or_init(|| {
            let mut sections = LISTS
                .split("\n[")
                .filter_map(|section| section.split_once("]\n"));
            let (_, list) = sections
                .find(|(name, _)| *name == self.name)
                .unwrap_or_default();
            let words = list.split([',', '\n']).map(str::trim);
            let mut words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
            words.sort_unstable();
            words
        })
    }

    /// Returns `true` for a word in the list.
    pub fn has(&self, word: &str) -> bool {
        self.words().binary_search(&word).is_ok()
    }

    /// Returns `true` for a text that begins with one of them.
    pub fn begins(&self, text: &str) -> bool {
        self.words().iter().any(|word| text.starts_with(word))
    }
}
