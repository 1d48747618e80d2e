//! The settings whose value is one of a few words.

use toml::de::DeValue;

use super::value::{Setting, choices};

choices! {
    BackendChoice {
        Auto = "auto",
        Anthropic = "anthropic",
        ClaudeCli = "claude-cli",
        Openai = "openai",
        Rules = "rules",
        Fixtures = "fixtures",
    }

    /// The process in which a hook's work is done: a worker or the hook itself.
    WorkerMode {
        Detached = "detached",
        Inline = "inline",
    }

    /// The decision about the curator's operations: made by the program or by the user.
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

    /// The reasons of spec/4 to reflect on a session, and our own.
    Trigger {
        ToolFailure = "tool_failure",
        LowConfidence = "low_confidence",
        HighRisk = "high_risk",
        GoalDrift = "goal_drift",
        FinalStep = "final_step",
        UserCritical = "user_critical",
        Periodic = "periodic",
        Citations = "citations",
        Rejections = "rejections",
        Activity = "activity",
    }

    Notices {
        All = "all",
        Quiet = "quiet",
    }

    VotesIn {
        File = "file",
        Local = "local",
    }

    /// The scope of the memory's reflection, the cheapest first.
    MemoryMode {
        Lite = "lite",
        Full = "full",
    }
}
