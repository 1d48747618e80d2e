//! Settings that are one of a few words.

use toml::de::DeValue;

use super::value::{Setting, choices};

choices! {
    /// The backend that answers prompts.
    BackendChoice {
        Auto = "auto",
        Anthropic = "anthropic",
        ClaudeCli = "claude-cli",
        Openai = "openai",
        Rules = "rules",
        Fixtures = "fixtures",
    }

    /// The way in which the work of a hook is done.
    WorkerMode {
        Detached = "detached",
        Inline = "inline",
    }

    /// The one who decides about the curator's operations.
    Approval {
        Auto = "auto",
        Ask = "ask",
    }

    /// The treatment of a turn that does not pass the gate, the mildest first.
    GateMode {
        Off = "off",
        Tell = "tell",
        Block = "block",
    }

    /// The news that the start of a session gives the user.
    Notices {
        All = "all",
        Quiet = "quiet",
    }

    /// The place of new votes on key points.
    VotesIn {
        File = "file",
        Local = "local",
    }

    /// The things that the memory reflects on, the cheapest first.
    MemoryMode {
        Lite = "lite",
        Full = "full",
    }
}
