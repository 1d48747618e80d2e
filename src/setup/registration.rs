//! The commands that are registered with the client, and how ours are recognised.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hook::HookEvent;

/// The ends of the commands of the earlier Python version's hooks.
const EARLIER: [&str; 4] = [
    "/.claude/hooks/user_prompt_inject.py",
    "/.claude/hooks/session_end.py",
    "/.claude/hooks/precompact.py",
    "/.claude/hooks/subagent_stop.py",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// An absolute path, for settings of one user on one machine.
    Path,
    /// A path with variables, silent without the hooks, for settings that a project shares.
    Portable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hooks {
    bin: PathBuf,
    client: PathBuf,
    home: Option<PathBuf>,
    spelling: Spelling,
    /// The program `playbook` that answers in place of hooks that are not installed.
    stand_in: Option<PathBuf>,
}

impl Hooks {
    pub(crate) fn of_client(client: &Path, home: Option<&Path>, spelling: Spelling) -> Self {
        Self {
            bin: client.join("playbook").join("bin"),
            client: client.to_owned(),
            home: home.map(Path::to_owned),
            spelling,
            stand_in: None,
        }
    }

    pub(crate) fn answered_by(self, playbook: PathBuf) -> Self {
        let stand_in = Some(playbook);
        Self { stand_in, ..self }
    }

    pub(crate) fn stand_in(&self) -> Option<&Path> {
        self.stand_in.as_deref()
    }

    pub(crate) fn bin(&self) -> &Path {
        &self.bin
    }

    pub(crate) fn command(&self, event: HookEvent) -> String {
        let name = event.name();
        match (self.spelling, &self.stand_in) {
            (Spelling::Path, Some(playbook)) => {
                format!("{} hook {name}", shell_word(&playbook.to_string_lossy()))
            }
            (Spelling::Path, None) => shell_word(&self.bin.join(name).to_string_lossy()),
            (Spelling::Portable, _) => format!(
                "h=\"${{CLAUDE_CONFIG_DIR:-$HOME/.claude}}/playbook/bin/{name}\"; \
                 [ ! -x \"$h\" ] || exec \"$h\""
            ),
        }
    }

    /// Makes a command that prints nothing if its program was removed, as an update may do.
    /// The program is the hook's own beside `playbook`, or else `playbook`.
    pub(crate) fn switch_command(playbook: &Path, event: HookEvent) -> String {
        let name = event.name();
        let own = playbook.with_file_name(name);
        let (program, arguments) = if own.is_file() {
            (own.as_path(), String::new())
        } else {
            (playbook, format!(" hook {name}"))
        };
        let program = shell_word(&program.to_string_lossy());
        format!("[ ! -x {program} ] || exec {program}{arguments}")
    }

    /// Sets no matcher: older lists of SessionStart's sources miss some that the client has.
    pub(super) fn entry(&self, event: HookEvent) -> Value {
        json!({"hooks": [{"type": "command", "command": self.command(event)}]})
    }

    /// Returns the hook of ours that a command runs, in any spelling of its path.
    pub(crate) fn named_in(&self, command: &str) -> Option<HookEvent> {
        let command = self.spelled_out(command);
        HookEvent::ALL.into_iter().find(|event| {
            let path = unquoted(&self.bin.join(event.name()).to_string_lossy());
            has_path(&command, &path) || is_of_stand_in(*event, &command)
        })
    }

    /// Returns `true` if a command only runs a hook, as the commands do that we register.
    pub(crate) fn is_bare(&self, event: HookEvent, command: &str) -> bool {
        let path = self.bin.join(event.name());
        let is_ours = |spelling| {
            let hooks = self.clone();
            command == Self { spelling, ..hooks }.command(event)
        };
        is_ours(Spelling::Path)
            || is_ours(Spelling::Portable)
            || self.spelled_out(command).trim() == unquoted(&path.to_string_lossy())
    }

    /// Returns `true` if `playbook` answers for a hook whose own program is installed.
    pub(super) fn could_be_quicker(&self, event: HookEvent, command: &str) -> bool {
        self.stand_in.is_none() && is_of_stand_in(event, command)
    }

    /// Returns the command without quotes, with `HOME` and the client's folder filled in.
    fn spelled_out(&self, command: &str) -> String {
        let mut command = unquoted(command);
        let client = unquoted(self.client.to_string_lossy().trim_end_matches('/'));
        for name in [
            "${CLAUDE_CONFIG_DIR:-$HOME/.claude}",
            "${CLAUDE_CONFIG_DIR:-~/.claude}",
            "${CLAUDE_CONFIG_DIR}",
            "$CLAUDE_CONFIG_DIR",
        ] {
            command = command.replace(name, &client);
        }
        if let Some(home) = &self.home {
            let home = unquoted(&home.to_string_lossy());
            for name in ["${HOME}/", "$HOME/", "~/"] {
                command = command.replace(name, &format!("{home}/"));
            }
        }
        command
    }
}

/// Accepts only a command that is nothing but the path of a hook, of any installation.
pub(super) fn bare(command: &str) -> Option<(HookEvent, PathBuf)> {
    let path = PathBuf::from(unquoted(command.trim()));
    let event = HookEvent::from_name(path.file_name()?.to_str()?)?;
    (path.is_absolute() && path.parent()?.ends_with("playbook/bin")).then_some((event, path))
}

pub(crate) fn is_of_stand_in(event: HookEvent, command: &str) -> bool {
    let answers = format!("/playbook hook {}", event.name());
    has_path(&unquoted(command), &answers)
}

/// The client's limit for the gate, in seconds: more than the 20 that a model has.
const GATE_PATIENCE: u64 = 30;

/// Returns the entry of a switch's hook: the gate's, or the guard's.
pub(super) fn switch_entry(event: HookEvent, command: &str) -> Value {
    if event == HookEvent::PreToolUse {
        return json!({"matcher": "Bash", "hooks": [{"type": "command", "command": command}]});
    }
    json!({"hooks": [{"type": "command", "command": command, "timeout": GATE_PATIENCE}]})
}

/// Returns `true` for a command of [`Hooks::switch_command`], of any installation.
pub(crate) fn is_of_switch(event: HookEvent, command: &str) -> bool {
    let command = unquoted(command);
    let name = event.name();
    is_of_stand_in(event, &command)
        || command.rsplit_once(" exec ").is_some_and(|(_, path)| {
            path.ends_with(&format!("/{name}"))
                && command == format!("[ ! -x {path} ] || exec {path}")
        })
}

pub(super) fn is_earlier(command: &str) -> bool {
    let command = unquoted(command);
    EARLIER.iter().any(|path| has_path(&command, path))
}

fn has_path(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(at, _)| {
        let next = text[at + path.len()..].chars().next();
        next.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/'))
    })
}

fn unquoted(text: &str) -> String {
    text.replace(['\'', '"', '\\'], "")
}

pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+@%-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn hooks() -> Hooks {
        let (client, home) = (Path::new("/home/u/.claude"), Path::new("/home/u"));
        Hooks::of_client(client, Some(home), Spelling::Path)
    }

    #[rstest]
    #[case::path("/home/u/.claude/playbook/bin/session-end", true)]
    #[case::tilde("~/.claude/playbook/bin/session-end", true)]
    #[case::variable("PLAYBOOK_DEBUG=/d \"$HOME\"/.claude/playbook/bin/session-end", true)]
    #[case::config_dir("$CLAUDE_CONFIG_DIR/playbook/bin/session-end;", true)]
    #[case::portable(&Hooks { spelling: Spelling::Portable, ..hooks() }.command(HookEvent::SessionEnd), true)]
    #[case::stand_in("'/opt/my programs/playbook' hook session-end", true)]
    #[case::longer_name("/home/u/.claude/playbook/bin/session-ending", false)]
    #[case::other_file("/home/u/.claude/playbook/bin/session-end.sh", false)]
    fn our_hooks_are_known_however_they_are_spelled(#[case] command: &str, #[case] ours: bool) {
        let expected = ours.then_some(HookEvent::SessionEnd);
        assert_eq!(hooks().named_in(command), expected);
    }

    #[rstest]
    #[case::path("/home/u/.claude/playbook/bin/session-end", true)]
    #[case::variable(" \"$HOME\"/.claude/playbook/bin/session-end", true)]
    #[case::portable(&Hooks { spelling: Spelling::Portable, ..hooks() }.command(HookEvent::SessionEnd), true)]
    #[case::argument("~/.claude/playbook/bin/session-end --wait", false)]
    #[case::behind("~/.claude/playbook/bin/session-end; id", false)]
    fn a_command_that_does_more_is_told_from_one_that_only_runs_the_hook(
        #[case] command: &str,
        #[case] bare: bool,
    ) {
        assert_eq!(hooks().is_bare(HookEvent::SessionEnd, command), bare);
    }

    #[test]
    fn a_folder_with_a_space_and_a_quote_is_one_word_and_known_again() {
        let hooks = Hooks::of_client(Path::new("/home/o'neil x/c"), None, Spelling::Path);
        let command = hooks.command(HookEvent::SessionStart);
        assert_eq!(command, "'/home/o'\\''neil x/c/playbook/bin/session-start'");
        assert_eq!(hooks.named_in(&command), Some(HookEvent::SessionStart));
    }

    #[rstest]
    #[case::python("python3 ~/.claude/hooks/session_end.py", true)]
    #[case::project("uv run \"$CLAUDE_PROJECT_DIR/.claude/hooks/precompact.py\"", true)]
    #[case::backup("cat /x/.claude/hooks/session_end.py.bak", false)]
    fn the_earlier_version_is_known(#[case] command: &str, #[case] earlier: bool) {
        assert_eq!(is_earlier(command), earlier);
    }
}
