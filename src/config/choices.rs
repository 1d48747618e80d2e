//! Settings that are one of a few words.

use toml::de::DeValue;

use super::value::{Setting, choice};

choice! {
    /// Which backend answers prompts.
    BackendChoice {
        Auto = "auto",
        Anthropic = "anthropic",
        ClaudeCli = "claude-cli",
        Openai = "openai",
        Rules = "rules",
        Fixtures = "fixtures",
    }
}

choice! {
    /// How the work of a hook is done.
    WorkerMode {
        Detached = "detached",
        Inline = "inline",
    }
}

choice! {
    /// Who decides about what the curator asks for.
    Approval {
        Auto = "auto",
        Ask = "ask",
    }
}

choice! {
    /// What becomes of a turn that does not pass the gate; in the order of what it does.
    GateMode {
        Off = "off",
        Tell = "tell",
        Block = "block",
    }
}

choice! {
    /// What the start of a session says to the user.
    Notices {
        All = "all",
        Quiet = "quiet",
    }
}

choice! {
    /// Where new votes on key points go.
    VotesIn {
        File = "file",
        Local = "local",
    }
}

choice! {
    /// What the memory reflects on; in the order of what it costs.
    MemoryMode {
        Lite = "lite",
        Full = "full",
    }
}
