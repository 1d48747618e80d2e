//! Promise: every file is at the path that docs/files.md names.

use crate::common::prelude::*;

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/files.md")).unwrap()
}

/// Returns the folder of settings or state below the home folder, as documented.
fn documented(name: &str) -> String {
    let text = document();
    let intro = text.split_once("\n## ").unwrap().0;
    let rest = if cfg!(target_os = "macos") {
        intro.split_once("On macOS both are `~/").unwrap().1
    } else {
        let is = format!("`{name}` is `~/");
        intro.split_once(&is).unwrap().1
    };
    rest.split_once('`').unwrap().0.to_owned()
}

/// Checks that settings and spool are in these folders below the home folder.
#[track_caller]
fn are_in(env: &mut TestEnv, config: &str, state: &str) {
    env.unset("PLAYBOOK_CONFIG_DIR");
    env.unset("PLAYBOOK_STATE_DIR");
    let config = env.home().join(config).join("config.toml");
    let shown = env.cli(&["config", "path"]).ok();
    assert_eq!(shown.trim(), config.to_str().unwrap());
    env.end_citing("s1");
    let spool = env.home().join(state).join("spool");
    assert_eq!(fs::read_dir(spool).unwrap().count(), 1);
}

#[rstest]
#[case::usual("XDG_DATA_HOME", "")]
#[case::empty_counts_as_unset("XDG_CONFIG_HOME", "")]
#[case::a_relative_one_does_not_count("XDG_STATE_HOME", "state")]
fn settings_and_state_are_in_the_folders_that_the_document_names(
    #[case] variable: &str,
    #[case] value: &str,
) {
    let mut env = TestEnv::without_worker();
    env.set(variable, value);
    are_in(&mut env, &documented("<config>"), &documented("<state>"));
}

#[test]
#[cfg(not(target_os = "macos"))]
fn an_absolute_folder_of_the_system_counts() {
    let mut env = TestEnv::without_worker();
    env.set("XDG_CONFIG_HOME", env.home().join("c"));
    env.set("XDG_STATE_HOME", env.home().join("s"));
    are_in(&mut env, "c/playbook", "s/playbook");
}

#[test]
fn every_file_has_its_row_in_the_document() {
    let env = TestEnv::without_worker();
    let (paths, project) = (env.paths(), env.project());
    let of_project = paths.project(&project);
    let files = [
        paths.config_file(),
        paths.playbook_file(paths.own()),
        paths.templates().join("*.txt"),
        paths.playbook_file(&project),
        playbook::paths::project_config_file(&project),
        paths.waiting_lock("HASH"),
        paths.log("playbook.log"),
        paths.log("reflections.jsonl"),
        paths.shown_points(&project),
        paths.gate(&project),
        paths.corrections(&project),
        paths.trust_record(&project),
        paths.freshness(&project),
        paths.usage(&project),
        paths.learned_news(&project),
        paths.prepared_context(&project),
        paths.prepared_settings(&project),
        paths.snapshots(&project),
    ];
    let named = named_paths();
    let in_state = [paths.state_files(), paths.state_folders()].concat();
    for file in files.iter().chain(&in_state) {
        let shown = file.to_str().unwrap();
        let shown = shown
            .replace(of_project.to_str().unwrap(), "<state>/projects/*")
            .replace(project.to_str().unwrap(), "<project>")
            .replace(paths.own().to_str().unwrap(), "<config>")
            .replace(paths.state().to_str().unwrap(), "<state>");
        let inside = format!("{shown}/");
        let is_named = |path: &String| *path == shown || path.starts_with(&inside);
        assert!(named.iter().any(is_named), "docs/files.md lacks {shown}");
    }
}

/// Returns the paths that the document names; a bare name is in the folder of the one before it.
fn named_paths() -> BTreeSet<String> {
    let text = document();
    let mut folder = String::new();
    let mut named = BTreeSet::new();
    for path in text.split('`').skip(1).step_by(2) {
        if path.starts_with('<') {
            let end = path.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
            path[..end].clone_into(&mut folder);
            named.insert(path.to_owned());
        } else {
            named.insert(format!("{folder}{path}"));
        }
    }
    named
}
