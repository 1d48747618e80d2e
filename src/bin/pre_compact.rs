//! The hook of the client's PreCompact event.

fn main() {
    playbook::hook::main(
        playbook::hook::HookEvent::PreCompact,
        std::env::args_os().skip(1),
    );
}
