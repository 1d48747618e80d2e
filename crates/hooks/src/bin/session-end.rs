//! The hook of the client's SessionEnd event.

fn main() {
    playbook_hooks::main(playbook_hooks::HookEvent::SessionEnd);
}
