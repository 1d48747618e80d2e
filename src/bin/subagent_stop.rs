//! The hook of the client's SubagentStop event.

fn main() {
    playbook::hook::main(
        playbook::hook::HookEvent::SubagentStop,
        std::env::args_os().skip(1),
    );
}
