//! The table of rules against its examples, and what holds for any text.

use std::fmt::Write as _;

use proptest::prelude::*;
use rstest::rstest;

use super::rules;
use super::*;

/// An example as it is, and as it must become.
fn example(text: &str, id: &str) -> (String, String) {
    let text = text.replace('¦', "");
    let plain = text.replace(['«', '»'], "");
    let mut masked = String::new();
    for part in text.split('«') {
        match part.split_once('»') {
            Some((_, after)) => {
                _ = write!(masked, "[masked {id}]{after}");
            }
            None if masked.is_empty() && !text.starts_with('«') => masked.push_str(part),
            None => {}
        }
    }
    (plain, masked)
}

#[test]
fn every_rule_finds_its_examples_and_nothing_around_them() {
    let mut failed = String::new();
    for rule in rules::examples() {
        for text in rule.finds {
            let (plain, want) = example(text, rule.id);
            let got = mask(&plain);
            // Another rule may know the same secret, and a cut one has no end.
            let same =
                |a: &str| a.replace(|c: char| c != '[' && c != ']' && c.is_alphanumeric(), "x");
            let alike = got == want || notes(&got) == notes(&want) || same(&got) == same(&want);
            let is_cut = text.ends_with("cut") && got != plain;
            if !alike && !is_cut {
                _ = writeln!(
                    failed,
                    "{}: {plain}\n  got  {got}\n  want {want}\n",
                    rule.id
                );
            }
        }
        for text in rule.leaves {
            let plain = text.replace('¦', "");
            if mask(&plain) != plain {
                _ = writeln!(
                    failed,
                    "{} takes {plain}\n  got  {}\n",
                    rule.id,
                    mask(&plain)
                );
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// A text with all notes alike.
fn notes(text: &str) -> String {
    let mut out = String::new();
    for part in text.split("[masked ") {
        match part.split_once(']') {
            Some((id, rest)) if !id.contains(' ') => {
                out.push_str("[masked]");
                out.push_str(rest);
            }
            _ => out.push_str(part),
        }
    }
    out
}

#[test]
fn every_rule_compiles_and_has_keywords_to_be_found_by() {
    for rule in rules::all() {
        assert!(rule.compiles(), "{}", rule.id);
        assert!(rule.keywords.iter().all(|k| k.len() >= 3), "{}", rule.id);
    }
    assert_eq!(rules::all().count(), rules::examples().count());
}

#[rstest]
#[case::sha1("fixed in 3f786850e387550fdab836ed7e6dc881de23001b")]
#[case::uuid("session 550e8400-e29b-41d4-a716-446655440000")]
#[case::integrity(
    "\"integrity\": \"sha512-9NykojV5Uih4lgo5So5dtw+f0JgJX30KCNI8gwhz2J9A15wD0Ml6tjHKwf6fTSa6fAdVBdZeNOs9eJ71qCk8vA==\""
)]
#[case::checksum("checksum = \"9e2f1d3c4b5a69788796a5b4c3d2e1f00123456789abcdef0123456789abcdef\"")]
#[case::digest("image@sha256:9e2f1d3c4b5a69788796a5b4c3d2e1f00123456789abcdef0123456789abcdef")]
#[case::citation("[pat-001] token: see [mis-002], secret: [kpt_003]")]
#[case::go_sum("github.com/a/b v1.0.0 h1:2zGT5QwGN7kRtsa0uXn3kbcvYRvAFXq+VnY2ujbDs8o=")]
#[case::path("/home/me/.config/app/tokens.json")]
#[case::time("2026-11-21T11:00:00.000Z token refreshed")]
fn look_alikes_stay(#[case] text: &str) {
    assert_eq!(mask(text), text);
}

#[rstest]
#[case::closed("a <private>b</private> c", "a [masked private] c")]
#[case::two(
    "<private>b</private> x <PRIVATE>c</PRIVATE>",
    "[masked private] x [masked private]"
)]
#[case::unclosed("a <private>b c", "a [masked private]")]
#[case::nested("<private>a<private>b</private>c</private>d", "[masked private]d")]
#[case::talk("wrap it in `<private>` tags", "wrap it in `<private>` tags")]
#[case::lines("a\n<private>\nb\n</private>\nc", "a\n[masked private]\nc")]
fn private_parts_go(#[case] text: &str, #[case] want: &str) {
    assert_eq!(mask(text), want);
}

/// A private part of any length goes, also where a stream is masked piece by piece.
#[rstest]
#[case::closed(
    "a <private>",
    "x<private>y</private>é ",
    "</private> b",
    "a [masked private] b"
)]
#[case::unclosed("a <private>", "password=hunter22 ", "", "a [masked private]")]
#[case::from_the_start("<PRIVATE>", "<private> x", "</private> b", "[masked private]")]
fn a_long_private_part_goes(
    #[case] before: &str,
    #[case] inner: &str,
    #[case] after: &str,
    #[case] want: &str,
) {
    let text = format!("{before}{}{after}", inner.repeat((3 << 20) / inner.len()));
    let mut out = Vec::new();
    let input = std::io::BufReader::with_capacity(65_537, text.as_bytes());
    let counts = filter(&Masker::default(), input, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), want);
    assert_eq!(counts.values().sum::<u64>(), 1, "{counts:?}");
}

#[test]
fn json_stays_json_when_a_private_part_is_not_closed() {
    let reply = r#"{"a": "x <private>b \" c", "b": 1}"#;
    let masked = Masker::default().mask_json(reply);
    assert_eq!(masked, r#"{"a": "x [masked private]", "b": 1}"#);
}

/// Every prefix that a rule looks for, over and over: nothing is read twice as often
/// because the text is twice as long.
#[test]
fn hostile_texts_are_masked_for_good_and_in_linear_time() {
    let mut texts: Vec<String> = [
        "{",
        "[",
        "\"",
        "\\",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "<private>",
        "password=\"",
        "password:",
        "eyJ",
        "-eyJ",
        "://a:",
        "token is ",
        "Cookie: a=",
        "curl -u ",
        "\\n",
        "sk-",
        "key",
        "a=b;cookie ",
        " -u a -p ",
        "name: token\n",
        "password for ",
        "echo a|sudo -S ",
        "$ cat key\n",
        "(password,a)values (",
        "PDO('a','b',",
        "\"kty\"\"d\":\"",
        "token(\"",
        "pwd:a",
        "authkey:a",
        "curl -u a: ",
        "cookie=",
        "eslo1=",
        "zip\"",
        "http-basic=\"",
    ]
    .map(str::to_owned)
    .to_vec();
    let whole = texts.len();
    texts.extend(rules::all().flat_map(|r| r.keywords.iter().take(1).map(|k| (*k).to_owned())));
    for (index, text) in texts.into_iter().enumerate() {
        let length = if index < whole { 1 << 17 } else { 1 << 13 };
        let long = text.repeat(length / text.len());
        // What takes the square of this ends in no time that anyone waits for.
        let masked = mask(&long);
        assert_eq!(mask(&masked), masked, "{text:?} over and over");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn masking_twice_changes_nothing_more(text in texts()) {
        let once = mask(&text).into_owned();
        let twice = mask(&once).into_owned();
        prop_assert_eq!(&twice, &once, "of {}", text);
    }

    #[test]
    fn a_stream_is_masked_as_a_text_is(text in texts(), chunk in 1_usize..50) {
        let mut out = Vec::new();
        let input = std::io::BufReader::with_capacity(chunk, text.as_bytes());
        filter(&Masker::default(), input, &mut out).unwrap();
        prop_assert_eq!(String::from_utf8(out).unwrap(), mask(&text));
    }
}

/// Texts of pieces that mean something to the rules.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "\\PC{0,12}",
        2 => "[A-Za-z0-9+/=_-]{1,60}",
        2 => prop::sample::select(vec![
            "password", "token=", "\"", "\\\"", "'", ": ", "=", "\n", "\\n", "://", "@", "Bearer ",
            "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "<private>", "</private>",
            "ghp_", "eyJ", ".", "Cookie: ", ";", "curl -u a:", "API_KEY=", "[masked secret]", "é🙂",
            "echo \\\"é", "| sudo -S ", " -u a", " -p ", "(name,password) values (", "new PDO(", ",",
            "password for it is ", "Passwort: ", "name: token\n", "value: ", "<key>", "</key>",
            "sqlplus a/", "@tcp(", ":5432:", "\"kty\":", "\"d\":\"", "$ cat my.key\n", "setToken(", "{",
            "identified by '", "<<< ", "|| ", "Authorization: ",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}
