//! The hook of the client's PostToolUseFailure event.

fn main() {
    playbook_hooks::main(
        playbook_hooks::HookEvent::PostToolUseFailure,
        std::env::args_os().skip(1),
    );
}
