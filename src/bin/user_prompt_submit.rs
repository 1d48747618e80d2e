//! The hook of the client's UserPromptSubmit event.

fn main() {
    playbook::hook::main(
        playbook::hook::HookEvent::UserPromptSubmit,
        std::env::args_os().skip(1),
    );
}
