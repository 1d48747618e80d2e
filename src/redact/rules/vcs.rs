//! Where code is kept and issues are tracked.

use crate::redact::rule::{Find, rules};

rules! {
    "github-token" ["ghp_" "gho_" "ghu_" "ghs_" "ghr_"] Find::Pattern("gh[pousr]_[A-Za-z0-9_]{30,}");
        finds ["a «gh¦p_YrYmx5OzcSsAUQRbKl60w4yCS1Jz43kJR2zz» b" "«gh¦o_jrx6fWiFijfzYMywu7OTmDrZdtN7QlwAyYdi»" "«gh¦u_FizWxEOZlh5Q41hUeglMMNMFLzsSXkkWZxh2»" "«gh¦s_JPC7fX3GXodyFJUmBWRhmBGCN33kflkNQ7xR»" "«gh¦r_bG8cxl0m9IQ1CVMLYFBDCjX3tdf8265E3moZ7Ht9FQUkOpF96qgZLc2KX9PuOLC8Q8WD5j5B16DQ»"] leaves ["ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" "ghp_short"]
    "github-pat" ["github_pat_"] Find::Pattern("github_pat_[A-Za-z0-9_]{30,}");
        finds ["«githu¦b_pat_11ygtvpweDGJUwA8MrvTll_cwpGeUXQYHXeYKcPzJ6r5Adt6MzCK71OE7n3X4vIxc9G77Y1BoEcVU0OeHo»"] leaves ["github_pat_xxxx"]
    "gitlab-token" ["glpat-" "gloas-" "gldt-" "glrt-" "glcbt-" "glptt-" "glft-" "glimt-" "glagent-" "glsoat-" "glffct-"] Find::Pattern("gl[a-z]{2,5}-[A-Za-z0-9_.-]{18,}");
        finds ["«glp¦at-XJVOvDLtcj4Jc3JRaaPJ»" "«gl¦rt-BRk1SVzKQfGUd5eHJgDo»" "«glp¦tt-6f9386bd8773c9d51940ea4e095bd1d685457562»"] leaves ["glpat-xxxxxxxxxxxxxxxxxxxx"]
    "gitlab-runner-token" ["GR1348941"] Find::Pattern("GR1348941[A-Za-z0-9_-]{20,}");
        finds ["«GR13¦489411F4mufwRLNInqtozMlTM»"] leaves ["GR1348941"]
    "bitbucket-token" ["ATBB"] Find::Pattern(r"\bATBB[A-Za-z0-9]{24,}");
        finds ["«AT¦BBAEsuha1u6DhzWVS1o38fFAa6weI3qRPL»"] leaves ["ATBB"]
    "atlassian-token" ["ATATT3" "ATCTT3"] Find::Pattern(r"\bAT[AC]TT3[A-Za-z0-9_=-]{50,}");
        finds ["«ATA¦TT3k1XCKsXkm2AWh7c9hEHWtP0136Uxt3Ykw5DS3G9ufcgBhziIBP9FOnLKGTQj09BBG7svMQB1mokdhPscGW3GtLCRHdflgwRHHHZ4IilO3OJqkdvZK80B8oYsam1mhCZ8DxXVZP1Vtb1kz6U0Z2jDUhJ9r7WP3bqoAXGhLEUbMgqBOIaZx7do=ABCDEF12»"] leaves ["ATATT3"]
    "sourcegraph-token" ["sgp_" "slk_"] Find::Pattern(r"\bs[gl][pk]_[a-f0-9_]{40,}");
        finds ["«sg¦p_1118813830d71939b53182e4e349d98729e7c6be»"] leaves ["sgp_x"]
    "linear-key" ["lin_api_" "lin_oauth_"] Find::Pattern(r"\blin_[a-z]{3,5}_[A-Za-z0-9]{32,}");
        finds ["«lin_¦api_5jTnee0TBPVOMgiYlZA7WK38PUjUfRS4NSDxBKjE»"] leaves ["lin_api_x"]
}
