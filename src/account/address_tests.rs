//! What an address says once it is without what could be a secret in it.

use crate::account::address::without_secret;
use crate::backend::{BaseUrl, Plain};
use rstest::rstest;

#[rstest]
#[case::password("https://me:hunter2@h", "https://[masked]@h")]
#[case::slash_in_the_password("https://me:hun/ter2@h/x", "https://[masked]@h/x")]
#[case::query("https://h/x?token=hunter2", "https://h/x?[masked]")]
#[case::all("https://hunter2@h/?hunter2#hunter2", "https://[masked]@h/?[masked]")]
#[case::one_slash("https:/me:hunter2@h", "https:/[masked]@h")]
#[case::tab("ht\ttps:/\t/me:hunter2@h", "https://[masked]@h")]
#[case::bare("hunter2@h", "[masked]@h")]
fn a_secret_leaves_and_the_address_stays_refused(#[case] url: &str, #[case] told: &str) {
    assert_eq!(without_secret(url), told);
    assert!(BaseUrl::parse(url, Plain::Anywhere).is_err());
    assert!(BaseUrl::parse(told, Plain::Anywhere).is_err());
}

proptest::proptest! {
    #[test]
    fn an_address_that_can_be_used_leads_to_the_same_place(
        path in "[a-z@:/.]{0,12}", host in "[a-z]{1,5}(:[0-9]{1,4})?",
    ) {
        let url = format!("https://{host}/{path}");
        if let Ok(base) = BaseUrl::parse(&url, Plain::Anywhere) {
            let told = BaseUrl::parse(&without_secret(&url), Plain::Anywhere).unwrap();
            proptest::prop_assert_eq!(base, told);
        }
    }

    #[test]
    fn no_secret_stays_however_the_address_is_written(
        before in "[a-z:/\\\\ \t]{0,8}", user in "[a-z:@]{0,4}", behind in "[a-z:@]{0,3}",
    ) {
        for url in [
            format!("https://{user}hunter2{behind}@host{before}"),
            format!("https:{before}?{user}hunter2{behind}"),
        ] {
            proptest::prop_assert!(!without_secret(&url).contains("hunter2"), "{}", url);
        }
    }
}
