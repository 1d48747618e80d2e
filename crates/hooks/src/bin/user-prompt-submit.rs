//! The hook of the client's UserPromptSubmit event.

fn main() {
    playbook_hooks::main(playbook_hooks::HookEvent::UserPromptSubmit);
}
