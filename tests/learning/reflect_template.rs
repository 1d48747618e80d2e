//! Promise: a draft of a template can be tried on a session without changing anything.

use crate::common::prelude::*;

fn user() -> (TestEnv, Api) {
    let (env, api) = TestEnv::with_model();
    env.write_project("SESSION.jsonl", Session::citing("s1").text());
    (env, api)
}

const TRY: [&str; 4] = ["reflect", "SESSION.jsonl", "--template", "draft.txt"];

#[test]
fn the_draft_is_asked_in_place_of_the_own_template() {
    let (env, api) = user();
    let own = env.config_dir().join("templates/reflector.txt");
    let built_in = include_str!("../../templates/reflector.txt");
    write(&own, format!("{built_in}\nmy own words"));
    let draft = env.project().join("draft.txt");
    write(&draft, format!("{built_in}\ndraft words"));
    let before = env.playbook();
    env.cli(&TRY).ok();
    env.cli(&TRY[..2]).ok();
    let asked: Vec<String> = api.requests().iter().map(Request::prompt).collect();
    has!(asked[0], "draft words");
    lacks!(asked[0], "my own words");
    has!(asked[1], "my own words");
    lacks!(asked[1], "draft words");
    assert_eq!(env.playbook(), before);
    assert!(env.spool().is_empty());
}

#[test]
fn a_draft_with_a_flaw_is_named_and_nothing_is_asked() {
    let (env, api) = user();
    let draft = env.project().join("draft.txt");
    for (text, flaw) in [
        ("{transcript} {sesion}", "`{sesion}` is no placeholder"),
        ("nothing at all", "`{transcript}` is missing"),
    ] {
        write(&draft, text);
        env.cli(&TRY).fails(1, &["draft.txt", flaw]);
    }
    assert!(api.requests().is_empty());
    let both = [&TRY[..], &["--apply"]].concat();
    env.cli(&both).fails(2, &["cannot be used with"]);
}
