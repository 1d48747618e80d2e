//! Adds our hooks to the text of a settings file, and removes them.

use std::ops::Range;

use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged;
use serde_json::{Value, json};

use super::document::{Container, Document, place};
use super::registration::{self, Hooks};
use crate::hook::HookEvent;
use crate::playbook::Defect;

const HOOKS: &str = "hooks";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registered {
    pub(crate) event: String,
    pub(crate) command: String,
}

impl Registered {
    pub(crate) fn is_earlier(&self) -> bool {
        registration::is_earlier(&self.command)
    }

    /// Returns `true` for the hook that the switch of an event registers.
    pub(crate) fn is_of_switch(&self, event: HookEvent) -> bool {
        self.event == event.client_name() && registration::is_of_switch(event, &self.command)
    }
}

/// A command in a settings file, of any event and installation.
pub(super) struct FoundHook {
    pub(super) hook: Registered,
    pub(super) line: usize,
    command: Range<usize>,
    /// The place to remove: the command, and everything that would be empty without it.
    removal: Range<usize>,
}

impl FoundHook {
    pub(super) fn is_ours(&self, hooks: &Hooks) -> bool {
        let is_of_switch = |event: &HookEvent| self.hook.is_of_switch(*event);
        hooks.named_in(&self.hook.command).is_some() || HookEvent::SWITCHED.iter().any(is_of_switch)
    }
}

pub(crate) fn registered(bytes: &[u8]) -> Result<Vec<Registered>, Defect> {
    let document = Document::parse(bytes)?;
    Ok(found(&document).into_iter().map(|f| f.hook).collect())
}

/// A text that is no object, or has another shape where the hooks belong, is a defect.
pub(super) fn install(document: &mut Document, hooks: &Hooks) -> Result<(), Defect> {
    document.make_object();
    HookEvent::REGISTERED
        .into_iter()
        .try_for_each(|event| register(document, hooks, event))
}

/// Registers the hook of a switch, or redirects one that leads elsewhere.
pub(super) fn switch_on(
    document: &mut Document,
    event: HookEvent,
    command: &str,
) -> Result<(), Defect> {
    document.make_object();
    let mut all = found(document);
    all.retain(|found| found.hook.is_of_switch(event));
    if all.iter().any(|found| found.hook.command == command) {
        return Ok(());
    }
    if let Some(elsewhere) = all.first() {
        lead(document, elsewhere, command);
        return Ok(());
    }
    let entry = registration::switch_entry(event, command);
    add_entry(document, event.client_name(), &entry)
}

/// Redirects a command of a removed installation, or one that could be quicker, to this one.
fn register(document: &mut Document, hooks: &Hooks, event: HookEvent) -> Result<(), Defect> {
    let mut all = found(document);
    all.retain(|found| found.hook.event == event.client_name());
    let named = |found: &FoundHook| hooks.named_in(&found.hook.command);
    let could_be_quicker = |found: &FoundHook| hooks.could_be_quicker(event, &found.hook.command);
    let is_registered = |found: &FoundHook| named(found) == Some(event) && !could_be_quicker(found);
    if all.iter().any(is_registered) {
        return Ok(());
    }
    let is_lost = |found: &&FoundHook| {
        let bare = registration::bare(&found.hook.command);
        bare.is_some_and(|(named, path)| named == event && !path.exists())
            || could_be_quicker(found)
    };
    match all.iter().find(is_lost) {
        Some(lost) => lead(document, lost, &hooks.command(event)),
        None => add_entry(document, event.client_name(), &hooks.entry(event))?,
    }
    Ok(())
}

fn lead(document: &mut Document, hook: &FoundHook, command: &str) {
    document.replace(hook.command.clone(), &Value::from(command).to_string());
}

fn add_entry(document: &mut Document, event: &str, entry: &Value) -> Result<(), Defect> {
    let flaw = |node: Option<&Node<'_>>, what: String| {
        let line = document.line_of(node.map_or(0, Ranged::start));
        Err(Defect::at(format!("line {line}"), what))
    };
    let (container, key, value) = document.look(|root| {
        let Some(Node::Object(settings)) = root else {
            return flaw(root, "not an object".to_owned());
        };
        let hooks = match document.member(settings, HOOKS) {
            Some((_, Node::Object(hooks))) => hooks,
            Some((_, other)) => return flaw(Some(other), "`hooks` is not an object".to_owned()),
            None => return Ok((settings.into(), Some(HOOKS), json!({event: [entry]}))),
        };
        match document.member(hooks, event) {
            Some((_, Node::Array(list))) => Ok((Container::from(list), None, entry.clone())),
            Some((_, other)) => flaw(Some(other), format!("`hooks.{event}` is not a list")),
            None => Ok((hooks.into(), Some(event), json!([entry]))),
        }
    })?;
    document.add(&container, key, &value);
    Ok(())
}

/// Removes commands, and lists and objects that are empty without them.
pub(super) fn remove(document: &mut Document, is_wanted: impl Fn(&FoundHook) -> bool) {
    while let Some(last) = found(document).into_iter().rfind(|found| is_wanted(found)) {
        document.replace(last.removal, "");
    }
}

pub(super) fn found(document: &Document) -> Vec<FoundHook> {
    document.look(|root| {
        let mut all = Vec::new();
        if let Some(Node::Object(settings)) = root
            && let Some((n, Node::Object(events))) = document.member(settings, HOOKS)
        {
            let settings = Container::from(settings);
            let outer = settings.removal(n).unwrap_or(settings.inside());
            for (n, event) in events.properties.iter().enumerate() {
                let outer = Container::from(events).removal(n).unwrap_or(outer.clone());
                let name = document.name(event).unwrap_or_default();
                find_in_event(document, &name, &event.value, &outer, &mut all);
            }
        }
        all
    })
}

fn find_in_event(
    document: &Document,
    event: &str,
    entries: &Node<'_>,
    outer: &Range<usize>,
    all: &mut Vec<FoundHook>,
) {
    let Node::Array(entries) = entries else {
        return;
    };
    for (n, entry) in entries.elements.iter().enumerate() {
        let outer = Container::from(entries).removal(n).unwrap_or(outer.clone());
        let commands = entry.as_object().and_then(|it| document.member(it, HOOKS));
        let Some((_, Node::Array(hooks))) = commands else {
            continue;
        };
        for (n, hook) in hooks.elements.iter().enumerate() {
            let command = hook
                .as_object()
                .and_then(|it| document.member(it, "command"));
            let Some((_, command)) = command else {
                continue;
            };
            let Some(text) = document.read(&place(command)) else {
                continue;
            };
            all.push(FoundHook {
                hook: Registered {
                    event: event.to_owned(),
                    command: text,
                },
                line: document.line_of(hook.start()),
                command: place(command),
                removal: Container::from(hooks).removal(n).unwrap_or(outer.clone()),
            });
        }
    }
}
