//! The shape of what each reading command prints with `--json`; a test compares them with
//! what is really printed.

/// Command lines, and the shape of their object.
pub(super) const SHAPES: &[(&str, &str)] = &[];
