//! The hook of the client's PostToolUseFailure event.

fn main() {
    playbook_hooks::main(playbook_hooks::HookEvent::PostToolUseFailure);
}
