//! The hook of the client's SessionEnd event.

fn main() {
    playbook::hook::main(
        playbook::hook::HookEvent::SessionEnd,
        std::env::args_os().skip(1),
    );
}
