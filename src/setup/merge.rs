//! Puts our hooks into a text of settings, and takes them out again.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::{Document, Member};
use super::registration::{self, Hooks};
use crate::hook::HookEvent;
use crate::playbook::Defect;

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

struct FoundHook {
    told: Registered,
    value: Range<usize>,
    /// What holds it and at which place, the innermost first: the commands of its entry, the
    /// entries of its event, the events, the settings.
    within: [(Range<usize>, usize); 4],
}

pub(crate) fn registered(bytes: &[u8]) -> Result<Vec<Registered>, Defect> {
    let document = Document::parse(bytes)?;
    Ok(found(&document).into_iter().map(|f| f.told).collect())
}

/// Adds the hooks that are missing; a text that is no object, or holds something else in
/// their place, is flawed. Returns the hooks of the earlier version that left.
pub(super) fn install(
    document: &mut Document,
    hooks: &Hooks,
    earlier: Earlier,
) -> Result<Vec<Replaced>, Defect> {
    make_object(document);
    for event in HookEvent::ALL {
        register(document, hooks, event)?;
    }
    if earlier == Earlier::Keep {
        return Ok(Vec::new());
    }
    let is_earlier = |found: &FoundHook| found.told.is_earlier();
    let leaving = found(document).into_iter().filter(is_earlier);
    let replaced = leaving
        .filter_map(|found| replaced(document, found))
        .collect();
    // Last, so that ours look like them.
    remove_all(document, is_earlier);
    Ok(replaced)
}

/// Gives an empty text the shape of settings.
fn make_object(document: &mut Document) {
    if document.is_blank() {
        document.replace(document.start()..document.text().len(), "{}\n");
    }
}

/// Registers the gate's hook, in the place of one that leads elsewhere.
pub(super) fn add_gate(document: &mut Document, command: &str) -> Result<(), Defect> {
    make_object(document);
    let entries = list_of(document, HookEvent::Stop.client_name())?;
    let mut all = found(document);
    all.retain(is_gate);
    if all.iter().any(|found| found.told.command == command) {
        return Ok(());
    }
    match all.first() {
        Some(elsewhere) => lead(document, elsewhere, command),
        None => document.add(&entries, None, &registration::gate_entry(command)),
    }
    Ok(())
}

pub(super) fn remove_gate(document: &mut Document) {
    remove_all(document, is_gate);
}

fn is_gate(found: &FoundHook) -> bool {
    found.told.event == HookEvent::Stop.client_name() && registration::is_gate(&found.told.command)
}

/// Tells whether the gate's hook is the only one of ours.
pub(super) fn holds_gate_alone(document: &Document, hooks: &Hooks) -> bool {
    let mut ours = found(document)
        .into_iter()
        .filter(|found| has_ours(hooks, found));
    ours.all(|found| is_gate(&found))
}

pub(super) fn holds_gate(document: &Document) -> bool {
    found(document).iter().any(is_gate)
}

/// Registers a hook where it is not; a command that led to an installation that is gone
/// leads to this one.
fn register(document: &mut Document, hooks: &Hooks, event: HookEvent) -> Result<(), Defect> {
    let entries = list_of(document, event.client_name())?;
    let mut all = found(document);
    all.retain(|found| found.told.event == event.client_name());
    let named = |found: &FoundHook| hooks.named_in(&found.told.command);
    let could_be_quicker = |found: &FoundHook| hooks.could_be_quicker(event, &found.told.command);
    let is_registered = |found: &FoundHook| named(found) == Some(event) && !could_be_quicker(found);
    if all.iter().any(is_registered) {
        return Ok(());
    }
    let is_lost = |found: &&FoundHook| {
        let bare = registration::bare(&found.told.command);
        bare.is_some_and(|(named, path)| named == event && !path.exists())
            || could_be_quicker(found)
    };
    match all.iter().find(is_lost) {
        Some(lost) => lead(document, lost, &hooks.command(event)),
        None => document.add(&entries, None, &hooks.entry(event)),
    }
    Ok(())
}

fn lead(document: &mut Document, hook: &FoundHook, command: &str) {
    if let Some(old) = document.member(&hook.value, "command") {
        document.replace(old.value, &Value::from(command).to_string());
    }
}

/// The list of an event's hooks, made where there is none.
fn list_of(document: &mut Document, event: &str) -> Result<Range<usize>, Defect> {
    let flaw = |document: &Document, span: Range<usize>, what: &str| {
        Err(Defect::at(
            format!("line {}", document.line_of(span.start)),
            what,
        ))
    };
    let root = document.root();
    if !document.is_object(&root) {
        return flaw(document, root, "not an object");
    }
    if hooks_of(document).is_none() {
        document.add(&root, Some(HOOKS), &json!({}));
    }
    let object = hooks_of(document).unwrap_or(root);
    if !document.is_object(&object) {
        return flaw(document, object, "`hooks` is not an object");
    }
    if document.member(&object, event).is_none() {
        document.add(&object, Some(event), &json!([]));
    }
    // What was added has moved the end of what it is in.
    let object = hooks_of(document).unwrap_or(object);
    match document.member(&object, event) {
        Some(list) if document.is_array(&list.value) => Ok(list.value),
        list => {
            let span = list.map_or(object, |list| list.value);
            flaw(document, span, &format!("`hooks.{event}` is not a list"))
        }
    }
}

fn hooks_of(document: &Document) -> Option<Range<usize>> {
    let root = (!document.is_blank()).then(|| document.root())?;
    Some(document.member(&root, HOOKS)?.value)
}

fn replaced(document: &Document, found: FoundHook) -> Option<Replaced> {
    let value = |span: &Range<usize>| serde_json::from_str(&document.text()[span.clone()]).ok();
    let mut entry: Value = value(document.items(&found.within[1].0).get(found.within[1].1)?)?;
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
    for hook in replaced {
        let is_it = |found: &FoundHook| {
            found.told.event == hook.event && found.told.command == hook.command
        };
        if !document.is_blank()
            && !found(document).iter().any(is_it)
            && let Ok(list) = list_of(document, &hook.event)
        {
            document.add(&list, None, &hook.entry);
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

fn has_ours(hooks: &Hooks, found: &FoundHook) -> bool {
    hooks.named_in(&found.told.command).is_some() || is_gate(found)
}

/// The commands of the earlier Python version in a text, each with its line.
pub(super) fn earlier(document: &Document) -> Vec<(usize, Registered)> {
    let all = found(document).into_iter();
    all.filter(|found| found.told.is_earlier())
        .map(|found| (document.line_of(found.value.start), found.told))
        .collect()
}

/// Removes commands, and lists and objects that are empty without them.
fn remove_all(document: &mut Document, is_wanted: impl Fn(&FoundHook) -> bool) {
    while let Some(last) = found(document).into_iter().rfind(|found| is_wanted(found)) {
        let [.., settings] = &last.within;
        let mut within = last.within.iter();
        let is_left = |(container, _): &&(Range<usize>, usize)| document.count(container) > 1;
        let (container, index) = within.find(is_left).unwrap_or(settings);
        document.remove(container, *index);
    }
}

fn found(document: &Document) -> Vec<FoundHook> {
    let mut all = Vec::new();
    let Some(events) = hooks_of(document) else {
        return all;
    };
    let root = document.root();
    let is_hooks = |member: &Member| member.value == events;
    let place = document.members(&root).iter().position(is_hooks);
    for (event, list) in document.members(&events).into_iter().enumerate() {
        for (entry, value) in document.items(&list.value).into_iter().enumerate() {
            let Some(commands) = document.member(&value, HOOKS) else {
                continue;
            };
            let commands = commands.value;
            for (index, value) in document.items(&commands).into_iter().enumerate() {
                let command = document.member(&value, "command");
                let Some(command) = command.and_then(|it| document.string(&it.value)) else {
                    continue;
                };
                all.push(FoundHook {
                    told: Registered {
                        event: document.string(&list.key).unwrap_or_default(),
                        command,
                    },
                    value,
                    within: [
                        (commands.clone(), index),
                        (list.value.clone(), entry),
                        (events.clone(), event),
                        (root.clone(), place.unwrap_or_default()),
                    ],
                });
            }
        }
    }
    all
}
