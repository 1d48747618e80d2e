//! Renders a command's answer: one object, which `--json` prints as it is and a template of
//! `screens/` lays out.
//!
//! Texts may come from anywhere, so each is made plain where a template inserts it. `<bad>…</bad>`
//! and similar marks in a template are colours.

use std::borrow::Cow;

use anstyle::Style;
use jiff::Timestamp;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value, syntax::SyntaxConfig};
use serde::Serialize;

use super::change_text::{self, TIME};
use super::output::{self, BAD, BOLD, DIM, GOOD, NAME, counted, grouped, plain};
use super::{edit_commands, export};
use crate::playbook::clean::MAX_CHARS;
use crate::playbook::{STALE_DAYS, Section};
use crate::queue::outcome::in_words;
use crate::reflect::learned::SHOWN_FROM;

const SHARED: &str = include_str!("screens/shared.txt");
const COLOURS: [(&str, Style); 5] = [
    ("b", BOLD),
    ("dim", DIM),
    ("good", GOOD),
    ("bad", BAD),
    ("name", NAME),
];

pub(super) fn give(as_json: bool, screen: &str, answer: impl Serialize) -> anyhow::Result<()> {
    if as_json {
        return output::json(&answer);
    }
    show(screen, answer)
}

pub(super) fn show(screen: &str, answer: impl Serialize) -> anyhow::Result<()> {
    for line in laid_out(screen, answer)?.lines() {
        output::line(format_args!("{line}"))?;
    }
    Ok(())
}

pub(super) fn laid_out(screen: &str, answer: impl Serialize) -> Result<String, Error> {
    let mut env = environment();
    let syntax = SyntaxConfig::builder().line_statement_prefix("%").build()?;
    env.set_syntax(syntax);
    env.set_undefined_behavior(UndefinedBehavior::Chainable);
    env.set_formatter(|out, _, value| {
        match value {
            value if value.is_none() || value.is_undefined() => Ok(()),
            value if value.is_safe() => write!(out, "{value}"),
            value => write!(out, "{}", plain(&value.to_string())),
        }
        .map_err(Error::from)
    });
    env.add_template_owned("shared", coloured(SHARED))?;
    env.add_template_owned("edit", coloured(edit_commands::SCREEN))?;
    env.render_str(&coloured(screen), Value::from(Serde(answer)))
}

pub(super) fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    // A macro's output is not escaped again.
    env.set_auto_escape_callback(|_| AutoEscape::Html);
    env.add_filter("left", |value: Value, width: usize| {
        Value::from_safe_string(format!("{:<width$}", plain(&value.to_string())))
    });
    env.add_filter("right", |value: Value, width: usize| {
        Value::from_safe_string(format!("{:>width$}", plain(&value.to_string())))
    });
    env.add_filter("fit", |value: Value, width: usize| {
        output::fit(&plain(&value.to_string()), width)
    });
    env.add_filter("line", |text: String| {
        Value::from_safe_string(output::one_line(&text))
    });
    env.add_filter("counted", |number: usize, thing: String| {
        counted(number, &thing)
    });
    env.add_filter("grouped", |n: u128| {
        grouped(u64::try_from(n).unwrap_or(u64::MAX))
    });
    env.add_filter("share", |number: f64| format!("{number:.2}"));
    env.add_filter("deed", |change: Serde<serde_json::Value>| {
        change_text::remembered(change.0)
    });
    env.add_filter("in_words", |reason: String| in_words(&reason).to_owned());
    env.add_filter("short", |session: String| {
        change_text::short(&session).to_owned()
    });
    for (name, format) in [("time", TIME), ("day", "%Y-%m-%d")] {
        env.add_filter(name, move |at: Serde<Timestamp>| {
            change_text::local(at.0, format)
        });
    }
    env.add_filter(
        "seen_from",
        |at: Serde<Timestamp>, now: Serde<Timestamp>| change_text::seen_from(at.0, now.0),
    );
    env.add_filter("cells", |text: String| output::cells(&plain(&text)));
    env.add_filter("wrapped", |text: String, width: usize| {
        let lines = textwrap::wrap(&text, width).into_iter();
        lines.map(Cow::into_owned).collect::<Vec<String>>()
    });
    env.add_filter("scaled", scaled);
    env.add_filter("markdown", |text: String| {
        Value::from_safe_string(export::escaped(&text))
    });
    env.add_filter("signed", |number: f64| format!("{number:+.2}"));
    env.add_filter("join", |texts: Vec<String>, between: String| {
        texts.join(&between)
    });
    env.add_global("SECTIONS", Section::ALL.map(Section::title).to_vec());
    env.add_global("STALE_DAYS", STALE_DAYS);
    env.add_global("SHOWN_FROM", SHOWN_FROM);
    env.add_global("MAX_CHARS", MAX_CHARS);
    env.add_filter("actor", |job: Serde<serde_json::Value>| {
        let [event, session, backend] =
            ["event", "session", "backend"].map(|key| job[key].as_str().unwrap_or_default());
        change_text::actor(event, session, backend)
    });
    env
}

fn coloured(screen: &str) -> String {
    COLOURS
        .iter()
        .fold(screen.to_owned(), |text, (tag, style)| {
            text.replace(&format!("<{tag}>"), &style.render().to_string())
                .replace(&format!("</{tag}>"), &style.render_reset().to_string())
        })
}

/// Returns how many of `room` cells show `number` out of `most`; 0 only if `number` is 0.
fn scaled(number: u128, most: u128, room: u128) -> u128 {
    if number == 0 || most == 0 || room == 0 {
        return 0;
    }
    (number * room / most).clamp(1, room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_from_outside_is_plain_and_has_no_say_in_colours() {
        let answer = json!({"text": "a\u{1b}[31m\n\u{202e}b <bad>&", "nothing": null});
        let text = laid_out(
            "<b>{{ text }}</b>|{{ text|left(15) }}|{{ nothing }}{{ lost.too }}|",
            answer,
        );
        let (bold, end) = (BOLD.render(), BOLD.render_reset());
        let expected = format!("{bold}a[31m b <bad>&{end}|a[31m b <bad>& ||");
        assert_eq!(text.unwrap(), expected);
    }
}
