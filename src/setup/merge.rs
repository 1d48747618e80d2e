//! Puts our hooks into a text of settings, and takes them out again.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::document::{Document, Edit};
use super::registration::{self, Hooks};
use crate::hook::HookEvent;
use crate::playbook::Flaw;

/// The key of the hooks, in the settings and in each entry of an event's list.
const HOOKS: &str = "hooks";

/// What becomes of the hooks of the earlier Python version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Earlier {
    Keep,
    Replace,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registered {
    pub(crate) event: String,
    pub(crate) command: String,
}

impl Registered {
    /// Tells whether it is a hook of the earlier Python version.
    pub(crate) fn is_earlier(&self) -> bool {
        registration::is_earlier(&self.command)
    }
}

/// A hook of the earlier version that left for ours, to be put back when ours leave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Replaced {
    event: String,
    command: String,
    /// The entry of the event's list, with this command alone.
    entry: Value,
}

/// One hook in the list of an event: where all that holds it stands.
struct Found {
    object: Range<usize>,
    event: usize,
    entries: Range<usize>,
    entry: usize,
    commands: Range<usize>,
    index: usize,
    value: Range<usize>,
    told: Registered,
}

pub(crate) fn registered(bytes: &[u8]) -> Result<Vec<Registered>, Flaw> {
    let document = Document::parse(bytes)?;
    Ok(found(&document).into_iter().map(|f| f.told).collect())
}

/// Adds the hooks that are missing; commands of ours whose program is not `there` any more
/// are mended. Returns the hooks of the earlier version that left.
pub(super) fn install(
    document: &mut Document,
    hooks: &Hooks,
    earlier: Earlier,
    is_there: &dyn Fn(&Path) -> bool,
) -> Result<Vec<Replaced>, Flaw> {
    if document.is_blank() {
        let all = json!({HOOKS: all(hooks)});
        let start = document.start();
        let text = format!(
            "{}\n",
            serde_json::to_string_pretty(&all).unwrap_or_default()
        );
        let end = document.text().len();
        document.replace(start..end, &text);
        return Ok(Vec::new());
    }
    add_missing(document, hooks, is_there)?;
    if earlier == Earlier::Keep {
        return Ok(Vec::new());
    }
    let leaving = found(document)
        .into_iter()
        .filter(|found| found.told.is_earlier());
    let replaced = leaving.filter_map(|found| replaced(document, found));
    let replaced = replaced.collect();
    // Last, so that ours look like them.
    remove_all(document, |found| found.told.is_earlier());
    Ok(replaced)
}

fn replaced(document: &Document, found: Found) -> Option<Replaced> {
    let value = |span: &Range<usize>| serde_json::from_str(&document.text()[span.clone()]).ok();
    let mut entry: Value = value(document.items(&found.entries).get(found.entry)?)?;
    let hook: Value = value(&found.value)?;
    *entry.get_mut(HOOKS)? = json!([hook]);
    Some(Replaced {
        event: found.told.event,
        command: found.told.command,
        entry,
    })
}

/// Puts hooks back that left for ours, those that are not there by now; where the text has
/// another shape in their place, they stay away.
pub(super) fn put_back(document: &mut Document, replaced: &[Replaced]) {
    for Replaced {
        event,
        command,
        entry,
    } in replaced
    {
        let is_it = |found: &Found| found.told.event == *event && found.told.command == *command;
        if document.is_blank() || found(document).iter().any(is_it) {
            continue;
        }
        let root = document.root();
        let Some(object) = document.member(&root, HOOKS) else {
            if document.is_object(&root) {
                document.add_member(&root, HOOKS, &json!({event: [entry]}));
            }
            continue;
        };
        match document.member(&object.value, event) {
            Some(list) if document.is_array(&list.value) => document.add_item(&list.value, entry),
            None if document.is_object(&object.value) => {
                document.add_member(&object.value, event, &json!([entry]));
            }
            _ => {}
        }
    }
}

fn add_missing(
    document: &mut Document,
    hooks: &Hooks,
    is_there: &dyn Fn(&Path) -> bool,
) -> Result<(), Flaw> {
    let root = document.root();
    if !document.is_object(&root) {
        return Err(Flaw::at(line(document, root.start), "not an object"));
    }
    if document.member(&root, HOOKS).is_none() {
        document.add_member(&root, HOOKS, &all(hooks));
        return Ok(());
    }
    mend(document, hooks, is_there);
    for event in HookEvent::ALL {
        // What was added before has moved the rest.
        let root = document.root();
        let Some(object) = document.member(&root, HOOKS) else {
            return Ok(());
        };
        if !document.is_object(&object.value) {
            let place = line(document, object.value.start);
            return Err(Flaw::at(place, "`hooks` is not an object"));
        }
        add(document, hooks, event, &object.value)?;
    }
    Ok(())
}

fn add(
    document: &mut Document,
    hooks: &Hooks,
    event: HookEvent,
    object: &Range<usize>,
) -> Result<(), Flaw> {
    let name = event.client_name();
    let Some(list) = document.member(object, name) else {
        document.add_member(object, name, &json!([hooks.entry(event)]));
        return Ok(());
    };
    if !document.is_array(&list.value) {
        let place = line(document, list.value.start);
        return Err(Flaw::at(place, format!("`hooks.{name}` is not a list")));
    }
    let is_registered = found(document).iter().any(|found| {
        found.told.event == name && hooks.named_in(&found.told.command) == Some(event)
    });
    if !is_registered {
        document.add_item(&list.value, &hooks.entry(event));
    }
    Ok(())
}

fn all(hooks: &Hooks) -> Value {
    let events = HookEvent::ALL
        .into_iter()
        .map(|event| (event.client_name().to_owned(), json!([hooks.entry(event)])));
    Value::Object(events.collect::<Map<_, _>>())
}

fn line(document: &Document, at: usize) -> String {
    format!("line {}", document.line_of(at))
}

/// Leads a command to our hook that led to an installation that is gone.
fn mend(document: &mut Document, hooks: &Hooks, is_there: &dyn Fn(&Path) -> bool) {
    for event in HookEvent::ALL {
        let mut all = found(document);
        all.retain(|found| found.told.event == event.client_name());
        let is_ours = |found: &Found| hooks.named_in(&found.told.command) == Some(event);
        let is_lost = |found: &Found| {
            registration::bare(&found.told.command)
                .is_some_and(|(named, path)| named == event && !is_there(&path))
        };
        if !all.iter().any(is_ours)
            && let Some(lost) = all.iter().find(|found| is_lost(found))
            && let Some(command) = document.member(&lost.value, "command")
        {
            let new = Value::from(hooks.command(event)).to_string();
            document.replace(command.value, &new);
        }
    }
}

/// Takes our hooks out by what they are: whatever else was changed meanwhile stays.
pub(super) fn remove_ours(document: &mut Document, hooks: &Hooks) {
    remove_all(document, |found| has_ours(hooks, found));
}

pub(super) fn holds_ours(document: &Document, hooks: &Hooks) -> bool {
    found(document).iter().any(|found| has_ours(hooks, found))
}

fn has_ours(hooks: &Hooks, found: &Found) -> bool {
    hooks.named_in(&found.told.command).is_some()
}

/// The commands of the earlier Python version in a text, each with its line.
pub(super) fn earlier(document: &Document) -> Vec<(usize, Registered)> {
    let all = found(document).into_iter();
    all.filter(|found| found.told.is_earlier())
        .map(|found| (document.line_of(found.value.start), found.told))
        .collect()
}

/// Removes commands, and lists and objects that are empty without them.
fn remove_all(document: &mut Document, is_wanted: impl Fn(&Found) -> bool) {
    while let Some(last) = found(document).into_iter().rfind(|found| is_wanted(found)) {
        let count = |array: &Range<usize>| document.items(array).len();
        if count(&last.commands) > 1 {
            document.remove_item(&last.commands, last.index);
        } else if count(&last.entries) > 1 {
            document.remove_item(&last.entries, last.entry);
        } else if document.has_twin(&last.object, last.event) {
            // Without it, the other one would count.
            document.remove_item(&last.entries, last.entry);
        } else if document.members(&last.object).len() > 1 {
            document.remove_member(&last.object, last.event);
        } else {
            let root = document.root();
            let members = document.members(&root);
            match members.iter().position(|m| m.value == last.object) {
                Some(at) if !document.has_twin(&root, at) => document.remove_member(&root, at),
                _ => document.remove_member(&last.object, last.event),
            }
        }
    }
}

/// Takes back the `edits` that were made, as far as their text is still there.
///
/// With `exactly` nothing else has changed since, so that each stands where it was made.
pub(super) fn take_back(document: &mut Document, edits: &[Edit], exactly: bool) {
    for edit in edits.iter().rev() {
        let text = document.text();
        let at = match edit.at.filter(|_| exactly) {
            Some(at) => text
                .get(at..)
                .is_some_and(|rest| rest.starts_with(&edit.inserted))
                .then_some(at),
            None => only_place(text, &edit.inserted),
        };
        if let Some(at) = at {
            document.replace(at..at + edit.inserted.len(), &edit.removed);
        }
    }
}

/// Where `part` stands, if it stands in one place only.
fn only_place(text: &str, part: &str) -> Option<usize> {
    let at = text.find(part).filter(|_| !part.is_empty())?;
    (text.rfind(part) == Some(at)).then_some(at)
}

fn found(document: &Document) -> Vec<Found> {
    let mut all = Vec::new();
    let Some(object) = (!document.is_blank())
        .then(|| document.root())
        .and_then(|root| document.member(&root, HOOKS))
    else {
        return all;
    };
    let object = object.value;
    for (event, list) in document.members(&object).into_iter().enumerate() {
        let entries = list.value;
        for (entry, value) in document.items(&entries).into_iter().enumerate() {
            let Some(commands) = document.member(&value, HOOKS) else {
                continue;
            };
            let commands = commands.value;
            for (index, value) in document.items(&commands).into_iter().enumerate() {
                let command = document
                    .member(&value, "command")
                    .and_then(|command| document.string(&command.value));
                let Some(command) = command else {
                    continue;
                };
                all.push(Found {
                    told: Registered {
                        event: document.string(&list.key).unwrap_or_default(),
                        command,
                    },
                    object: object.clone(),
                    event,
                    entries: entries.clone(),
                    entry,
                    commands: commands.clone(),
                    index,
                    value,
                });
            }
        }
    }
    all
}
