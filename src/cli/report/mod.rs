//! `playbook report`: everything known about a project as one self-contained page: no network, no
//! server, no other files.

mod read;

pub(super) use read::Sum;

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use minijinja::value::Serde;
use minijinja::{Error, HtmlEscape, UndefinedBehavior};
use sha2::{Digest as _, Sha256};

use self::read::ENDS;
use super::prelude::*;
use crate::platform;
use crate::playbook::Section;

const FILE: &str = "report.html";
const STDOUT: &str = "-";

pub(super) fn run(session: &NamedSession, args: &args::ReportArgs) -> anyhow::Result<()> {
    let figures = read::figures(session)?;
    if args.on.json {
        return output::json(&figures);
    }
    let page = page(&figures).context("could not make the page")?;
    if args.out.as_deref() == Some(Path::new(STDOUT)) {
        io::stdout().lock().write_all(page.as_bytes())?;
        return Ok(());
    }
    let file = if let Some(file) = &args.out {
        std::path::absolute(file)?
    } else {
        let folder = session.paths.project(&session.project);
        fsx::ensure_dir(&folder)?;
        folder.join(FILE)
    };
    fsx::quick(&file, page.as_bytes())?;
    say!("{}", file.display());
    if args.open {
        open(&file)?;
    }
    Ok(())
}

fn open(file: &Path) -> anyhow::Result<()> {
    let mut opener = platform::opener(file);
    let why = match opener.status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("ended with {status}"),
        Err(error) => error.to_string(),
    };
    let program = opener.get_program().display();
    Err(Hinted::error(
        format!("could not open {}: {program}: {why}", file.display()),
        "open that file in a browser yourself",
    ))
}

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Renders the page. Equal figures give equal pages, byte for byte.
fn page(figures: &Value) -> Result<String, Error> {
    let mut env = answer::environment();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    // Texts come from strangers: control and bidi characters are removed, and each is on one line.
    env.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            minijinja::escape_formatter(out, state, &plain(text).into())
        }
        _ => minijinja::escape_formatter(out, state, value),
    });
    env.add_filter("code", |text: String| {
        minijinja::Value::from_safe_string(with_code(&text))
    });
    env.add_filter("tenth", |number: f64| format!("{number:.1}"));
    env.add_filter("ms", |at: Serde<Timestamp>| at.as_millisecond());
    env.add_filter("total", |counts: Serde<BTreeMap<String, u64>>| {
        counts.values().sum::<u64>()
    });
    env.add_filter("tokens", |sum: Serde<Sum>| {
        sum.tokens_in.saturating_add(sum.tokens_out)
    });
    env.add_filter("slug", |title: String| {
        Section::from_title(&title).map(Section::slug)
    });
    env.render_str(PAGE, minijinja::Value::from(Serde(parts(figures))))
}

fn parts(figures: &Value) -> Value {
    let path = figures["project"].as_str().unwrap_or_default();
    let points = figures["points"].as_array().into_iter().flatten();
    let used: Vec<_> = points.map(|point| &point["section"]).collect();
    let sections = Section::ALL
        .into_iter()
        .filter(|section| used.iter().any(|used| **used == section.title()));
    json!({
        "figures": figures,
        "policy": policy(),
        "style": STYLE,
        "script": SCRIPT,
        "name": path.trim_end_matches('/').rsplit('/').next(),
        "sections": sections.map(|s| (s.slug(), s.title())).collect::<Vec<_>>(),
        "ends": ENDS,
    })
}

/// Escapes a text; text between two runs of equally many backticks becomes code.
fn with_code(text: &str) -> String {
    let text = plain(text);
    let escaped = |text: &str| HtmlEscape(text).to_string();
    let mut html = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('`') {
        let (before, ticked) = rest.split_at(at);
        let inner = ticked.trim_start_matches('`');
        let (ticks, _) = ticked.split_at(ticked.len() - inner.len());
        html += &escaped(before);
        rest = if let Some((code, after)) = closed(inner, ticks.len()) {
            html.extend(["<code>", &escaped(code), "</code>"]);
            after
        } else {
            html += ticks;
            inner
        };
    }
    html + &escaped(rest)
}

/// Returns the text before the first run of exactly `ticks` backticks, and the text after it.
fn closed(text: &str, ticks: usize) -> Option<(&str, &str)> {
    let run = "`".repeat(ticks);
    let runs = text.match_indices(&run);
    let mut halves = runs.map(|(at, _)| (&text[..at], &text[at + ticks..]));
    halves.find(|(before, after)| !before.ends_with('`') && !after.starts_with('`'))
}

/// Loads nothing and runs only our script, even if a text got through as markup.
fn policy() -> String {
    let hash = |text: &str| format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src '{}'; script-src '{}'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("run it", "run it")]
    #[case::code(
        "run `just test` and `x`",
        "run <code>just test</code> and <code>x</code>"
    )]
    #[case::escaped("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;")]
    #[case::open("a ` b", "a ` b")]
    #[case::empty("a `` b `c`", "a `` b <code>c</code>")]
    #[case::fenced("```a `b` <c>``` d", "<code>a `b` &lt;c&gt;</code> d")]
    #[case::fence_cut_short("```go f() and `c`", "```go f() and <code>c</code>")]
    fn what_stands_between_backticks_is_code(#[case] text: &str, #[case] html: &str) {
        assert_eq!(with_code(text), html);
    }
}
