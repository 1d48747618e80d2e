//! Clouds and what runs in them.

use crate::redact::rule::{Find, rules};

rules! {
    "aws-key-id" ["AKIA" "ASIA" "ABIA" "ACCA"] Find::Pattern(r"\b[A-Z]{4}[A-Z0-9]{16}\b");
        finds ["id «AK¦IAUJZDEGXDNCF32EPF» ok" "\"AccessKeyId\": \"«AS¦IA3DHODZDOCIS2JHTL»\""] leaves ["AKIAxxxx" "akia is no key" "MAKIAGMXGEDN73U55XTPL"]
    "aws-bedrock-key" ["ABSK"] Find::Pattern(r"\bABSK[A-Za-z0-9+/]{60,}=*");
        finds ["«AB¦SKsxPFkThf4VucSmEHgaKwVJ7faC9qEwjky40UVsWmflzdE1F8ResqEDusTpkr0cStY4qWB8dWKnHfDNxSIvPZZ63fFKcZjR4I0b3jRtaWr4Y9OJ»"] leaves ["ABSKILL"]
    "aws-signature" ["X-Amz-Signature="] Find::Pattern("[Xx]-[Aa]mz-[Ss]ignature=([0-9a-f]{64})");
        finds ["https://b.s3.amazonaws.com/k?X-Amz-Signature=«254770f58904dba41ecccc3fc1626e53a13043b026c48bbf33feff9243a8f506»&x=1"] leaves ["X-Amz-Signature=<signature>"]
    "gcp-api-key" ["AIza"] Find::Pattern("AIza[A-Za-z0-9_-]{30,}");
        finds ["«AI¦za88hXJsi6BwhTp3Fs2QhX6KWxOiixgVoOnzy»"] leaves ["AIza-short"]
    "gcp-oauth-secret" ["GOCSPX-"] Find::Pattern("GOCSPX-[A-Za-z0-9_-]{20,}");
        finds ["«GOC¦SPX-w2MzP0ZvzOMhfWuBByReQMsm9Wcz»"] leaves ["GOCSPX-your-secret"]
    "gcp-access-token" ["ya29."] Find::Pattern(r"\bya29\.[A-Za-z0-9_-]{20,}");
        finds ["«ya¦29.a07uW9XFOGOeMVNen5n1Ae6pWzpF1qH6YytwMe4LbyoVFz8uZdZv8FuKKIBJl5»"] leaves ["ya29.x"]
    "gcp-refresh-token" ["1//0"] Find::Pattern(r"\b1//0[A-Za-z0-9_-]{30,}");
        finds ["«1/¦/0dzpJn0meq7WJjjIBAzupGhv7Ib3M03NBQNSgPwlUQia1ID6vW5dql05ha064»"] leaves ["1//0"]
    "azure-storage-key" ["AccountKey=" "SharedAccessKey="] Find::Pattern("[A-Za-z]{6,15}Key=([A-Za-z0-9+/]{40,}=*)");
        finds ["DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«gIiJhgB3cxLmAxzJLJenuHjDUrhhjeyxG4jDPMRCxGgcjBw56EcUngmgMsRcgizeg8Psh4487Q7j58M1cIaHZc==»;EndpointSuffix=core" "SharedAccessKeyName=k;SharedAccessKey=«UEqPbENqTyH5xJ8tpqXJQ4I9dOv8GZ4fKq1OKtbgZVa=»"] leaves ["AccountKey=<key>"]
    "azure-sas" ["sig="] Find::Pattern(r"\bsig=([A-Za-z0-9%+/]{40,}=*)");
        finds ["https://a.blob.core.windows.net/c?sv=2022&sig=«MWUFuXBVjdctBYVhnSg9EH6yO4GFQRC5xLRwI0b26r0%3D»&se=1"] leaves ["sig=abc" "config=x"]
    "azure-client-secret" ["7Q~" "8Q~"] Find::Around("[A-Za-z0-9_.~-]{3}", "[78]Q~[A-Za-z0-9_.~-]{31,40}");
        finds ["v «8QZ8¦Q~Ji6gkfsUFRDzsLb5ER8BoFzQFm2OEQ3HdA» end"] leaves ["8Q~short"]
    "azure-devops-pat" ["AZDO"] Find::Around("[A-Za-z0-9]{60,80}", r"AZDO[A-Za-z0-9]{4}\b");
        finds ["pat «Vja76RnIChtP8HKQDLM7ToThwNScgrLRWzBQCABugjMgeP7cGq0pbqfi14ZgTsNOVM14tuoIZWD1AZ¦DOIAEo»"] leaves ["AZDO1234"]
    "digitalocean-token" ["dop_v1_" "doo_v1_" "dor_v1_"] Find::Pattern("do[por]_v1_[a-f0-9]{40,}");
        finds ["«dop¦_v1_8d512c9791e558e08baa7196b50ac2f86702824c1c099724caf4941d4072014b»"] leaves ["dop_v1_xxxx"]
    "cloudflare-ca-key" ["v1.0-"] Find::Pattern(r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}");
        finds ["«v1.0-¦3ce107f80e222f828767efc2-f91624a8940f1f836f99eee3692f09e2e8c662248b483b7ffc050fec94dbca3a0aac36098b2cc2bd818319478da6bd0c621de49f145fda9988c79fc35526f7eaed46725a2a7b860dcd»"] leaves ["v1.0-rc1"]
    "cloudflare-token" ["cfut_" "cfat_" "cfk_"] Find::Pattern(r"\bcf[a-z]{1,2}_[A-Za-z0-9_-]{36,}");
        finds ["«cf¦ut_vhNYRVwDfRk9XIrghoy32NFR5PYZpcb9T2039BIC»"] leaves ["cfk_short"]
    "alibaba-key-id" ["LTAI"] Find::Pattern(r"\bLTAI[A-Za-z0-9]{12,26}\b");
        finds ["«LT¦AIbtw5ze9lfAEZ7770h2dc»"] leaves ["LTAI"]
    "tencent-key-id" ["AKID"] Find::Pattern(r"\bAKID[A-Za-z0-9]{28,40}\b");
        finds ["«AK¦IDPyGOJJhrG80usp2w5dFjxCAyIOk6CptT»"] leaves ["AKID"]
    "scaleway-key" ["SCW"] Find::Pattern(r"\bSCW[A-Z0-9]{17}\b");
        finds ["«S¦CWIQ3HGETMYQOAAT5RU»"] leaves ["SCW_ACCESS_KEY is set"]
    "heroku-key" ["HRKU-"] Find::Pattern(r"\bHRKU-[A-Za-z0-9_-]{30,}");
        finds ["«HR¦KU-p14PehPjPB9atpTDBMf4rpaFQOqb7XOfCsVtaXrZMAzSv2gENfMTx0MOdO»"] leaves ["HRKU-x"]
    "fly-token" ["fo1_" "fm2_" "fm1r_"] Find::Pattern(r"\bf[om]\d[r]?_[A-Za-z0-9+/=_-]{40,}");
        finds ["«fo¦1_Qw4SG8nfnL5Ofa6qD8mJ7ZDNBmJaDtDLZc5t4UuHF7K»" "«fm¦2_VMLp7hvdCTquY1XVcKGAFRFWa94Hj9wNYWx0T0zbFDteMXi6cMUXv5eBoaPzoxZCYCdEz6DQMvE5mVXRV99nCQvtsU7RTAuwm6zo»"] leaves ["fo1_x"]
    "netlify-token" ["nfp_"] Find::Pattern(r"\bnfp_[A-Za-z0-9]{30,}");
        finds ["«nf¦p_88EB0OGet9d9xYyQ6b0fI7fLAz7vT0sxJmPU»"] leaves ["nfp_x"]
    "vercel-token" ["vcp_" "vci_" "vca_" "vcr_" "vck_"] Find::Pattern(r"\bvc[picark]_[A-Za-z0-9]{24,}");
        finds ["«vc¦p_3UdXyymFgMZwKPaEpCejiUKb4GEQnFNGaftcLOIadn5rPvi2xqwHx1SS»"] leaves ["vcp_x"]
    "vercel-token" ["vercel_blob_rw_"] Find::Pattern(r"\bvercel_blob_rw_[A-Za-z0-9_]{24,}");
        finds ["«vercel_blo¦b_rw_abcdefghIJKLMNOP_0123456789abcdefghij»"] leaves ["vercel_blob_rw_x"]
    "render-key" ["rnd_"] Find::Pattern(r"\brnd_[A-Za-z0-9]{28,}");
        finds ["«rn¦d_RkRXQvQMcPLPPJS46lMUEZQPghOpzGpd»"] leaves ["rnd_seed"]
    "supabase-key" ["sbp_"] Find::Pattern(r"\bsbp_[a-f0-9]{40,}");
        finds ["«sb¦p_130f7eb19731662b5e803b61ba4168160adb5926»"] leaves ["sbp_x"]
    "supabase-key" ["sb_secret_"] Find::Pattern(r"\bsb_secret_[A-Za-z0-9_-]{20,}");
        finds ["«sb_sec¦ret_0a1b2c3d4e5f6g7h8i9j0k»"] leaves ["sb_secret_x"]
    "planetscale-token" ["pscale_"] Find::Pattern(r"\bpscale_[a-z]{2,5}_[A-Za-z0-9_.=-]{30,}");
        finds ["«pscal¦e_tkn_CyfjeEaGyZqjJoiFpKZsRaSqTa9DTvk4WaaB3xzXpMZ»" "«pscal¦e_pw_uZN8Ab5KbH0FZk4XdxKIADjJpz6ZFkn7XvgKJWSKhK7»"] leaves ["pscale_branch"]
    "databricks-token" ["dapi"] Find::Pattern(r"\bdapi[a-f0-9]{32}");
        finds ["«da¦pi23cf6941fa1c257c6f561c5cb347611a»"] leaves ["dapixx"]
    "terraform-token" [".atlasv1."] Find::Around("[A-Za-z0-9]{14}", r"\.atlasv1\.[A-Za-z0-9_=-]{40,}");
        finds ["«HYmdj2oxTpaTlP.atl¦asv1.bYqXcgcLBAnfdPcwnx0d1LzeZGEIWbXFzcggqCCoIF7uUxugFDwg5Yp8yIB2Enus0HM»"] leaves [".atlasv1."]
    "vault-token" ["hvs." "hvb." "hvr."] Find::Pattern(r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}");
        finds ["«hv¦s.I4fS9z6yKryu7OE1WnwQKU5nR50dJQg96eNlQngPUXCMLZKo7RrU5YKyyQHxhDo2X93cjhls45GQio2ZvzXQYXkJXV»"] leaves ["hvs.example"]
    "pulumi-token" ["pul-"] Find::Pattern(r"\bpul-[a-f0-9]{40}");
        finds ["«pu¦l-2e751989a01749ddb14f71010b93b7d946bf5407»"] leaves ["pul-x"]
    "doppler-token" ["dp.pt." "dp.st." "dp.ct." "dp.sa." "dp.scim." "dp.audit."] Find::Pattern(r"\bdp\.[a-z]{2,6}\.[A-Za-z0-9_.]{38,}");
        finds ["«dp.¦pt.tJcGEoJ3qyRZzQ9ADp0j5Wmplcm7hufPK5ACDiBZLPK»"] leaves ["dp.pt.x"]
    "onepassword-token" ["ops_eyJ"] Find::Pattern(r"\bops_eyJ[A-Za-z0-9+/=_-]{60,}");
        finds ["«ops¦_eyJD6xGAnjq8MJaMhmpgppa0nLgTEToD4uyetiAY2bv6dFvpcLOGQOpCHV5v7s82QtDRojrbry6hQSp795NF4gAKQ5P1vM8Kv6UM4YVmPY62o6sq1iee1hsA2Bb9uOk4TyNZnlEk6KJCBHGn7KWJsBBCIspoCsEvCE2lwXM090i5qE43w6t8YGPNNHCC826zwoF0wooSeGIGywpNSUVbQBWQ7SDtwX6Ux9mge2SnvByaBbhxGWetDikNt30Fk»"] leaves ["ops_eyJ"]
    "tailscale-key" ["tskey-"] Find::Pattern(r"\btskey-[A-Za-z0-9-]{16,}");
        finds ["«tskey¦-auth-0SKbAhMSwwD-AWfGfsy0L9flW91gQk8KS0N8sOfKH8ox»"] leaves ["tskey-auth"]
    "newrelic-key" ["NRAK-" "NRII-" "NRJS-"] Find::Pattern(r"\bNR[A-Z]{2}-[A-Za-z0-9_-]{19,}");
        finds ["«NR¦AK-F7GUWGZZF3BXNTQ3KYO5ICWUJ4U»"] leaves ["NRAK-"]
    "grafana-token" ["glsa_" "glc_eyJ"] Find::Pattern(r"\bgl[sac]{1,2}_[A-Za-z0-9+/=_]{30,}");
        finds ["«gl¦sa_KdcsxQlOIVdp4sPgMRTwt01nJuJPuUmh_b57a6835»"] leaves ["glsa_x"]
    "sentry-token" ["sntrys_" "sntryu_" "sntryi_"] Find::Pattern(r"\bsntry[sui]_[A-Za-z0-9+/=_-]{40,}");
        finds ["«snt¦ryu_36c4499d863386ce10cd79e048c07dd7753eda83d7c58dfe0d5a0cf318656b3e»"] leaves ["sntrys_x"]
    "dynatrace-token" ["dt0c01." "dt0s01."] Find::Pattern(r"\bdt0[a-z]\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{40,}");
        finds ["«dt0¦c01.N6BXV25NLZHWDQRYZDAE22WQ.GOTZOZ5NKIEM6OJW25SI6WORYQ3L6ARWPTU673FXJTYDFUIWAANESQGJOL4WJNZK»"] leaves ["dt0c01.x"]
    "sonar-token" ["sqp_" "squ_" "sqa_"] Find::Pattern(r"\bsq[pua]_[a-f0-9]{40}");
        finds ["«sq¦u_296f62e338d74ff1fe4f7f505aef9ebdd25b001a»"] leaves ["squ_x"]
    "circleci-token" ["CCIPAT_" "CCIPRJ_"] Find::Pattern(r"\bCCI[PATRJ]{3}_[A-Za-z0-9_]{20,}");
        finds ["«CCI¦PAT_zGgefw5JCNtaoIVG3qXVex_69dad8199bfca8b6f3a6a9421cc1c93016f1c426»"] leaves ["CCIPAT_x"]
    "buildkite-token" ["bkua_" "bkaj_"] Find::Pattern(r"\bbk[uaj]{2}_[a-z0-9]{38,}");
        finds ["«bk¦ua_1e5351d30b49895d1a0d1f13dce20c4fd32f640d»"] leaves ["bkua_x"]
    "age-key" ["AGE-SECRET-KEY-1"] Find::Pattern("AGE-SECRET-KEY-1[A-Z0-9]{50,}");
        finds ["«AGE-SECR¦ET-KEY-1AAHFNHI6BRP4LDXJFS75QDCADAFYTTK7DUX46KJHXK26Y4RVSRDVAJT3PY»"] leaves ["AGE-SECRET-KEY-1"]
    "url-signature" ["ature="] Find::Pattern(r"ature=([A-Za-z0-9%+/~_-]{40,}=*)");
        finds ["https://s/a?X-Goog-SignedHeaders=host&X-Goog-Signature=«a4c123b1612dd272d1371c17149d439536b3216fdaeeb975729fae923d5a4fd1»&x=1" "https://d.cloudfront.net/a?Signature=«9QeWJKY40uvSwMFLZDe1f8rESQedUStPKR0CsTy4Qwb8DwkNhFdnXsiVpzz6__»&Key-Pair-Id=K1"] leaves ["signature=sha256" "X-Goog-Signature=<signature>" "signature=abc123def456"]
    "azure-function-key" ["?code=" "&code="] Find::Pattern(r"[?&]code=([A-Za-z0-9_/+%-]{40,}=*)");
        finds ["https://a.azurewebsites.net/api/run?code=«3FfkCzJr4i0B3JrTAwR4y9ojfljoQoaF1LlqsajAIxNKAzFuu8iS2G==»"] leaves ["https://a/cb?code=404" "?code=invalid_grant" "&code=<code>"]
    "azure-key" ["+AStA" "ACDb" "AzFu" "+ASb" "+AEh" "AIoT" "AzSe" "AzCa"] Find::Around("[A-Za-z0-9+/]{30,90}", r"[A-Za-z+]{4}[A-Za-z0-9+/]{4,12}=*\b");
        finds ["\"value\": \"«8NPRVdD53X83RZJzzzzgEOzdmenCkhvMdgaKjIg8xNbe3nNyjOq9wMxEhh2FDEEtfjgVvVqE1SkH+A¦StAbn88Hx==»\"" "k «jSI6bWHtP3fS2qHx6kwXoIIXGvOoNZYWAz¦Se2mZp0zVZom»"] leaves ["+AStAtement" "isAzSearchClient" "the AIoTDevice class"]
    "honeycomb-key" ["hcaik_" "hcxik_" "hcalk_" "hcamk_" "hcbik_"] Find::Pattern(r"\bhc[a-z]{3}_[A-Za-z0-9]{30,}");
        finds ["«hc¦aik_75wbbr4qmw2wxfogo4mvn4a4wfhym4l1vfz3zfkkibj3j4wj99ibag7i1m»"] leaves ["hcaik_x" "hcaik_config" "hcxik_<key>"]
    "k3s-token" ["K10"] Find::Pattern(r"\bK10[a-f0-9]{50,}::[a-z]{4,6}:[A-Za-z0-9.]{16,}");
        finds ["«K1¦0608697a8d41bed440e50454f31af3176813e02ea68ef786e4d3cea27d26934b4::server:84e73cf575dcad6ba2b0aee0ca923732»"] leaves ["K10" "K10::server" "OK100"]
    "aiven-password" ["AVNS_"] Find::Pattern(r"\bAVNS_[A-Za-z0-9_-]{16,}");
        finds ["«AV¦NS_qrc5XlrWi0B26R08qzj»"] leaves ["AVNS_x" "AVNS_<password>" "AVNS_PASSWORD"]
    "neon-key" ["napi_"] Find::Pattern(r"\bnapi_[a-z0-9]{40,}");
        finds ["«na¦pi_865ufrdl1erbfqfoeqh3av90ric7phkqdlmtt7ns26lrwbqcab69m64p2g15»"] leaves ["napi_create_function" "napi_value" "napi_x"]
    "runpod-key" ["rpa_"] Find::Pattern(r"\brpa_[A-Z0-9]{38,}");
        finds ["«r¦pa_IAEQ1KDFY6SPSC3LKR2AQXV9UPCTNWLAVYF4R6MP6AFQ»"] leaves ["rpa_x" "rpa_<key>" "rpa_key"]
}
