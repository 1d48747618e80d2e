//! Secrets that are known by what stands around them; found by looking closer.

use crate::redact::rule::{Find, rules};
use crate::redact::{command, named, pem, sk, web};

rules! {
    "private-key" ["-----BEGIN "] Find::Code(pem::look_begin);
        finds [
            "a\n«-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijklmnop\n-----END RSA PRIVATE KEY-----»\nb"
            "{\"k\":\"«-----BEGIN PRIVATE KEY-----\\nMIIEabcdefghijklmnop\\n-----END PRIVATE KEY-----»\\n\"}"
            "«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n  1 b3BlbnNzaC1rZXktdjEAAAAB»\n(cut)"
            "«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGabcdefghijkl\n=AbCd\n-----END PGP PRIVATE KEY BLOCK-----»"
        ] leaves [
            "-----BEGIN PUBLIC KEY-----\nMIIEabcdefghijklmnop\n-----END PUBLIC KEY-----"
            "-----BEGIN CERTIFICATE-----\nMIIEabcdefghijklmnop\n-----END CERTIFICATE-----"
            "it starts with `-----BEGIN PRIVATE KEY-----` (see the docs)"
        ]
    "private-key" ["-----END "] Find::Code(pem::look_end);
        finds [
            "… (cut) «MIIEabcdefghijklmnop\nQUJDQUJDQUJDQUJDAB\nab==\n-----END PRIVATE KEY-----»\nb"
        ] leaves ["-----END CERTIFICATE-----"]
    "private-key" ["Private-Lines: "] Find::Code(pem::look_putty);
        finds ["Private-Lines: «1\nAAAAgQCabcdefghijklmnop»\n"] leaves ["Private-Lines: (none)"]
    "openai-key" ["sk-"] Find::Code(sk::look);
        finds ["OPENAI «sk-¦abcdefGHIJ0123456789abcdefGHIJ0123456789»"]
        leaves ["sk-fading-circle-animation-wrapper-2" "sk-learn" "task-scheduler-implementation1A" "sk-your-openai-api-key-here-1234"]
    "url-password" ["://"] Find::Code(web::look_url);
        finds [
            "postgres://me:«hunter22»@db/x"
            "mongodb+srv://admin:«p%40ss/w0rd»@cluster0.abc.mongodb.net/?x=1"
            "https://x-access-token:«abcDEF123456»@github.com/a/b.git"
            "https://«0123456789abcdef0123456789abcdef»@o1.ingest.sentry.io/2"
            "redis://:«s3cret!»@cache:6379"
        ] leaves [
            "postgres://user:password@localhost/db" "https://${USER}:${PASS}@host" "http://localhost:8080/a@b"
            "ssh://git@github.com/a/b" "postgres://<user>:<password>@host/db" "https://example.com/@scope/pkg"
        ]
    "bearer-token" ["bearer "] Find::Code(web::look_bearer);
        finds ["-H 'Authorization: Bearer «abcdef0123456789xyz»'" "bearer «0123456789abcdef»"]
        leaves ["bearer authentication" "Bearer <token>" "Bearer $TOKEN" "Bearer YOUR_TOKEN_HERE"]
    "basic-auth" ["basic "] Find::Code(web::look_basic);
        finds ["Basic «dXNlcjpodW50ZXIy»" "basic «YWRtaW46c2VjcmV0MTIz»"]
        leaves ["basic authentication" "basic understanding of it"]
    "cookie" ["cookie"] Find::Code(web::look_cookie);
        finds [
            "Cookie: sid=«a1b2c3d4e5»; theme=dark; t=«x9y8z7w6»"
            "Set-Cookie: id=«38afes7a8»; Path=/; Max-Age=2592000"
            "curl --cookie \"session=«abc123def456»\" x"
        ] leaves ["Cookie: consent" "cookies: enabled" "the cookie name=value pair"]
    "command-password" [
        "mysql" "mariadb" "sshpass" "docker login" "podman login" "registry login" "az login"
        "redis-cli" "mongosh" "mongodump" "curl" "http" "smbclient"
    ] Find::Code(command::look);
        finds [
            "mysql -u root -p«hunter2» db" "sshpass -p '«hunter2»' ssh x" "curl -s -u admin:«hunter2» https://x"
            "docker login -u me -p «hunter22» reg.io" "redis-cli -h x -a «hunter22»"
        ] leaves ["mysql -u root -p db" "curl -u $USER:$PASS x" "curl --user-agent a:b" "docker login -p $TOKEN"]
    "secret" [
        "pass" "pwd" "psw" "secret" "token" "key" "credential" "auth" "sessionid"
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
            "$env:DB_PASSWORD = \"«hunter2»\"" "\\nDB_PASSWORD=«hunter2»\\nX=1" "SECRET=«abcdefgh;ij&kl1»"
            "passphrase = \"«correct horse battery staple»\"" "password=\"«hunter2 is cut"
        ] leaves [
            "write a login page; a wrong password should show an error"
            "the token is refreshed every hour; passwords are hashed" "let token = next();" "password: string"
            "password: String," "token: &str" "API_KEY=<your-key>" "TOKEN=$TOKEN" "TOKEN=${{ secrets.X }}"
            "apiKey: process.env.X" "API_KEY=YOUR_API_KEY" "api_key = 'xxxxxxxxxxxx'" "max_tokens: 8192"
            "token_count=123456789012" "password_min_length = 12" "key: value" "primary_key: user_id"
            "cache_key=abc123def456" "\"token\": \"The API token to use\"" "password = get_password()"
            "secret = config.secret" "keyboard=abc123def456" "sha512-abcdef0123456789==" "next_token: abc123def456789"
            "if password == other1234 {" "password: required" "\"password\": \"Password\"" "tokenizer=abc123456789"
            "[pat-001] token: [pat-002]" "author: abc123def456" "All tests pass: 1234" "key=abc123def456"
            "type=\"password\" name=\"password\"" "std::token::abc123" "monkey: abc123def456"
        ]
}
