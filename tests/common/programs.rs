//! The programs that the tests start. Cargo builds `playbook` for them; the hooks belong to another
//! package and are built here.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use super::hook::Hook;

/// Returns the folder of all programs, after building the hooks of this source with their fault
/// points.
pub(crate) fn folder() -> &'static Path {
    static BUILT: OnceLock<()> = OnceLock::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_playbook")).parent();
    let folder = folder.expect("a folder of programs");
    BUILT.get_or_init(|| build(folder));
    folder
}

/// Links all programs into another folder, as in an installation.
pub(crate) fn link_into(bin: &Path) {
    std::fs::create_dir_all(bin).expect("a folder");
    for name in Hook::ALL.map(Hook::name).into_iter().chain(["playbook"]) {
        std::os::unix::fs::symlink(folder().join(name), bin.join(name)).expect("a link");
    }
}

/// Builds the hooks' package alone, as it is shipped; this is quick if they are up to date.
fn build(folder: &Path) {
    let profile = folder.file_name().and_then(|name| name.to_str());
    let profile = match profile.expect("the folder of a profile") {
        "debug" => "dev",
        name => name,
    };
    let mut cargo = Command::new(env!("CARGO"));
    // With cargo's variables for this package, build scripts of others would run again.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let of_the_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "OUT_DIR"];
        if of_the_package.iter().any(|of| name.starts_with(of)) {
            cargo.env_remove(&*name);
        }
    }
    let built = cargo
        .args(["build", "--quiet", "--locked", "--bins"])
        .args(["--package", "playbook-hooks"])
        .args(["--profile", profile, "--target-dir"])
        .arg(folder.parent().expect("the target folder"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    let told = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "the hooks cannot be built:\n{told}");
}
