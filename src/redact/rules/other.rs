//! What belongs nowhere else.

use crate::redact::rule::{Find, rules};

rules! {
    "jwt" ["eyJ"] Find::Pattern(r"\<eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.?[A-Za-z0-9_-]*");
        finds ["a «eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.3ADGqY1XPSBecfHHdjtfFZHfe7L6ObcDHMERXceP7Vj» b" "x=«eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0.»"] leaves ["eyJ.x" "eyJhbGciOiJIUzI1NiJ9 alone is a header"]
    "figma-token" ["figd_"] Find::Pattern(r"\bfigd_[A-Za-z0-9_-]{38,}");
        finds ["«fi¦gd_DEgOevNkn3972YHD8bhDPhKg3UNGFeQd78dyuIEz»"] leaves ["figd_x"]
    "notion-token" ["ntn_"] Find::Pattern(r"\bntn_[A-Za-z0-9]{40,}");
        finds ["«nt¦n_coUGNRqyXEHteeQLgAopzg5BpervCipOxfqmIpXJYz48Uv»"] leaves ["ntn_x"]
    "notion-token" ["secret_"] Find::Pattern(r"\bsecret_[A-Za-z0-9]{43}");
        finds ["«sec¦ret_C22Xq5pLsOBmd5uFcN2CScI1MTvUlM8EZBrKAX8eOEe»"] leaves ["secret_x" "secret_manager_client"]
    "airtable-token" ["pat"] Find::Pattern(r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{60,}");
        finds ["«p¦atXg28vfrNn5NM1e.69e87a1d5ad0b57048efc48738d444a157d52ed8748d31d3092954d2c93e7fb6»"] leaves ["[pat-001]" "pattern"]
    "hubspot-token" ["pat-"] Find::Pattern(r"\bpat-[a-z]{2}\d-[0-9a-f-]{36}");
        finds ["«pat-¦eu1-d28c587d-1234-4abc-8def-b821f6a0efa5»"] leaves ["[pat-001]" "pat-12"]
    "facebook-token" ["EAA"] Find::Pattern(r"\bEAA[A-Za-z0-9]{80,}");
        finds ["«E¦AAGd9UyObF9NiaZ9I5vOXvtXYqfxXIOoN4RHCgI4ZnapEeld8VkiWWtwbULzesBrrxKZXH9oxS1jpNoPtl9xMXx2TpQK0Emd2q4xlCM5AmiaujRBEzA1LFsPALOLQ5tyPBBHF7FMJeVEhWUSave3QVD7F»"] leaves ["EAA"]
    "twitter-token" ["AAAAAAAAAAAAAAAAAAAA"] Find::Pattern(r"\bA{20}[A-Za-z0-9%]{50,}");
        finds ["«AAAAAAAAAA¦AAAAAAAAAAAAQKQFEnDsQIy3uVVgfJMm7jzDwJ1sbYStBOTzEzeGElJMytczdy0OnF0qekbIAM7lNG1odPwQgbhiVuDB»"] leaves ["AAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
    "dropbox-token" ["sl."] Find::Pattern(r"\bsl\.[A-Za-z0-9_-]{100,}");
        finds ["«s¦l.BOuBOgSNotsdnM5LNTq5QIKDOdxV0ttr9syzTZUhuTDxmUFSDUgPJL7o4PdBMUHygth3XrtehTxEGqEnYbeEQzqgOcU2e8taxtXicx7u7UnDGxdFo7RIC286jIEdrnCTqE2wqxVb»"] leaves ["sl.x"]
    "contentful-token" ["CFPAT-"] Find::Pattern(r"\bCFPAT-[A-Za-z0-9_-]{40,}");
        finds ["«CFP¦AT-hFJZsGt9vDCS6xqIhGsEUK0im1aKPLYwzbtVXH5PdjH»"] leaves ["CFPAT-x"]
    "typeform-token" ["tfp_"] Find::Pattern(r"\btfp_[A-Za-z0-9_.=-]{40,}");
        finds ["«tf¦p_FQ8v85u5YeO9LmzSwdZtMuyIvM69fG30gVzPBQge0sJ2nUULuv2VrMqaD0A»"] leaves ["tfp_x"]
    "posthog-key" ["phx_"] Find::Pattern(r"\bphx_[A-Za-z0-9]{30,}");
        finds ["«ph¦x_3OkWAywQmC5C8UO2U04R8XTXnWZYSH8OA6rawox4kw6»"] leaves ["phx_x"]
    "launchdarkly-key" ["sdk-" "mob-"] Find::Pattern(r"\b[sdkmob]{3}-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b");
        finds ["«sdk-¦715498ac-1234-4abc-8def-d947a1b5a41e»"] leaves ["sdk-version"]
    "mailersend-token" ["mlsn."] Find::Pattern(r"\b[AIamlsn]{4}\.[a-f0-9]{60,}");
        finds ["«ml¦sn.afe6ab7233a007b22f16ec9fc9fab9b32fed0766bb31ed04d259b3717bd5c2d6»"] leaves ["mlsn.x"]
}
