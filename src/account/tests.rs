use super::address::without_secret;
use super::*;
use crate::backend::{BaseUrl, Plain};
use playbook_core::account::AccountStep;
use rstest::rstest;
use serde_json::{Value, json};
use std::path::Path;

const NOWHERE: &str = "/nowhere/playbook";

fn account(pairs: &[(&str, &str)], config: &Config) -> Account {
    let client = client(pairs);
    let key = named::key(&client.vars);
    let need = chosen(config).with_key(&client.vars, key.as_ref(), b"salt");
    super::account(&client, config, need)
}

fn client(pairs: &[(&str, &str)]) -> ClientEnv {
    let env = Env::from_pairs(pairs.iter().copied());
    ClientEnv::of(&env, &paths(NOWHERE), None)
}

fn paths(folder: &str) -> Paths {
    let env = Env::from_pairs([
        (name::CONFIG_DIR, folder),
        (name::STATE_DIR, &format!("{folder}/state")),
        (name::CLAUDE_CONFIG_DIR, folder),
    ]);
    Paths::resolve(&env).unwrap()
}

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

#[test]
fn our_variable_wins_over_the_file_and_the_file_over_the_clients() {
    let mut config = Config::default();
    let all = [
        (name::API_KEY, "k"),
        (name::BASE_URL, "https://client/"),
        (name::OWN_MODEL, "own"),
    ];
    let need = |count: usize, config: &Config| account(&all[..count], config).need;
    assert_eq!(need(3, &config).model.as_deref(), Some("own"));
    let url = need(2, &config).base_url;
    assert_eq!(url.as_deref(), Some("https://client"));
    config.anthropic.model = Some("file".into());
    config.curator.model = Some("file-curator".into());
    config.anthropic.base_url = Some("https://file".into());
    let of_file = need(2, &config);
    assert_eq!(of_file.model_for(AccountStep::Reflector), "file");
    assert_eq!(of_file.model_for(AccountStep::Curator), "file-curator");
    assert_eq!(of_file.base_url.as_deref(), Some("https://file"));
    let own = need(3, &config);
    assert_eq!(own.model_for(AccountStep::Curator), "own");
    assert_eq!(own.curator_model, None);
}

/// The model that the user works with is not used; the client knows short names and suffixes.
#[rstest]
#[case::none("", &[], "claude-haiku-5-5", "haiku")]
#[case::pinned_for_work("", &[("ANTHROPIC_MODEL", "opus"), (name::SONNET_MODEL, "s")], "claude-haiku-5-5", "haiku")]
#[case::small("", &[(name::HAIKU_MODEL, "small[1m]"), (name::SMALL_FAST_MODEL, "old")], "small", "small")]
#[case::small_by_its_older_name("default", &[(name::SMALL_FAST_MODEL, "old")], "old", "old")]
#[case::haiku("Haiku", &[], "claude-haiku-5-5", "haiku")]
#[case::suffix("sonnet[1m]", &[], "claude-sonnet-5-5", "sonnet")]
#[case::of_a_provider("sonnet", &[(name::SONNET_MODEL, "eu.s")], "eu.s", "eu.s")]
#[case::plan("opusplan", &[], "claude-sonnet-5-5", "sonnet")]
#[case::opus("opus", &[], "claude-opus-5-5", "opus")]
#[case::best("best", &[(name::OPUS_MODEL, "o")], "o", "o")]
#[case::in_full("claude-sonnet-4-5 [1m]", &[], "claude-sonnet-4-5", "claude-sonnet-4-5")]
fn the_model_is_the_small_one_unless_the_settings_name_another(
    #[case] set: &str,
    #[case] env: &[(&str, &str)],
    #[case] of_api: &str,
    #[case] of_client: &str,
) {
    let mut config = Config::default();
    if !set.is_empty() {
        config.anthropic.model = Some(set.to_owned());
        config.claude_cli.model = set.to_owned();
    }
    let need = account(env, &config).need;
    assert_eq!(need.model.as_deref(), Some(of_api));
    let need = chosen(&config).with_login(&client(env), &paths("/a"), b"salt");
    assert_eq!(need.model.as_deref(), Some(of_client));
}

#[test]
fn a_login_is_named_by_its_folder_and_each_step_by_its_model() {
    let mut config = Config::default();
    let client = client(&[(name::API_KEY, "k")]);
    let of = |folder, config: &Config| chosen(config).with_login(&client, &paths(folder), b"salt");
    let need = of("/a", &config);
    assert_ne!(need.key, of("/b", &config).key);
    assert!(!serde_json::to_string(&need).unwrap().contains("/a"));
    config.claude_cli.model = "sonnet".into();
    config.curator.model = Some("haiku".into());
    let need = of("/a", &config);
    assert_eq!(need.model_for(AccountStep::Reflector), "sonnet");
    assert_eq!(need.model_for(AccountStep::Curator), "haiku");
}

/// Managed settings win over the user's and the environment's.
#[rstest]
#[case::key(json!({"ANTHROPIC_API_KEY": "theirs"}), "anthropic", "https://user")]
#[case::address(json!({"ANTHROPIC_BASE_URL": "https://corp"}), "anthropic", "https://corp")]
#[case::provider(json!({"CLAUDE_CODE_USE_BEDROCK": "1"}), "rules", "")]
fn an_administrator_decides_who_is_asked(
    #[case] managed: Value,
    #[case] backend: &str,
    #[case] url: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let put = |file: &str, env: &Value| {
        let file = folder.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, json!({ "env": env }).to_string()).unwrap();
    };
    let users = json!({"ANTHROPIC_API_KEY": "user's", "ANTHROPIC_BASE_URL": "https://user"});
    put("client/settings.json", &users);
    let general = json!({"ANTHROPIC_API_KEY": "general", "ANTHROPIC_CUSTOM_HEADERS": "X-Team: 1"});
    put("managed-settings.json", &general);
    put("managed-settings.d/10-team.json", &managed);
    put(
        "managed-settings.d/README.md",
        &json!({"ANTHROPIC_API_KEY": "no settings"}),
    );
    let paths = paths(folder.path().join("client").to_str().unwrap());
    let env = Env::from_pairs([(name::API_KEY, "shell")]);
    let client = ClientEnv::managed_in(folder.path(), &env, &paths, None);
    let key = managed[name::API_KEY].as_str().unwrap_or("general");
    assert_eq!(client.vars.get(name::API_KEY), Some(key));
    assert_eq!(client.vars.get(name::CUSTOM_HEADERS), Some("X-Team: 1"));
    let place = client.place(name::API_KEY).unwrap();
    let is_of_team = !managed[name::API_KEY].is_null();
    assert_eq!(
        place.ends_with("managed-settings.d/10-team.json"),
        is_of_team,
        "{place}"
    );
    let salt = || Ok::<_, std::convert::Infallible>(b"salt".to_vec());
    let need = chosen(&Config::default())
        .need_with(&client, &paths, salt)
        .unwrap();
    assert_eq!(need.backend.word(), backend);
    assert_eq!(need.base_url.unwrap_or_default(), url);
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
        let client = client(&[(name::BASE_URL, &*url(token))]);
        chosen(&config).with_login(&client, &paths("/a"), b"salt")
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
    let account = of_worker(&env, &Config::default(), (&paths, None)).unwrap();
    assert_eq!(account.need, Need::bare(BackendName::Rules));
    assert!(!Path::new(&paths.salt()).exists());
}

/// A crash can leave a short salt; key hashes made with it could be guessed.
#[test]
fn a_short_salt_is_made_anew() {
    let state = tempfile::tempdir().unwrap();
    let env = Env::from_pairs([(name::API_KEY, "k")]);
    let paths = paths(state.path().to_str().unwrap());
    std::fs::create_dir_all(paths.state()).unwrap();
    std::fs::write(paths.salt(), b"abc").unwrap();
    let account = || {
        of_worker(&env, &Config::default(), (&paths, None))
            .unwrap()
            .need
    };
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
fn a_secret_leaves_and_the_address_stays_refused(#[case] url: &str, #[case] shown: &str) {
    assert_eq!(without_secret(url), shown);
    assert!(BaseUrl::parse(url, Plain::Anywhere).is_err());
    assert!(BaseUrl::parse(shown, Plain::Anywhere).is_err());
}

proptest::proptest! {
    #[test]
    fn an_address_that_can_be_used_leads_to_the_same_place(
        path in "[a-z@:/.]{0,12}", host in "[a-z]{1,5}(:[0-9]{1,4})?",
    ) {
        let url = format!("https://{host}/{path}");
        if let Ok(base) = BaseUrl::parse(&url, Plain::Anywhere) {
            let shown = BaseUrl::parse(&without_secret(&url), Plain::Anywhere).unwrap();
            proptest::prop_assert_eq!(base, shown);
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
