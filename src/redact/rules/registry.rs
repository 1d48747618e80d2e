//! Where packages are published.

use crate::redact::rule::{Find, rules};

rules! {
    "npm-token" ["npm_"] Find::Pattern(r"\bnpm_[A-Za-z0-9]{30,}");
        finds ["«np¦m_m3WcqDhY1cWvwGhO9rv7JaVqWIrMnn2R01hG»"] leaves ["npm_config_registry_is_a_long_name" "npm_package_version"]
    "pypi-token" ["pypi-"] Find::Pattern("pypi-[A-Za-z0-9_-]{50,}");
        finds ["«py¦pi-AgEIcHlwaS5vcmcv2v7weRyoto6tIa3GAaxjlHfZ9kJa2yR3nmHY2csdSuWSWZhjmYpUAyv2fYcTLiTzJbkYl»"] leaves ["pypi-publish"]
    "crates-token" ["cio"] Find::Pattern(r"\bcio[A-Za-z0-9]{32}\b");
        finds ["«c¦ioOF06VU1m1P9UNb569ABDQk5fT6ixTinb»"] leaves ["cio" "precious"]
    "rubygems-key" ["rubygems_"] Find::Pattern(r"\brubygems_[a-f0-9]{40,}");
        finds ["«ruby¦gems_dceb1be0273dbc46dfcea25bab29539ad5966d513b1d0090»"] leaves ["rubygems_version"]
    "docker-token" ["dckr_pat_" "dckr_oat_"] Find::Pattern("dckr_[po]at_[A-Za-z0-9_-]{20,}");
        finds ["«dckr¦_pat_6TZ1GlAqBMLfxjkR3p5igJkMamH»"] leaves ["dckr_pat_x"]
    "nuget-key" ["oy2"] Find::Pattern(r"\boy2[a-z0-9]{43}\b");
        finds ["«o¦y2jk76gbgek7531daujpwrkcrgewm2ybdozc2dppocklu»"] leaves ["oy2"]
    "jfrog-key" ["AKCp" "cmVmdGtuO"] Find::Pattern(r"\b[A-Za-z]{4,9}[A-Za-z0-9]{56,}");
        finds ["«AK¦CpA530dTamQ94f8EPrYrtlOaTZ4tfBy3PFLKWYLA4SZjXHVi3YVZpE9Hb06WjPYMdSWPbCR»"] leaves ["AKCp"]
    "clojars-token" ["CLOJARS_"] Find::Pattern("CLOJARS_[a-z0-9]{50,}");
        finds ["«CLOJ¦ARS_bvjpifmr8i923pkxwnzynt46no2iq2x8pz6nih6f8rybjtayfloumge9x6tm»"] leaves ["CLOJARS_TOKEN"]
    "postman-key" ["PMAK-"] Find::Pattern(r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{30,}");
        finds ["«PM¦AK-292794c9bce4850bbd0e7cb3-593871c15d694c1957f8db03911731a6b2»"] leaves ["PMAK-x"]
    "packagist-token" ["_uut_"] Find::Around("[acgikpst]{9}", "_uut_[a-f0-9]{40,}");
        finds ["«pack¦agist_uut_24c1c099724caf4941d4072014b3ce107f80e222f828767efc2f91624a8940f1»"] leaves ["packagist_api" "packagist_uut_x" "packagist_org_name"]
    "apify-token" ["apify_api_"] Find::Pattern(r"\bapify_api_[A-Za-z0-9]{30,}");
        finds ["«ap¦ify_api_FrRgSnRFsTHsDDDXh5Jmtf7EbsDe0G9Cryn6»"] leaves ["apify_api_token" "apify_api_x" "apify_api_client"]
    "socket-token" ["sktsec_"] Find::Pattern(r"\bsktsec_[A-Za-z0-9_-]{30,}");
        finds ["«skt¦sec_87neLfjVHq8xiM0OGr4hTxoF54Fzbka8FRCztUjAwyuh»"] leaves ["sktsec_x" "sktsec_<key>" "sktsec_api"]
    "chromatic-token" ["chpt_"] Find::Pattern(r"\bchpt_[a-z0-9]{12,}");
        finds ["«ch¦pt_vauvzhmasqxezye»"] leaves ["chpt_x" "chpt_<token>" "chpt_your-token"]
    "wakatime-key" ["waka_"] Find::Pattern(r"\bwaka_[0-9a-f-]{36}\b");
        finds ["«wa¦ka_bd818319-478d-a6bd-0c62-1de49f145fda»"] leaves ["waka_x" "waka_time" "waka_<key>"]
}
