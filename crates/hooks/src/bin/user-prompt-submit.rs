//! The hook of the client's UserPromptSubmit event.

fn main() {
    playbook_hooks::main(
        playbook_hooks::HookEvent::UserPromptSubmit,
        std::env::args_os().skip(1),
    );
}
