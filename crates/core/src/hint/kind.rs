//! The kinds of memories.

use crate::worded;

worded! {
    /// What kind of memory a hint comes from.
    pub enum MemoryKind {
        /// What happened and why.
        Reflection = "reflection",
        /// What to do in a like case.
        Strategy = "strategy",
        /// A mistake and its correction.
        Lesson = "lesson",
        Error = "error",
    }
}
