//! Providers of models.

use crate::redact::rule::{Find, rules};

rules! {
    "anthropic-key" ["sk-ant-"] Find::Pattern("sk-ant-[A-Za-z0-9_-]{16,}");
        finds ["key «sk-ant¦-api03-AG8DfyyskNsvOFwKJ1QBbZnhHSk4HFqlNOPmxygt0D0PEmVGCNnxsL0TVFzwdl6LAU87ayaCFyPJugrKJzWxINM7OrVtEAA» end" "«sk-ant¦-oat01-Ay4eCfhxV6EwmoEM3oD2XyaFptWlKz9frxvfIQ1s7T5Dvd1yzrlKbY0oy83gTv9lip8oHE9yyzQw12OPMldjP4fk67r4tDZ»"] leaves ["sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx" "sk-ant-..."]
    "openai-key" ["sk-proj-" "sk-svcacct-" "sk-admin-" "sk-or-v1-" "sk-lf-" "sk-None-"] Find::Pattern("sk-[A-Za-z0-9]{2,8}-[A-Za-z0-9_-]{20,}");
        finds ["«sk-p¦roj-qyZyorx8V0YZ8FOpr1yVqm51byTATfmB8H4zeaamTdJViNFWZ2dnCSVFRLs4T3BlbkFJcaqizPHNroCY05LYRV9JXKOW40n459ZTfU94gymM219KZhAA2LG8PdkzqQvW»" "«sk-o¦r-v1-3c48d2ae89b9c1ffb013ce94e1af408461c58790dd2cfb8a5f1b461595919cb5»"] leaves ["sk-proj-..."]
    "huggingface-token" ["hf_"] Find::Pattern(r"\bhf_[A-Za-z0-9]{30,}");
        finds ["«h¦f_RT58eMnU7cZGrQXZUYy9eRHN76ncg1aoKx»"] leaves ["hf_hub_download"]
    "huggingface-token" ["api_org_"] Find::Pattern(r"\bapi_org_[A-Za-z0-9]{30,}");
        finds ["«api_¦org_5UCJRwieqj2qawERZXt6ZhzS2oHQcxACi0»"] leaves ["api_org_x"]
    "groq-key" ["gsk_"] Find::Pattern(r"\bgsk_[A-Za-z0-9]{40,}");
        finds ["«gs¦k_skTWm8XQP4E4jGwmr1a1ztH7TKpL9uovsHxZZ18yv1VZZfzVW3Lt»"] leaves ["gsk_x"]
    "replicate-token" ["r8_"] Find::Pattern(r"\br8_[A-Za-z0-9]{30,}");
        finds ["«r¦8_3Jivhaq75SINVrE7aEgA2kqPkbZNkuRy2ry21»"] leaves ["r8_x"]
    "perplexity-key" ["pplx-"] Find::Pattern(r"\bpplx-[A-Za-z0-9]{40,}");
        finds ["«pp¦lx-IJOq2wPgH5S5Cv07pY4SIpt4tYn5RtExmm0gRmN5OTGXrk4z»"] leaves ["pplx-70b-online"]
    "xai-key" ["xai-"] Find::Pattern(r"\bxai-[A-Za-z0-9]{60,}");
        finds ["«xa¦i-FXBshEH19UNAdowIcRgDcljmzCCi0dHeOSo7V9VhkONjy0NS1zkitBOxLBzgRbXE9oRuFlHZYg9laOq3»"] leaves ["xai-grok"]
    "fireworks-key" ["fw_"] Find::Pattern(r"\bfw_[A-Za-z0-9]{22,}\b");
        finds ["«f¦w_4DzX9iVqQEpekIbdr4tndMVn»"] leaves ["fw_update"]
    "together-key" ["tgp_v1_"] Find::Pattern(r"\btgp_v1_[A-Za-z0-9_-]{30,}");
        finds ["«tgp¦_v1_MHZKSwMEv5hBcxMytvMxQMjws1Svy8B6vunuBEWNaA1»"] leaves ["tgp_v1_x"]
    "nvidia-key" ["nvapi-"] Find::Pattern(r"\bnvapi-[A-Za-z0-9_-]{50,}");
        finds ["«nva¦pi-3puvoiQjWoKkoUWTGCvLsWa5BztdxGVG2JXx4efF6VyUe50I2GhkQgYNWQqB86Mt»"] leaves ["nvapi-x"]
    "elevenlabs-key" ["sk_"] Find::Pattern(r"\bsk_[a-f0-9]{48}\b");
        finds ["«s¦k_8dc5d44036c002e162aaef6076bc3346eee21f5c7ff43fc2»"] leaves ["sk_buff" "sk_test"]
    "langsmith-key" ["lsv2_"] Find::Pattern(r"\blsv2_[a-z]{2}_[A-Za-z0-9_]{32,}");
        finds ["«lsv2¦_pt_770c7173601e1c771d814e0f33545a3c_0202219ec0»"] leaves ["lsv2_x"]
    "pinecone-key" ["pcsk_"] Find::Pattern(r"\bpcsk_[A-Za-z0-9_]{40,}");
        finds ["«pc¦sk_jvNBL1_gz1dNHtpvNqbHnFihWrGFuP242GFXRTTwSJfmkVxMAFECHrsxmNhYda7nkpN6wu»"] leaves ["pcsk_x"]
    "voyage-key" ["pa-"] Find::Pattern(r"\bpa-[A-Za-z0-9_-]{43}\b");
        finds ["«p¦a-wyF6B1DtuBqrI26bz4DLn8ScQtIQyT2WBUYGKcK8pp7»"] leaves ["pa-rser"]
    "cerebras-key" ["csk-"] Find::Pattern(r"\bcsk-[a-z0-9]{40,}");
        finds ["«cs¦k-4urpa08bvo8wvapvf8kgcu1vxe8h3kn7d8p07fnnsaq1hl2k»"] leaves ["csk-x"]
    "tavily-key" ["tvly-"] Find::Pattern(r"\btvly-[A-Za-z0-9-]{20,}");
        finds ["«tv¦ly-s8vSwZPVQ9BFs3NpQn9ppvlJpEmEsZTE»"] leaves ["tvly-x"]
    "firecrawl-key" ["fc-"] Find::Pattern(r"\bfc-[a-f0-9]{32}\b");
        finds ["«f¦c-2202b243f8e5389cd5e3eaa60c736ba8»"] leaves ["fc-cache"]
    "jina-key" ["jina_"] Find::Pattern(r"\bjina_[A-Za-z0-9_-]{50,}");
        finds ["«ji¦na_0622598514f31c827129084bb54b8bb5hqH3P6yKSwY7wBOpM4OwY2XPp5eQ»"] leaves ["jina_embeddings"]
}
