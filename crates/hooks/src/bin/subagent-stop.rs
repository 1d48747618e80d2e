//! The hook of the client's SubagentStop event.

fn main() {
    playbook_hooks::main(playbook_hooks::HookEvent::SubagentStop);
}
