//! The command line: `playbook`. Hooks are dispatched before anything else is set up.

use std::process::ExitCode;

use playbook::hook::HookEvent;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().as_deref() == Some("hook".as_ref()) {
        let name = args.next().unwrap_or_default();
        if let Some(event) = name.to_str().and_then(HookEvent::from_name) {
            playbook::cli::hook(event, args);
        }
        // A missing event, or one of a later version, is ignored: hooks never fail.
        if !name.to_string_lossy().starts_with('-') {
            return ExitCode::SUCCESS;
        }
    }
    playbook::cli::main()
}
