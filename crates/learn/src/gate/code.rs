//! Which files a check looks at, by their endings.

use std::path::Path;

/// Programs that check one language, by the first word of their name, and its endings.
const LANGUAGES: &[(&[&str], &[&str])] = &[
    (&["cargo"], &["rs"]),
    (&["go", "golangci-lint"], &["go"]),
    (
        &["pytest", "unittest", "mypy", "ruff", "pyright", "ty"],
        &["py", "pyi"],
    ),
    (
        &[
            "jest",
            "vitest",
            "mocha",
            "node",
            "bun",
            "playwright",
            "tsc",
            "eslint",
        ],
        &["js", "jsx", "mjs", "ts", "tsx", "vue", "svelte"],
    ),
    (&["rspec"], &["rb"]),
    (&["phpunit"], &["php"]),
    (&["junit"], &["java", "kt", "scala"]),
    (&["dotnet"], &["cs"]),
    (
        &[],
        &["c", "cc", "cpp", "ex", "exs", "h", "hpp", "swift", "zig"],
    ),
];
/// Folders whose files belong to no project.
const SCRATCH: &[&str] = &["/tmp/", "/.claude/"];

/// Tells whether a file is one that checks look at: not prose, not a note of the agent's.
pub(super) fn is_code(file: &str) -> bool {
    let ending = ending(file);
    let is_scratch = SCRATCH.iter().any(|folder| file.contains(folder));
    !is_scratch && LANGUAGES.iter().any(|(_, of)| of.contains(&ending))
}

/// Tells whether a runner looks at a file; one of no known language may look at each.
pub(super) fn looks_at(runner: &str, file: &str) -> bool {
    let program = runner.split(' ').next().unwrap_or_default();
    let language = LANGUAGES.iter().find(|(of, _)| of.contains(&program));
    language.is_none_or(|(_, endings)| endings.contains(&ending(file)))
}

fn ending(file: &str) -> &str {
    let ending = Path::new(file).extension();
    ending
        .and_then(|ending| ending.to_str())
        .unwrap_or_default()
}
