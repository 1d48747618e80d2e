//! Settings that are one of a few words.

use toml::de::DeValue;

use super::value::{Setting, choices};

choices! {
    /// Which backend answers prompts.
    BackendChoice {
        Auto = "auto",
        Anthropic = "anthropic",
        ClaudeCli = "claude-cli",
        Openai = "openai",
        Rules = "rules",
        Fixtures = "fixtures",
    }

    /// How the work of a hook is done.
    WorkerMode {
        Detached = "detached",
        Inline = "inline",
    }

    /// Who decides about what the curator asks for.
    Approval {
        Auto = "auto",
        Ask = "ask",
    }

    /// What becomes of a turn that does not pass the gate; in the order of what it does.
    GateMode {
        Off = "off",
        Tell = "tell",
        Block = "block",
    }

    /// What the start of a session says to the user.
    Notices {
        All = "all",
        Quiet = "quiet",
    }

    /// Where new votes on key points go.
    VotesIn {
        File = "file",
        Local = "local",
    }

    /// What the memory reflects on; in the order of what it costs.
    MemoryMode {
        Lite = "lite",
        Full = "full",
    }
}
