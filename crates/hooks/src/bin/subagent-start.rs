//! The hook of the client's `SubagentStart` event.

fn main() {
    playbook_hooks::main(playbook_hooks::HookEvent::SubagentStart);
}
