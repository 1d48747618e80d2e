//! Filled by this issue.
