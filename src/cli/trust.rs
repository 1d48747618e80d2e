//! `playbook trust`: chooses the playbooks that sessions are given.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::output::{self, say};
use super::session::NamedSession;
use super::{agent, answer, args};
use crate::paths::Paths;
use crate::queue::screening::recount;
use crate::queue::transcripts::{self, PastTranscript};
use crate::queue::trust_record::{self, Screened};
use crate::trust::{TrustRecord, TrustWord, outside};
use crate::{prepare, project};

const UNTRUSTED: &str = "Sessions in {{ untrusted }} are given no playbook from now on; \
                         `playbook trust` changes that.";

pub(super) fn run(session: &NamedSession, args: &args::TrustArgs) -> anyhow::Result<()> {
    if args.off {
        return untrust(session, args.on.json);
    }
    agent::refuse(&session.env, "whose playbook is trusted")?;
    let context = session.context()?;
    let projects = if args.all_known {
        known(&session.paths)
    } else {
        BTreeSet::from([session.project.clone()])
    };
    let mut told = Vec::new();
    for project in &projects {
        match trust_record::trust(&context, project) {
            Ok(screened) => {
                recount(&context, project)?;
                context.surroundings.make_ready(project);
                told.push(in_json(project, screened));
            }
            Err(error) if args.all_known => output::error(&error.into()),
            Err(error) => return Err(error.into()),
        }
    }
    if projects.is_empty() && !args.on.json {
        say!("Claude Code has kept no session of any project.");
    }
    let told = json!({ "trusted": told });
    answer::give(args.on.json, include_str!("screens/trust.txt"), told)
}

fn in_json(project: &Path, screened: Screened) -> Value {
    let Screened { known, held, later } = screened;
    let link = outside::of(project);
    json!({"project": project, "used": known, "quarantine": held, "later": later, "link": link})
}

/// Takes trust back: nothing of this project's playbook is given to sessions.
fn untrust(session: &NamedSession, as_json: bool) -> anyhow::Result<()> {
    let path = session.paths.trust_record(&session.project);
    let earlier = TrustRecord::read(&path).ok().flatten();
    let mut record = earlier.unwrap_or_else(|| TrustRecord::new(TrustWord::Untrusted));
    record.word = TrustWord::Untrusted;
    record.write(&path)?;
    prepare::ready(&session.paths, &session.project, session.env.clock().now());
    let told = json!({ "untrusted": session.project.to_string_lossy() });
    answer::give(as_json, UNTRUSTED, told)
}

pub(super) fn known(paths: &Paths) -> BTreeSet<PathBuf> {
    transcripts::newest_of_each(paths)
        .filter_map(|transcript| PastTranscript::read(transcript, String::new(), false)?.cwd)
        .map(|folder| project::find(&folder))
        .filter(|project| project.is_dir())
        .collect()
}
