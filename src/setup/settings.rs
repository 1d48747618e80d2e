//! Changes one settings file of the client's, with a record that lets it be undone to the byte.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::document::Document;
use super::merge::{self, FoundHook, Registered};
use super::registration::Hooks;
use super::templates::{digest, missing};
use crate::digest::name_of;
use crate::fsx::{self, FsError};
use crate::hook::HookEvent;
use crate::paths::Paths;
use crate::playbook::Defect;

/// The size in bytes above which a settings file is not touched.
const MAX_SETTINGS: u64 = 4 << 20;
/// A part of each of our commands: the folder of the hooks, the program that answers, or the guard.
const OURS: [&[u8]; 3] = [b"playbook/bin/", b"playbook hook ", b"/pre-tool-use"];

#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    /// The file is no JSON, or has another shape where our hooks belong.
    #[error("could not edit settings: {}: {flaw}", path.display())]
    Settings { path: PathBuf, flaw: Defect },
    #[error("could not edit settings: {}: it was changed meanwhile", .0.display())]
    Changed(PathBuf),
    /// The path is not UTF-8, so JSON can name neither a hook below it nor its settings.
    #[error("could not edit settings: {}: its path is not UTF-8", .0.display())]
    NotText(PathBuf),
    #[error(transparent)]
    File(#[from] FsError),
}

impl SetupError {
    pub(crate) fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Settings { flaw, .. } if !flaw.is_of_text() => {
                "give it the shape that Claude Code asks for, then try again; nothing was changed"
            }
            Self::Settings { .. } => {
                "mend that line (comments and trailing commas are no JSON), then try again; nothing was changed"
            }
            Self::Changed(_) => "try again; nothing was changed",
            Self::NotText(_) => {
                "rename the folder, or set CLAUDE_CONFIG_DIR and PLAYBOOK_STATE_DIR to others"
            }
            Self::File(_) => return None,
        })
    }
}

#[derive(Debug)]
pub(crate) struct ClientSettings<'a> {
    paths: &'a Paths,
    file: PathBuf,
    hooks: Hooks,
}

#[derive(Debug, Default)]
pub(crate) struct SettingsPlan {
    /// The present text; `None` if there is no file.
    pub(crate) before: Option<String>,
    /// The text to write; `None` to remove the file.
    pub(crate) after: Option<String>,
    /// The commands of the earlier Python version, each with its line.
    pub(crate) earlier: Vec<(usize, Registered)>,
    record: Option<SettingsRecord>,
    /// The folders to remove if they are empty, the innermost first.
    folders: Vec<PathBuf>,
    /// `true` if the text becomes exactly what it was before our first change.
    is_exact: bool,
}

impl SettingsPlan {
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }
}

impl<'a> ClientSettings<'a> {
    pub(crate) fn new(paths: &'a Paths, file: PathBuf, hooks: Hooks) -> Self {
        Self { paths, file, hooks }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn plan_install(&self) -> Result<SettingsPlan, SetupError> {
        self.plan(|document| merge::install(document, &self.hooks))
    }

    /// Plans to register the hook that the switch of an event has.
    pub(crate) fn plan_on(
        &self,
        event: HookEvent,
        command: &str,
    ) -> Result<SettingsPlan, SetupError> {
        self.plan(|document| merge::switch_on(document, event, command))
    }

    pub(crate) fn plan_off(&self, event: HookEvent) -> Result<Option<SettingsPlan>, SetupError> {
        let is_its = |found: &FoundHook| found.hook.is_of_switch(event);
        let bytes = self.read()?.unwrap_or_default();
        let document = self.parse(&bytes)?;
        let mut found = merge::found(&document);
        found.retain(|found| found.is_ours(&self.hooks));
        if !found.iter().any(is_its) {
            return Ok(None);
        }
        if found.iter().all(is_its) {
            return self.plan_uninstall();
        }
        let plan = self.plan(|document| {
            merge::remove(document, is_its);
            Ok(())
        });
        plan.map(Some)
    }

    fn plan(
        &self,
        edit: impl FnOnce(&mut Document) -> Result<(), Defect>,
    ) -> Result<SettingsPlan, SetupError> {
        self.look_for_paths()?;
        let before = self.read()?;
        let bytes = before.as_deref().unwrap_or_default();
        let mut document = self.parse(bytes)?;
        let found = merge::found(&document);
        let old = SettingsRecord::read(self.paths, &self.file)
            .filter(|old| old.is_last(bytes) || found.iter().any(|hook| hook.is_ours(&self.hooks)));
        let text = document.text();
        edit(&mut document).map_err(|flaw| self.flaw(flaw))?;
        let after = document.text();
        let mut record = old.unwrap_or_else(|| SettingsRecord::new(&self.file, self.paths));
        if text != after {
            record.note(&text, &after);
        }
        let earlier = found.into_iter().filter(|it| it.hook.is_earlier());
        Ok(SettingsPlan {
            before: before.map(into_text),
            after: Some(after),
            earlier: earlier.map(|found| (found.line, found.hook)).collect(),
            record: Some(record),
            ..SettingsPlan::default()
        })
    }

    pub(crate) fn plan_uninstall(&self) -> Result<Option<SettingsPlan>, SetupError> {
        let record = SettingsRecord::read(self.paths, &self.file);
        let mut plan = SettingsPlan {
            is_exact: true,
            ..SettingsPlan::default()
        };
        let Some(bytes) = self.read()? else {
            // Another program removed the file, so the record is removed as well.
            return Ok(record.map(|record| SettingsPlan {
                folders: record.made_folders,
                ..plan
            }));
        };
        let is_in = |ours: &[u8]| memchr::memmem::find(&bytes, ours).is_some();
        if record.is_none() && !OURS.into_iter().any(is_in) {
            return Ok(None);
        }
        let mut document = self.parse(&bytes)?;
        let known = record.as_ref().filter(|record| record.is_last(&bytes));
        if let Some(text) = known.and_then(|record| record.before.as_deref()) {
            document = self.parse(text.as_bytes())?;
        } else {
            plan.is_exact = false;
            merge::remove(&mut document, |found| found.is_ours(&self.hooks));
        }
        match record.filter(|record| record.made_file && document.is_left_over()) {
            Some(record) => plan.folders = record.made_folders,
            None => plan.after = Some(document.text()),
        }
        plan.before = Some(into_text(bytes));
        Ok(Some(plan))
    }

    /// Returns the backup of the earlier settings, if the user may want them again.
    pub(crate) fn carry_out(&self, plan: &SettingsPlan) -> Result<Option<PathBuf>, SetupError> {
        let mut copy = None;
        if plan.is_change() {
            if self.read()?.map(into_text) != plan.before {
                return Err(SetupError::Changed(self.file.clone()));
            }
            if let Some(before) = plan.before.as_ref().filter(|_| !plan.is_exact) {
                copy = Some(back_up(self.paths, &self.file, before.as_bytes())?);
            }
            if let Some(record) = &plan.record {
                record.write(self.paths)?;
            }
            self.write(plan)?;
        }
        let mut folders = plan.folders.iter();
        folders.try_for_each(|folder| fsx::remove_dir_if_empty(folder))?;
        match (&plan.record, &copy) {
            (Some(_), _) => {}
            (None, Some(_)) => forget_changes(self.paths, &self.file)?,
            (None, None) => forget(self.paths, &self.file)?,
        }
        Ok(copy)
    }

    fn write(&self, plan: &SettingsPlan) -> Result<(), FsError> {
        if let Some(after) = &plan.after {
            if let Some(folder) = self.file.parent() {
                fsx::ensure_dir(folder)?;
            }
            return fsx::durable(&self.file, after.as_bytes());
        }
        // A symlink to the file is not ours.
        let file = std::fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone());
        fsx::remove(&file)
    }

    /// Refuses a path that is not UTF-8, which the JSON record cannot hold.
    fn look_for_paths(&self) -> Result<(), SetupError> {
        let paths = [&self.file, self.paths.client(), self.paths.state()];
        match paths.into_iter().find(|path| path.to_str().is_none()) {
            None => Ok(()),
            Some(path) => Err(SetupError::NotText(path.to_owned())),
        }
    }

    fn read(&self) -> Result<Option<Vec<u8>>, FsError> {
        fsx::read_if_there(&self.file, MAX_SETTINGS)
    }

    fn parse(&self, bytes: &[u8]) -> Result<Document, SetupError> {
        Document::parse(bytes).map_err(|flaw| self.flaw(flaw))
    }

    fn flaw(&self, flaw: Defect) -> SetupError {
        let path = self.file.clone();
        SetupError::Settings { path, flaw }
    }
}

/// Returns the command of the hook that the switch of an event has registered for the user.
pub(crate) fn switched_on(paths: &Paths, event: HookEvent) -> Option<String> {
    let bytes = fsx::read_if_there(&paths.client_settings(), MAX_SETTINGS).ok()??;
    let mut all = merge::registered(&bytes).ok()?.into_iter();
    let hook = all.find(|hook| hook.is_of_switch(event))?;
    Some(hook.command)
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

const VERSION: u32 = 1;
const SUFFIX: &str = ".json";
/// The end of the first backup's name: the settings before our first change.
const FIRST_SUFFIX: &str = ".backup";
/// The end of the other backup's name: the settings before the last change.
const LAST_SUFFIX: &str = ".last.backup";
const MAX_RECORD: u64 = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SettingsRecord {
    v: u32,
    pub(crate) file: PathBuf,
    pub(crate) client: PathBuf,
    made_file: bool,
    /// The folders that were created for the file, the innermost first.
    made_folders: Vec<PathBuf>,
    /// The folders that were created above our state folder, the innermost first.
    pub(crate) made_above_state: Vec<PathBuf>,
    /// The text before our first change; `None` once another program has changed it, too.
    before: Option<String>,
    after: String,
}

impl SettingsRecord {
    fn new(file: &Path, paths: &Paths) -> Self {
        let above = |path: &Path| path.parent().map(missing).unwrap_or_default();
        Self {
            v: VERSION,
            file: file.to_owned(),
            client: paths.client().to_owned(),
            made_file: !file.exists(),
            made_folders: above(file),
            made_above_state: above(paths.state()),
            before: None,
            after: String::new(),
        }
    }

    fn read(paths: &Paths, file: &Path) -> Option<Self> {
        parse(&place(paths, file, SUFFIX))
    }

    fn is_last(&self, text: &[u8]) -> bool {
        self.after == digest(text)
    }

    /// Returns `true` if the record is of this file, under any name.
    pub(crate) fn is_of(&self, file: &Path) -> bool {
        fsx::real(&self.file) == fsx::real(file)
    }

    fn note(&mut self, before: &str, after: &str) {
        if self.after.is_empty() {
            self.before = Some(before.to_owned());
        } else if !self.is_last(before.as_bytes()) {
            self.before = None;
        }
        self.after = digest(after.as_bytes());
    }

    fn write(&self, paths: &Paths) -> Result<(), FsError> {
        let path = place(paths, &self.file, SUFFIX);
        let bytes = fsx::to_json(&path, self)?;
        fsx::ensure_dir(&paths.registrations())?;
        fsx::durable(&path, &bytes)
    }
}

fn parse(path: &Path) -> Option<SettingsRecord> {
    fsx::read_json(path, MAX_RECORD).filter(|record: &SettingsRecord| record.v == VERSION)
}

/// Never overwrites the first copy, so the original can always be restored.
fn back_up(paths: &Paths, file: &Path, bytes: &[u8]) -> Result<PathBuf, FsError> {
    fsx::ensure_dir(&paths.registrations())?;
    let first = place(paths, file, FIRST_SUFFIX);
    if fsx::create_new(&first, bytes)? || fsx::read(&first, MAX_RECORD).is_ok_and(|b| b == bytes) {
        return Ok(first);
    }
    let last = place(paths, file, LAST_SUFFIX);
    fsx::durable(&last, bytes)?;
    Ok(last)
}

/// Removes the record of a file's changes; the copies stay.
fn forget_changes(paths: &Paths, file: &Path) -> Result<(), FsError> {
    fsx::remove(&place(paths, file, SUFFIX))
}

fn forget(paths: &Paths, file: &Path) -> Result<(), FsError> {
    forget_changes(paths, file)?;
    fsx::remove(&place(paths, file, FIRST_SUFFIX))?;
    fsx::remove(&place(paths, file, LAST_SUFFIX))?;
    // Folders that hold other files by now stay.
    fsx::remove_dir_if_empty(&paths.registrations())?;
    fsx::remove_dir_if_empty(paths.state())
}

/// Returns the records of all changed settings files, in the order to undo them.
pub(crate) fn recorded(paths: &Paths) -> Vec<SettingsRecord> {
    let entries = fsx::list(&paths.registrations()).unwrap_or_default();
    let mut records: Vec<SettingsRecord> = entries
        .iter()
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(SUFFIX))
        .filter_map(|entry| parse(&entry.path()))
        .collect();
    // The file for which the most folders were created comes last.
    records.sort_by_key(|record| (record.made_folders.len(), record.file.clone()));
    records
}

fn place(paths: &Paths, file: &Path, suffix: &str) -> PathBuf {
    let name = name_of(fsx::real(file).as_os_str().as_encoded_bytes());
    paths.registrations().join(format!("{name}{suffix}"))
}
