//! The hook of the client's SessionStart event.

fn main() {
    playbook_hooks::main(playbook_hooks::HookEvent::SessionStart);
}
