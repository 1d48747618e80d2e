//! The tables in `data/words.txt`, by name.

use std::sync::OnceLock;

#[derive(Debug)]
pub struct List {
    name: &'static str,
    /// Parsed at first use.
    words: OnceLock<Vec<&'static str>>,
}

const LISTS: &str = include_str!("../../data/words.txt");

/// Programs, some with a subcommand, that change nothing.
pub static LOOKS: List = List::named("looks");
/// Programs, some with a subcommand, that only prepare for the rest of a line.
pub(crate) static PREPARES: List = List::named("prepares");
/// Programs, some with a subcommand, that run a task of the project.
pub(crate) static TASK_RUNNERS: List = List::named("task runners");
/// Programs without subcommands; then those whose subcommands have two words.
pub(crate) static NO_SUBCOMMAND: List = List::named("no subcommand");
pub(crate) static TWO_SUBCOMMANDS: List = List::named("two subcommands");
/// Programs whose first operand is a subcommand or a script.
pub(crate) static TOOLCHAINS: List = List::named("toolchains");
/// Arguments that keep a checker from checking.
pub(crate) static NO_RUN: List = List::named("no run");
/// Programs that change files or the shell, and check nothing.
pub(crate) static CHANGES: List = List::named("changes");
/// Identifiers of kinds of error: exceptions, system errors and API errors.
pub static ERROR_NAMES: List = List::named("error names");
/// Programs, some with a subcommand, that start the relevant one.
pub(crate) static STARTERS: List = List::named("starters");
/// Options whose value is a separate word.
pub(crate) static VALUED: List = List::named("valued");
/// Words that open or close a group of commands.
pub(crate) static BRACKETS: List = List::named("brackets");
/// Options whose value is prose.
pub static PROSE: List = List::named("prose");
/// The client's own commands; the words after them configure the client and ask for nothing.
pub static CLIENT_COMMANDS: List = List::named("client commands");
/// Openings of texts that the client wrote in the user's name.
pub static ECHOES: List = List::named("echoes");
/// Openings of results that only report the user's refusal.
pub static REFUSALS: List = List::named("refusals");
/// Openings of lines that the client wraps around a subagent's report.
pub static WRAPPING: List = List::named("wrapping");
/// Tools that only keep the agent's own notes; their calls are ignored.
pub static HOUSEKEEPING: List = List::named("housekeeping");
/// Programs, some with a subcommand, that print what others wrote.
pub static PRINTS_OTHERS: List = List::named("prints others");
/// Openings of test output lines that report no failure.
pub static CHATTER: List = List::named("chatter");
/// Programs that many projects use and that are not in the lists above.
pub(crate) static PROGRAMS: List = List::named("programs");
/// Words that are too common to identify a text's subject.
pub static STOP_WORDS: List = List::named("stop words");
/// Git subcommands that change working files.
pub static REWRITES: List = List::named("rewrites");
/// Programs that check one language, by the first word of their name, with its file extensions.
pub static LANGUAGES: List = List::named("languages");

impl List {
    /// Refers to the list with this section name in the file.
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

    pub fn has(&self, word: &str) -> bool {
        self.words().binary_search(&word).is_ok()
    }

    /// Returns `true` for a text that begins with one of the words.
    pub fn begins(&self, text: &str) -> bool {
        self.words().iter().any(|word| text.starts_with(word))
    }
}
