//! The hook of the client's PreCompact event.

fn main() {
    playbook_hooks::main(playbook_hooks::HookEvent::PreCompact);
}
