//! Removed settings. A file that still has one is read all the same.

/// The removed settings, each with what happens instead.
const GONE: &str = "\
anthropic.max_tokens: an answer may have 8,192 tokens
anthropic.reflector_model: `anthropic.model` is the reflector's, `anthropic.curator_model` the curator's
claude_cli.reflector_model: `claude_cli.model` is the reflector's, `claude_cli.curator_model` the curator's
claude_cli.timeout_ms: `retry.timeout_ms` is the longest time of a call, 120,000 where it is unset
hooks.on_prompt = \"auto\": key points are given at prompts unless it is `false`
memory.unused_days: what was not used for 180 days leaves the memory
openai.reflector_model: `openai.model` is the reflector's, `openai.curator_model` the curator's
openai.timeout_ms: `retry.timeout_ms` is the longest time of a call, 300,000 where it is unset
playbook.dedup_threshold: a key point is added only if none has exactly its text
playbook.snapshots: the last 20 snapshots of a playbook are kept
retry.park_ms: the first pause of a failing backend is one minute
triggers.corrections: corrections are found when the session is reflected on
triggers.rejections: one call that the user refused or stopped is enough";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GoneSetting {
    pub(crate) name: &'static str,
    /// The file and line, what happens instead, and what to do.
    pub(crate) text: String,
}

/// Returns the removed setting of this name, or of this name and value, with what happens instead.
pub(super) fn find(name: &str, value: Option<&str>) -> Option<(&'static str, &'static str)> {
    let with_value = value.map(|value| format!("{name} = \"{value}\""));
    all().find(|(gone, _)| *gone == name || Some(*gone) == with_value.as_deref())
}

fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    GONE.lines().filter_map(|line| line.split_once(": "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KEYS;

    #[test]
    fn what_is_gone_is_no_setting_and_its_section_is_one() {
        for (name, _) in all() {
            assert!(KEYS.iter().all(|key| key.name() != name), "{name}");
            let section = name.split_once('.').map(|(section, _)| section);
            assert!(KEYS.iter().any(|key| key.parts().0 == section), "{name}");
        }
    }
}
