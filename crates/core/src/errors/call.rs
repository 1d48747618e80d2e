//! A tool call, as the reading of errors sees it.

/// How much of a tool's input is kept, in bytes.
pub const MAX_INPUT: usize = 400;

/// A tool call, as far as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// What tells the call from others: the command, the file, the query.
    pub input: String,
    /// The file or folder that a search looks in, where it names one.
    pub looked_in: String,
}

impl Call {
    /// Tells whether it writes a file.
    pub fn edits(&self) -> bool {
        ["Edit", "MultiEdit", "Write", "NotebookEdit"].contains(&self.tool.as_str())
    }
}
