//! The hook of the client's `PreToolUse` event.

fn main() {
    playbook_hooks::main(playbook_hooks::HookEvent::PreToolUse);
}
