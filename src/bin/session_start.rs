//! The hook of the client's SessionStart event.

fn main() {
    playbook::hook::main(
        playbook::hook::HookEvent::SessionStart,
        std::env::args_os().skip(1),
    );
}
