//! `playbook fixtures record`: recorded replies, made from a real backend.

use std::path::Path;

use serde_json::json;

use super::args::RecordArgs;
use super::output::{self, Hinted, NAME, say};
use super::session::{NamedSession, runtime};
use crate::account;
use crate::backend::{BackendFailure, PromptHash, Recorder};
use crate::config::{BackendChoice, Config};
use crate::playbook::tags::apply_bullet_tags;
use crate::queue::ask::{self, Question};
use crate::queue::backends::BackendParts;
use crate::queue::evidence::SessionEvidence;
use crate::queue::known;
use crate::queue::question_templates;
use crate::reflect::known::KnownLessons;
use crate::reflect::reply::{Curation, Reflection};

/// Asks both questions about a transcript and keeps the replies; changes nothing else.
pub(super) fn record(session: &NamedSession, args: &RecordArgs) -> anyhow::Result<()> {
    let config = with_backend(&session.config, args.backend.as_deref());
    let path = std::path::absolute(&args.transcript)?;
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let file = match (&args.file, &config.fixtures.path) {
        (Some(file), _) => std::path::absolute(file)?,
        (None, Some(file)) => session.paths.beside_config(file),
        (None, None) => {
            return Err(Hinted::error(
                "no file for the replies",
                "name one with --file, or set `fixtures.path`",
            ));
        }
    };
    let account = account::of_worker(&session.env, &config, &session.paths)?;
    let context = session.context_for(&account)?;
    let playbook = ask::known_points(&session.paths, &session.project, &config)?;
    let digest = super::evidence::read(session, &path)?;
    let evidence = SessionEvidence::of(digest, config.evidence.tokens);
    let parts = BackendParts {
        paths: &session.paths,
        account: &account,
        config: &config,
        session: &evidence,
        playbook: &playbook,
    };
    let backend = session.backend(parts, context.as_deref())?;
    let name = backend.name();
    let recorder = Recorder::new(backend, &file);
    let templates = [
        question_templates::reflector_template(&session.paths)?,
        question_templates::curator_template(&session.paths)?,
    ];
    let known = session.known((&path, &evidence), &playbook)?;
    let question = Question::now(parts, &recorder, &known);
    if let Err(cause) = both(question, templates.each_ref().map(String::as_str))? {
        return Err(Hinted::error(
            format!("could not record: {}: {}", cause.kind.word(), cause.message),
            "try again, or name another backend with --backend",
        ));
    }
    tell(args, &file, name.word(), &recorder.recorded())
}

fn tell(
    args: &RecordArgs,
    file: &Path,
    backend: &str,
    recorded: &[PromptHash],
) -> anyhow::Result<()> {
    if args.on.json {
        let hashes: Vec<_> = recorded.iter().map(ToString::to_string).collect();
        return output::json(&json!({
            "file": file, "backend": backend, "prompt_hashes": hashes,
        }));
    }
    for hash in recorded {
        say!("{NAME}{}{NAME:#} recorded", hash.key());
    }
    say!(
        "{} replies of {backend}: {}",
        recorded.len(),
        file.display()
    );
    Ok(())
}

/// The settings with another backend: never the recorded replies themselves.
fn with_backend(config: &Config, chosen: Option<&str>) -> Config {
    let mut config = config.clone();
    if let Some(choice) = chosen.and_then(BackendChoice::from_word) {
        config.top.backend = choice;
    } else if config.top.backend == BackendChoice::Fixtures {
        config.top.backend = BackendChoice::Auto;
    }
    config
}

/// Asks the reflector, then the curator about the playbook as the tags left it.
pub(super) fn both(
    question: Question<'_>,
    [reflector, curator]: [&str; 2],
) -> anyhow::Result<Result<(Reflection, Curation), BackendFailure>> {
    let runtime = runtime()?;
    let mut judged = runtime.block_on(question.reflector(reflector)).answered;
    let taught = known::texts(question.playbook, &question.known.lessons);
    let not_accepted = ask::drop_groundless(&mut judged, reflector, question.session, taught);
    let known = KnownLessons {
        not_accepted,
        ..question.known.clone()
    };
    if let Some(cause) = judged.cause {
        return Ok(Err(cause));
    }
    let mut after = question.playbook.clone();
    apply_bullet_tags(&mut after, &judged.result.bullet_tags);
    let question = Question {
        playbook: &after,
        known: &known,
        ..question
    };
    let curated = runtime.block_on(question.curator(curator, &judged.result));
    Ok(match curated.answered.cause {
        Some(cause) => Err(cause),
        None => Ok((judged.result, curated.answered.result)),
    })
}
