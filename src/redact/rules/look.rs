//! Secrets that are known by what stands around them; found by looking closer.

use crate::redact::rule::{Find, rules};
use crate::redact::{beside, jwk, pem, sk, web};

rules! {
    "private-key" ["-----BEGIN "] Find::Code(pem::look_begin);
        finds [
            "a\n«-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijklmnop\n-----END RSA PRIVATE KEY-----»\nb"
            "{\"k\":\"«-----BEGIN PRIVATE KEY-----\\nMIIEabcdefghijklmnop\\n-----END PRIVATE KEY-----»\\n\"}"
            "«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n  1 b3BlbnNzaC1rZXktdjEAAAAB»\n(cut)"
            "«-----BEGIN OpenVPN Static key V1-----\ne49942c90eb92b3506f2348d50ae6adc\n-----END OpenVPN Static key V1-----»"
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
    "private-key" [
        "\"d\"" "\"k\"" "\"p\"" "\"q\"" "\"dp\"" "\"dq\"" "\"qi\"" "\"d\\" "\"k\\" "\"p\\" "\"q\\"
    ] Find::Code(jwk::look);
        finds [
            "{\"kty\":\"EC\",\"x\":\"qgkJsSuZu8owkKKD5h5KQfmgUgagHbvD9eMoD5wv1P4\",\"d\":\"«ptH7rWP-ANMM8GvGSy2GZxmGB8VIwyCG76FLj-9CELg»\"}"
            "{\"kty\": \"oct\", \"k\": \"«FDOYZZp_b_Gt5roejAmngkpVOv4KJKsT6AGBhUEU_2Y»\"}"
        ] leaves [
            "{\"kty\":\"EC\",\"x\":\"qgkJsSuZu8owkKKD5h5KQfmgUgagHbvD9eMoD5wv1P4\",\"y\":\"JYbb9NZiWInSHHNEtLkTnF8SKVBQgFZVdPhpRVjIJuo\"}"
            "{\"d\":\"M4 6h16v16H4z\"}" "{\"d\":\"ptH7rWP-ANMM8GvGSy2GZxmGB8VIwyCG76FLj-9CELg\"}" "{\"kty\":\"RSA\",\"k\":\"v\"}"
        ]
    "secret" ["AKIA" "ASIA" "AKID" "LTAI" "rzp_live_" "rzp_test_"] Find::Code(beside::look);
        finds [
            "Session(\"AK¦IAMW6A67CTPCLUNNDGX\", \"«eUHclG0MEwS/nvYdPWCkQwfG49Vo7GkJNtLrHhxN»\")"
            "KEY\tAK¦IAUA3Y7EJMDI23M52QX\t2025-05-21T07:40:03+00:00\t«SBqAlRkihw9ED5nqO1OWoDghCRyCWI26f8EBPhX9»\tActive"
        ] leaves ["AKIAxxxx and 3f786850e387550fdab836ed7e6dc881de23001b" "the AKIA prefix of 550e8400-e29b-41d4-a716-446655440000"]
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
    "url-password" ["@tcp(" "@unix(" "@cloudsql("] Find::Code(web::look_dsn);
        finds ["sql.Open(\"mysql\", \"app:«BZ6brhM2»@tcp(10.0.0.6:3306)/shop\")" "DSN=app:«p@ss/w0rd»@unix(/tmp/s)/x"]
        leaves ["user:password@tcp(localhost:5555)/db" "${USER}:${PASS}@tcp(db)/x" "%s:%s@tcp(%s)/%s"]
    "url-password" [":5432:" ":6432:" ":5433:" ":*:"] Find::Code(web::look_pgpass);
        finds ["db.a.io:5432:app:app:«G972Lxru»\n" "*:5432:*:me:«hunter22»"]
        leaves ["h:5432:db:user:password" "src/a.c:5432:10: error: x" "a:5432:b" "localhost:5432:localhost:5432:x y"]
    "bearer-token" ["bearer "] Find::Code(web::look_bearer);
        finds ["-H 'Authorization: Bearer «abcdef0123456789xyz»'" "bearer «0123456789abcdef»"]
        leaves ["bearer authentication" "Bearer <token>" "Bearer $TOKEN" "Bearer YOUR_TOKEN_HERE"]
    "basic-auth" ["basic "] Find::Code(web::look_basic);
        finds ["Basic «dXNlcjpodW50ZXIy»" "basic «YWRtaW46c2VjcmV0MTIz»"]
        leaves ["basic authentication" "basic understanding of it"]
    "cookie" ["cookie" " -b"] Find::Code(web::look_cookie);
        finds [
            "Cookie: sid=«a1b2c3d4e5»; theme=dark; t=«x9y8z7w6»"
            "Set-Cookie: id=«38afes7a8»; Path=/; Max-Age=2592000"
            "curl --cookie \"session=«abc123def456»\" x" "curl -b 'sid=«a1b2c3d4e5»; x=y' u" "Cookie: auth=«abcdefghijkl»"
        ] leaves ["git checkout -b fix-123" "cargo -b a=b" "Cookie: auth=none" "Cookie: consent" "cookies: enabled" "the cookie name=value pair"]
}
