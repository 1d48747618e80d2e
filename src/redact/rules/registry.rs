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
}
