use super::address::without_secret;
use super::*;
use crate::backend::{BaseUrl, Plain};
use playbook_core::account::AccountStep;
use rstest::rstest;
use std::path::Path;

const NOWHERE: &str = "/nowhere/playbook";

fn account(pairs: &[(&str, &str)], config: &Config) -> Account {
    let env = Env::from_pairs(pairs.iter().copied());
    let need = chosen(config).with_key(&env, named::key(&env).as_ref(), b"salt");
    super::account(&env, config, need)
}

fn paths(folder: &str) -> Paths {
    let env = Env::from_pairs([
        (name::CONFIG_DIR, folder),
        (name::STATE_DIR, &format!("{folder}/state")),
        (name::CLAUDE_CONFIG_DIR, folder),
    ]);
    Paths::resolve(&env).unwrap()
}

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake-claude");

#[rstest]
#[case::own_key_first(&[(name::OWN_KEY, "a"), (name::AUTH_TOKEN, "b"), (name::API_KEY, "c")], name::OWN_KEY, Credential::api_key("a").ok())]
#[case::then_the_token(&[(name::AUTH_TOKEN, "b"), (name::API_KEY, "c")], name::AUTH_TOKEN, Credential::token("b").ok())]
#[case::then_the_key(&[(name::API_KEY, " c\n")], name::API_KEY, Credential::api_key("c").ok())]
#[case::none_in_place_of_a_flawed_one(&[(name::OWN_KEY, "a\u{e9}"), (name::API_KEY, "c")], name::OWN_KEY, None)]
fn the_first_credential_pays(
    #[case] env: &[(&str, &str)],
    #[case] from: &str,
    #[case] secret: Option<Credential>,
) {
    let (source, found) = credential(&Env::from_pairs(env.iter().copied())).unwrap();
    assert_eq!((source, found.ok()), (from, secret));
}

#[rstest]
#[case::nothing(&[], BackendName::Rules)]
#[case::a_key(&[(name::API_KEY, "k"), (name::PATH, FAKE), (name::OAUTH_TOKEN, "t")], BackendName::Anthropic)]
#[case::a_login(&[(name::PATH, FAKE), (name::OAUTH_TOKEN, "t")], BackendName::ClaudeCli)]
#[case::the_program_without_a_login(&[(name::PATH, FAKE)], BackendName::Rules)]
fn auto_takes_the_first_that_can_answer(
    #[case] env: &[(&str, &str)],
    #[case] backend: BackendName,
) {
    let env = Env::from_pairs(env.iter().copied());
    let found =
        chosen(&Config::default()).backend_for(&env, &paths(NOWHERE), named::key(&env).as_ref());
    assert_eq!(found, backend);
}

#[test]
fn our_variable_wins_over_the_file_and_the_file_over_the_clients() {
    let mut config = Config::default();
    let all = [
        (name::API_KEY, "k"),
        (name::OWN_MODEL, "own"),
        (name::MODEL, "client"),
        (name::SONNET_MODEL, "sonnet"),
        (name::BASE_URL, "https://client/"),
    ];
    assert_eq!(account(&all, &config).need.model.as_deref(), Some("own"));
    assert_eq!(
        account(&all[..1], &config).need.model.as_deref(),
        Some(named::DEFAULT_MODEL)
    );
    assert_eq!(
        account(&all, &config).need.base_url.as_deref(),
        Some("https://client")
    );
    config.anthropic.model = Some("file".into());
    config.anthropic.curator_model = Some("file-curator".into());
    config.anthropic.base_url = Some("https://file".into());
    let rest = [
        (name::API_KEY, "k"),
        (name::MODEL, "client"),
        (name::BASE_URL, "https://client/"),
    ];
    let need = account(&rest, &config).need;
    assert_eq!(need.model_for(AccountStep::Reflector), "file");
    assert_eq!(need.model_for(AccountStep::Curator), "file-curator");
    assert_eq!(need.base_url.as_deref(), Some("https://file"));
    let need = account(&all, &config).need;
    assert_eq!(need.model_for(AccountStep::Curator), "own");
    assert_eq!(need.curator_model, None);
}

#[test]
fn a_login_is_named_by_its_folder_and_asks_for_a_small_model() {
    let mut config = Config::default();
    let env = Env::from_pairs([(name::MODEL, "claude-opus-5-5"), (name::API_KEY, "k")]);
    let of = |folder, config: &Config| chosen(config).with_login(&env, &paths(folder), b"salt");
    let need = of("/a", &config);
    assert_eq!(need.model_for(AccountStep::Reflector), "haiku");
    assert_ne!(need.key, of("/b", &config).key);
    assert!(!serde_json::to_string(&need).unwrap().contains("/a"));
    config.claude_cli.model = "sonnet".into();
    config.claude_cli.curator_model = Some("haiku".into());
    let need = of("/a", &config);
    assert_eq!(need.model_for(AccountStep::Reflector), "sonnet");
    assert_eq!(need.model_for(AccountStep::Curator), "haiku");
}

#[test]
fn a_secret_in_the_address_is_in_no_job_and_tells_logins_apart() {
    let url = |token: &str| format!("https://me:{token}@h/x?key={token}");
    let config = Config::default();
    let key = Env::from_pairs([
        (name::API_KEY, "k".to_owned()),
        (name::BASE_URL, url("secret")),
    ]);
    let by_key = chosen(&config).with_key(&key, None, b"salt");
    let login = |token| {
        let env = Env::from_pairs([(name::BASE_URL, url(token))]);
        chosen(&config).with_login(&env, &paths("/a"), b"salt")
    };
    for need in [by_key, login("secret")] {
        let job = serde_json::to_string(&need).unwrap();
        assert!(!job.contains("secret") && job.contains("@h/x"), "{job}");
    }
    assert_ne!(login("secret").account(), login("other").account());
}

#[test]
fn what_is_offline_leaves_no_salt_behind() {
    let state = tempfile::tempdir().unwrap();
    let env = Env::from_pairs([("X", "1")]);
    let paths = paths(state.path().to_str().unwrap());
    let account = of_worker(&env, &Config::default(), &paths).unwrap();
    assert_eq!(account.need, Need::bare(BackendName::Rules));
    assert!(!Path::new(&paths.salt()).exists());
}

/// What a crash cut short would make hashes of keys that can be guessed.
#[test]
fn a_short_salt_is_made_anew() {
    let state = tempfile::tempdir().unwrap();
    let env = Env::from_pairs([(name::API_KEY, "k")]);
    let paths = paths(state.path().to_str().unwrap());
    std::fs::create_dir_all(paths.state()).unwrap();
    std::fs::write(paths.salt(), b"abc").unwrap();
    let account = || of_worker(&env, &Config::default(), &paths).unwrap().need;
    assert_eq!(account(), account());
    assert_eq!(
        std::fs::read(paths.salt()).unwrap().len(),
        named::SALT_BYTES
    );
}

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
