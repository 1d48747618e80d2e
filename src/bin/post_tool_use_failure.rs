//! The hook of the client's PostToolUseFailure event.

fn main() {
    playbook::hook::main(
        playbook::hook::HookEvent::PostToolUseFailure,
        std::env::args_os().skip(1),
    );
}
