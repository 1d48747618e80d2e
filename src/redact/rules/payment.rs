//! Where money moves.

use crate::redact::rule::{Find, rules};

rules! {
    "stripe-key" ["sk_live_" "sk_test_" "rk_live_" "rk_test_" "sk_org_"] Find::Pattern("[sr]k_[a-z]{3,4}_[A-Za-z0-9_]{16,}");
        finds ["«sk_l¦ive_JYwY4azJ5oAPmg7QsnuYP0Mq»" "«rk_t¦est_51HF1nyC6tDZsjUrpcjqUdkAevp2egVliYP0oyv3YWtEZhRnqr0UEoziqO7nwQQ61e2uWhlekOJE7whXhNhK0XPrLJ0q»"] leaves ["sk_test_xxxxxxxxxxxxxxxxxxxxxxxx" "sk_test_..."]
    "stripe-webhook-secret" ["whsec_"] Find::Pattern(r"\bwhsec_[A-Za-z0-9+/=]{24,}");
        finds ["«whs¦ec_dLo8025p36CUYX130bHaJsQYGXWqzhhT»"] leaves ["whsec_x"]
    "square-token" ["sq0atp-" "sq0csp-" "sq0idp-"] Find::Pattern(r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}");
        finds ["«sq0¦atp-cqFRZScsHcoeuzLwhJArIX»" "«sq0¦csp-fhqPnXhVzYQBjMAkQDlLTtiR6UQPQ1cFhof2FMIb9yS»"] leaves ["sq0idp-x"]
    "square-access-token" ["EAAA"] Find::Pattern(r"\bEAAA[A-Za-z0-9_-]{58,}");
        finds ["«EA¦AAnxX6CtcYXCtwSabpmzQWPY2lI7nM2tlXEqNV3EFwcYZhaf75pwyBGlkd7ds1»"] leaves ["EAAA"]
    "paypal-token" ["access_token$"] Find::Pattern(r"access_token\$[a-z]{7,12}\$[a-z0-9]{16}\$[a-f0-9]{32}");
        finds ["«access_token$pro¦duction$104le2z5i6aomz8c$9ace327203f26e16af1d4d14aa605882»"] leaves ["access_token$x"]
    "paypal-access-token" ["A21AA"] Find::Pattern(r"\bA21AA[A-Za-z0-9_-]{50,}");
        finds ["«A2¦1AAUYQq2TjZg4arDTTP3Yzb2iQTMIDNipX7dqftlJX7zVMd6tjqDuUAiEa8k0UCROycSMtNzlndZ7ucN4NDLb2oHDI34E»"] leaves ["A21AA"]
    "shopify-token" ["shpat_" "shpca_" "shppa_" "shpss_" "shptka_"] Find::Pattern(r"\bshp[a-z]{2,3}_[a-fA-F0-9]{32}");
        finds ["«shp¦at_f505f7965463e3621d78ed41415e97a4»"] leaves ["shpat_x"]
    "razorpay-key" ["rzp_live_" "rzp_test_"] Find::Pattern(r"\brzp_[a-z]{4}_[A-Za-z0-9]{14,}");
        finds ["«rzp_¦live_T6QUj1NJ8zqOZC»"] leaves ["rzp_live_x"]
    "plaid-token" ["access-production-" "access-sandbox-" "access-development-"] Find::Pattern(r"\baccess-[a-z]{7,11}-[0-9a-f-]{36}");
        finds ["«access-pro¦duction-ac49726e-1234-4abc-8def-45dac31b3629»"] leaves ["access-sandbox-x"]
    "flutterwave-key" ["FLWSECK"] Find::Pattern(r"\bFLWSECK[A-Z_]*-[A-Za-z0-9-]{12,}");
        finds ["«FLWSEC¦K_TEST-fb0f26f89264f879130b64915abef7ab-X»"] leaves ["FLWSECK"]
    "mollie-key" ["live_" "test_"] Find::Pattern(r"\b[a-z]{4}_[A-Za-z0-9]{30}\b");
        finds ["«li¦ve_LHy1TzEujdGvjHyKmZdCCCglGapsIa»"] leaves ["live_reload_is_on" "test_a_very_long_function_name_here"]
    "paddle-key" ["pdl_live_" "pdl_sdbx_"] Find::Pattern(r"\bpdl_[a-z]{4}_apikey_[A-Za-z0-9_]{30,}");
        finds ["«pdl_live¦_apikey_01wexkxkfva4tjqggphj5r88hu_dPKkiCgQX8MSZjNI6Pu3ig_P4G»"] leaves ["pdl_live_x"]
    "shippo-token" ["shippo_"] Find::Pattern(r"\bshippo_[a-z]{4}_[a-f0-9]{32,}");
        finds ["«shi¦ppo_live_9988c79fc35526f7eaed46725a2a7b860dcd6c8a»"] leaves ["shippo_live_x" "shippo_test_token" "shippo_client"]
    "easypost-key" ["EZAK" "EZTK"] Find::Pattern(r"\bEZ[AT]K[A-Za-z0-9]{54}");
        finds ["«EZ¦AKWdFrK9xiRGHOY32nfr5pyzPCB9t2039bicBTW5ZE9LFaez7770H2DC»"] leaves ["EZAK" "EZTK_TEST" "EZAKxxxx"]
    "duffel-token" ["duffel_"] Find::Pattern(r"\bduffel_[a-z]{4}_[A-Za-z0-9_-]{40,}");
        finds ["«duf¦fel_test_pYgojjHRg80USP2W5DfJXcaYioK6cPTt9iOqHOBSWhg»"] leaves ["duffel_test_x" "duffel_live_<token>" "duffel_api"]
    "extended-private-key" ["xprv" "yprv" "zprv" "tprv"] Find::Pattern(r"\b[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,}");
        finds ["root: «xpr¦v5LaeDRHFsf11bLWJMivyGXaGcG2TniL42DYykiT6HFjUQFY3mNnTQkSD1tKpwZ5EYDLruDFWFHqyK7gYgCzFYTj4fAS4E2fAT4n4CSVznyM»"] leaves ["xprv" "xprv..." "xprvKeyFromSeed"]
    "nostr-key" ["nsec1"] Find::Pattern(r"\bnsec1[02-9ac-hj-np-z]{58}\b");
        finds ["--sec «nse¦c186cpedx3msrpwc706k6qu8fsqmv64yerwenry2uht3s3x54je5prkp3jnk»"] leaves ["nsec1" "nsec1..." "10nsec1"]
}
