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
    "dropbox-token" ["sl.u."] Find::Pattern(r"\bsl\.u\.[A-Za-z0-9_-]{60,}");
        finds ["«s¦l.u.rQ560RKpv8bKJbfgIzKU56XBi78rGBrftmhzE9f1Up26w7ttG8z4dH4uxIlt078HoOLpZozC51of61»"] leaves ["sl.u.x" "sl.utils"]
    "ethereum-key" ["accounts: [" "accounts\": [" "accounts:["] Find::Pattern("accounts\"?: ?\\[ ?[\"']0x([0-9a-fA-F]{64})");
        finds ["accounts: [\"0x«cb9dcbdd0e167139711630e3a6a5a8d53a0135748e4347e9069cd5d3a622f76b»\"]"] leaves ["accounts: []" "accounts: [process.env.KEY]"]
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
    "brave-key" ["BSA"] Find::Pattern(r"\bBSA[A-Za-z0-9_-]{28}\b");
        finds ["«BS¦AgyFWZY9Zmti18c6EudM7Oyf5TNS0»"] leaves ["BSA" "BSAFE" "BSA-x"]
    "e2b-key" ["e2b_"] Find::Pattern(r"\be2b_[a-f0-9]{40}");
        finds ["«e¦2b_57c6f561c5cb347611a3ce9d97dcbee500fe7ee5»"] leaves ["e2b_x" "e2b_code_interpreter" "e2b_api"]
    "adobe-secret" ["p8e-"] Find::Pattern(r"\bp8e-[A-Za-z0-9_-]{30,}");
        finds ["«p8¦e-4zgeiw1xf266ccifu6fd6yibehmi5sko»"] leaves ["p8e-x" "p8e-" "p8e-your-secret"]
    "snyk-token" ["snyk_uat."] Find::Pattern(r"\bsnyk_uat\.[a-z0-9]{6,10}\.[A-Za-z0-9_.-]{30,}");
        finds ["«snyk_¦uat.6bf54074.CgeOj3QYrzZq9adP0J5wMPLCM7HUFpk5acdIbzlpkd6XgaNJQ8mjAmHMPGPP»"] leaves ["snyk_uat.x" "snyk_uat." "snyk_uat.<id>"]
    "stytch-secret" ["secret-live-" "secret-test-"] Find::Pattern(r"\bsecret-[a-z]{4}-[A-Za-z0-9_=-]{32,}");
        finds ["«secret-¦test-A0NlGtetOd4UYETIay2BV6DfVPClogqoPchv»"] leaves ["secret-test-x" "secret-live-rotation" "secret-test-your-secret-here"]
    "paseto" ["v2.local." "v3.local." "v4.local."] Find::Pattern(r"\bv[234]\.local\.[A-Za-z0-9_-]{40,}");
        finds ["«v4.lo¦cal.8kV6um4yvMpy62O6SQ1IEE1HSa2bB9UoK4tYnzNLeK6kjcbhgN7kwjSbbciSPOcSeVce2LWxm090I5Qe»"] leaves ["v4.local." "v2.local.x" "v4.localhost"]
    "digest-response" ["sponse=\""] Find::Pattern(r#"sponse="([0-9a-f]{32,64})""#);
        finds ["Authorization: Digest username=\"m\", nonce=\"031b2f7d21dc1c6e\", response=\"«c376631129f34369aad80b891baf90d0»\""] leaves ["response=\"ok\"" "response=\"<hash>\"" "response=\"200\""]
    "otp-migration" ["-migration://"] Find::Pattern(r"-migration://offline\?data=([A-Za-z0-9%+/=]{20,})");
        finds ["otpauth-migration://offline?data=«0%2Bt%2FBHXgwETdIKnT30fK0skBaHmsWWdawFgFSY0l9FLw»"] leaves ["offline?data=1" "offline?data=<data>" "offline?data="]
    "minisign-key" ["secret key\n" "secret key\\n"] Find::Pattern("secret key[\\\\n\n]{1,2}([A-Za-z0-9+/]{60,}=*)");
        finds ["minisign encrypted secret key\n«RWQAA91GqK8ks0n8SoFkh8OXfFYSJYgOuwgz7z54VfB4PbxntqB5IGky4Oo8DiIMWSWMPcwLuHj31CQJVukDCSXqLoivDP4SpGmrtWT01NjUjpUuMHwkpu9mq9Ugk=»\n"] leaves ["secret key\nRWQAA" "public key\n9QgmyjjYtUtBrmgO6grn4yDcaz2YBSoGOsDbjqMVzaVp62BSKLVPA2oQUP44XPSL2oRlPh" "the secret key\nis kept"]
    "sonar-token" ["nar.login="] Find::Pattern(r"nar\.login=([A-Za-z0-9_-]{20,})");
        finds ["-Dsonar.login=«eda83d7c58dfe0d5a0cf318656b3e6f0bade65c3»"] leaves ["-Dsonar.login=admin" "-Dsonar.login=$TOKEN" "-Dsonar.login=your-sonar-token-here"]
}
