//! The settings whose value is one of a few words.

use playbook_core::worded;

worded! {
    pub enum BackendChoice {
        Auto = "auto",
        Anthropic = "anthropic",
        ClaudeCli = "claude-cli",
        Openai = "openai",
        Rules = "rules",
        Fixtures = "fixtures",
    }
}

worded! {
    pub enum WorkerMode {
        Detached = "detached",
        Inline = "inline",
    }
}

worded! {
    pub enum Approval {
        Auto = "auto",
        Ask = "ask",
    }
}

worded! {
    /// The treatment of a turn that does not pass the gate, the mildest first.
    pub enum GateMode {
        Off = "off",
        Tell = "tell",
        Block = "block",
    }
}

worded! {
    /// The reasons of spec/4 to reflect on a session, and our own.
    pub enum Trigger {
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
}

worded! {
    pub enum VotesIn {
        File = "file",
        Local = "local",
    }
}

worded! {
    /// The scope of the memory's reflection, the cheapest first.
    pub enum MemoryMode {
        Lite = "lite",
        Full = "full",
    }
}
