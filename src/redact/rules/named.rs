//! Secrets that are known by their names; found by looking closer.

use crate::redact::rule::{Find, rules};
use crate::redact::{named, said};

rules! {
    "secret" [of said::WORDS] Find::Code(said::look);
        finds [
            "Das Passwort für den Server lautet: «BxuII3Yp»" "le mot de passe est «hunter22»." "la contraseña es \"«hunter22»\""
            "пароль: «hunter22»" "密码是«hunter22»，谢谢" "パスワードは「«hunter22»」" "the password for the box is «hunter22»" "la password di root è «hunter22»"
            "the db password should be «Hunter22»" "password is: «hunter22»"
        ] leaves [
            "\"login.password\": \"Passwort:\"" "Passwort vergessen? 3 Versuche" "\"password\": \"Mot de passe\"" "\"password\": \"パスワード\""
            "es:\n  password: Contraseña\n" "Das Passwort muss 12 Zeichen haben" "the password for v2 is hashed" "the password for URL ([#12420](https://github.com/a/b/12420))" "mot de passe : 8 à 64 signes"
        ]
    "secret" [
        "pass" "pwd" "_pw=" "_pw " "_pw:" "_pw\"" "psw" "psk" "mnemonic" "seed phrase" "seed_phrase" "seedphrase" "secret" "token" "key" "credential" "auth" "sessionid" "api_hash" "dockerconfigjson"
        "pat=" "pat:" "pat\"" "pat\'" "session=" "session:" "session\"" "session\'" "session\t" "sessid"
    ] Find::Code(named::look);
        finds [
            "API_KEY=\"«abcdef0123456789»\"" "DB_PASSWORD=«hunter2»" "export GITHUB_TOKEN=«abc123def456»"
            "{\"password\": \"«hunter2»\"}" "{\\\"password\\\":\\\"«hunter2»\\\",\\\"a\\\":1}" "password: «hunter2!»\n"
            "--password «hunter2» x" "--api-key=«abc123def456»" "client_secret = '«kX9!aa_bb-cc»'"
            "<password>«hunter2»</password>" "X-Api-Key: «abcdef123456»" "Authorization: Token «abcdef123456»"
            "//registry.npmjs.org/:_authToken=«abcdef-123456»" "\"auth\": \"«bWU6aHVudGVyMg==»\""
            "Server=x;User Id=sa;Password=«P@ssw0rd»;Encrypt=true" "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz1»"
            "ENV API_TOKEN «abc123def456»" "machine x login me password «hunter2»" "IDENTIFIED BY PASSWORD '«hunter2»'"
            "password: string = \"«hunter2x»\"" "SECRET_KEY_BASE=«0123456789abcdef»" "the password is «hunter2»."
            "?access_token=«abc123def456»&x=1" "STRIPE_KEY=«abcd1234efgh»" "token: |\n    «abcdef123456789»\n"
            "ds.setPassword(\"«hunter22»\");" ".api_key(\"«3b1ba1b15ae452dd»\")" "#define WIFI_PASSWORD \"«7853c1d0»\""
            "std::string auth_token{\"«f70a5c7562d873e5»\"};" "set -gx API_TOKEN «j2it8zU1NKIb»" "(def api-key \"«X752FlVk26eEwznD»\")"
            "<add key=\"ApiSecret\" value=\"«4a59633b7659f2»\" />" "- name: API_TOKEN\n  value: «ZPekF2yILDaC3vi1»\n"
            "{\"name\":\"__Host-session\",\"value\":\"«JTSjo6s9CmvGLc8ERIN0tWQN»\",\"path\":\"/\"}"
            "variable \"api_token\" {\n  default = \"«qvTIfjZOJ2TWdvPs»\"\n}" "process.env.JWT_SECRET || '«wTKJ3nIFpkVI»'"
            "os.getenv(\"API_TOKEN\") or \"«wTKJ3nIFpkVI»\"" "{\"db_password\":{\"sensitive\":true,\"value\":\"«BqBG2t5I»\"}}"
            "<key>ApiToken</key>\n<string>«wTKJ3nIFpkVI»</string>" "<string name=\"api_token\">«wTKJ3nIFpkVI2345»</string>"
            "<Pass encoding=\"base64\">«SjFZaG5K»</Pass>" "dotnet user-secrets set \"Jwt:ApiKey\" \"«ZtY7tnrV9e1Dki2d»\""
            "aws configure set aws_secret_access_key «QDqncghcJoN4V7vgwUu4»" "npm config set //npm.a.io/:_authToken «AynpT6vG6gDsFd2lKw2b»"
            "ngrok config add-authtoken «2DqtkYesiH9QdcqsPOtR»" "AZURE_DEVOPS_EXT_PAT=«gdvjrwx4uzw3ogwz»" "api_hash = '«fff67ad7cdddef8a»'"
            "Unseal Key 1: «3j/7bvxGI5FEUiMm8ELyP8H8MwhOo0jw»" "Secret ID    = «a00999d2-f498-4e39-91ef-45ae14195244»"
            "DD-APPLICATION-KEY: «bf5c40bbd4412fa3»" "Fastly-Key: «vxyn7rgtXZAKeEtr»" "PHPSESSID=«j7mq3sf7owm2e503p04pyj2t7b»"
            "Authorization: GenieKey «31b6fd09-761d-478d-94cd-9428206c4be4»" "machine a.io\n  login me\n  password «206f3829fbf70389»\n"
            "client-key-data: «LS0tLS1CRUdJTiBSU0EgUFJJ»" ".dockerconfigjson: «eyJhdXRocyI6IHsiZ2hjci5p»" "psk=\"«EyGFFshM»\""
            "secret \"«XxkgTQo0PwqUB1unz8EqzA=»\";" "password    «Nm2ygd2fD1apdXSN3m»\nusername    app"
            ".a.io\tTRUE\t/\tTRUE\t1798761600\tauth_session\t«E5HeXwiUldjQ4B9Bk6HkGW»\n"
            "$ cat config/master.key\n«a9dab9eaf5844e2ba551b51c»\n" "{\"username\":\"m\",\"key\":\"«36bbc4c1d91ea122fbc4»\"}"
            "\"password\": \"«with \\\"quote\\\" 1nside»\"" "PGPASSWORD=\"«a b c»\"" "my password: «Tr0ub4dor&3»"
            "ALTER LOGIN sa WITH PASSWORD = N'«hunter22»'" "| DB_PASSWORD | «hunter22» |" "requirepass «hunter22»\n"
            "ParameterKey=DbPassword,ParameterValue=«hunter22»" "log in with password «Hunter22x9», then" "${DB_PASSWORD:-«hunter2»}" "keytool -storepass «Q031LxZv» -keypass «Q031LxZv»"
            "$env:DB_PASSWORD = \"«hunter2»\"" "\\nDB_PASSWORD=«hunter2»\\nX=1" "SECRET=«abcdefgh;ij&kl1»"
            "MNEMONIC=\"«salmon carbon casual bronze»\"" "% setenv LDAP_BIND_PW «ripplefennel804»\n" "AWS Secret Access Key [None]: «DM9p3o7IXBs0zlE8RH2l1drIoNJD518REIBYVLpT»\n"
            "passphrase = \"«correct horse battery staple»\"" "password=\"«hunter2 is cut"
        ] leaves [
            "the token is refreshed every hour; passwords are hashed" "let token = next();" "password: string"
            "password: String," "token: &str" "API_KEY=<your-key>" "TOKEN=$TOKEN" "TOKEN=${{ secrets.X }}"
            "apiKey: process.env.X" "API_KEY=YOUR_API_KEY" "api_key = 'xxxxxxxxxxxx'" "max_tokens: 8192"
            "token_count=123456789012" "password_min_length = 12" "key: value" "primary_key: user_id"
            "cache_key=abc123def456" "\"token\": \"The API token to use\"" "password = get_password()"
            "secret = config.secret" "keyboard=abc123def456" "sha512-abcdef0123456789==" "next_token: abc123def456789"
            "if password == other1234 {" "password: required" "\"password\": \"Password\"" "tokenizer=abc123456789"
            "[pat-001] token: [pat-002]" "author: abc123def456" "All tests pass: 1234" "key=abc123def456"
            "type=\"password\" name=\"password\"" "std::token::abc123" "monkey: abc123def456"
            "PASSWORD=`cat /run/secrets/db`" "<Row key={item.id} token={props.token} />" "arn:aws:secretsmanager:eu-west-1:1:secret:prod/db-Ab3dEf"
            "Wrong password should show an error" "after login users password should differ" "\"password\": \"Contraseña\"" "setPassword(\"password\")"
            "\"minipass\": \"^7.1.2\"" "#define PK11_ATTR_TOKEN 0x00000001L" "pub const LOCALBYPASS: u32 = 12;" "KEY_DATA: WLAN_REASON_CODE = 1;" "// Pass `val2` in the bits"
            "f(key: SessionKey<'a>, value: Tls13Session)" "_token = r'(?:[^%s])+' % (a, b)" "pub const EP_KEY: QStatus = -2147217271i32;" "A_TOKEN: _ty_7 = _ty_7::IFLA_INET6_TOKEN;" "'pass', 'poke', 'print'" "[`Authorization`]: https://developer.mozilla.org/docs/Web" "getPassword(\"db2024\")" "hash_password(\"abc12345\")" "isToken(\"a1b2c3d4e5f6g7h8\")" "the password Argon2idHasher makes" "a password SHA256Hash makes" "ssh_host_key = \"AAAAC3NzaC1lZDI1NTE5AAAAIDqx\""
            "getSecret(\"prod/db-2024\")" "z.password(\"Must have 8 characters\")" "t(\"password\", \"Password\")" "resource \"random_password\" \"db12345\" {"
            "variable \"db_password\" {\n  type = string\n}" "- name: db-token\n  valueFrom:\n    key: password\n" "<input type=\"password\" name=\"password\" value=\"\">"
            "process.env.TOKEN || ''" "process.env.TOKEN ?? \"none\"" "os.getenv(\"TOKEN\") or \"changeme\"" "${DB_PASSWORD:?required12}"
            "NPM_TOKEN      2025-11-20T10:11:12Z" "db-token   kubernetes.io/service-account-token   3   41d" "google-auth    2.23.4"
            "set password policy" "add token 3f786850e387" "config set token-v2 on" "set -gx API_TOKEN $TOKEN" "session_id=01J9ZK3YV8 x"
            "CLAUDE_SESSION=550e8400-e29b-41d4-a716-446655440000" "Sec-WebSocket-Key: xJLCiGr+7Q6gHbT+iMbhqw==" "Surrogate-Key: abc123def456"
            "$ git rev-parse fix-token\n3f786850e387550fdab836ed7e6dc881de23001b" "$ sha256sum my.key\n9e2f1d3c" "{\"key\":\"36bbc4c1d91ea122fbc4a5d5183edfd7\"}"
            "FOO_PATH=/usr/lib/abc123def456" "--secret-id prod/db-2024x" "Authorization: required for all" "key: value\nuser: 12345678901234567890"
            "login.password=Passwort" "reset.password=Passwort-Link" "SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" "{\"name\": \"DbPassword\", \"value\": \"@Microsoft.KeyVault(SecretUri=https://kv.vault.azure.net/secrets/x1/)\"}"
            "| password | string | required |" "password authentication" "token `abc`" "let token: Token | null = 1;"
        ]
}
