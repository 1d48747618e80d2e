//! Removed settings. A file that still has one is read all the same.

/// The removed settings, each with what happens instead.
const GONE: &str = include_str!("gone.txt");

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
    let rows = GONE.lines().filter_map(|line| line.split_once(": "));
    rows.flat_map(|(names, instead)| names.split(", ").map(move |name| (name, instead)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KEYS;

    #[test]
    fn what_is_gone_is_no_setting_and_its_section_is_one() {
        for (name, _) in all() {
            assert!(KEYS.iter().all(|key| key.name != name), "{name}");
            let (section, _) = name.split_once('.').unwrap();
            assert!(KEYS.iter().any(|key| key.section() == section), "{name}");
        }
    }
}
