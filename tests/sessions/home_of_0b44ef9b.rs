//! Promise: the home of a user of commit 0b44ef9b works as it is: key points, pins, holds and
//! counters stay, its jobs count once, and nothing counts again.

use crate::common::prelude::*;
use playbook::digest::name_of;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/home-0b44ef9b");
/// The key whose salted hash is in the fixture's jobs.
const KEY: &str = "sk-test-of-a-home";

/// Answers for the two sessions with new content; any other question fails its job.
fn judge(prompt: &str) -> String {
    let is_reflectors = prompt.contains("bullet_tags");
    if !is_reflectors {
        operations(&json!([]))
    } else if prompt.contains("please rename the tokens") {
        tags(&[("pat-001", "helpful"), ("mis-001", "harmful")])
    } else if prompt.contains("start it once more") {
        tags(&[("pat-001", "helpful"), ("pat-002", "neutral")])
    } else {
        "nobody should ask this".to_owned()
    }
}

/// Copies the fixture to the folders of a new user, whose jobs `api` answers.
fn home(api: &Api) -> TestEnv {
    let mut env = TestEnv::without_worker();
    env.set("AGENTIC_CONTEXT_API_KEY", KEY);
    let root = env.root().display().to_string();
    let dashed = root.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let mut places = vec![
        ("@root@", root),
        ("@dashed@", dashed),
        ("@api@", api.base_url()),
    ];
    for (mark, project) in [
        ("@project@", "project"),
        ("@team@", "team"),
        ("@config@", "config"),
    ] {
        let path = env.root().join(project);
        places.push((mark, name_of(path.as_os_str().as_encoded_bytes())));
    }
    let filled = |text: &str| {
        places.iter().fold(text.to_owned(), |text, (mark, place)| {
            text.replace(mark, place)
        })
    };
    for folder in ["config", "home", "project", "state", "team"] {
        for path in files_below(&Path::new(FIXTURE).join(folder)) {
            let name = path.strip_prefix(FIXTURE).unwrap().to_str().unwrap();
            let to = env.root().join(filled(name));
            let text = filled(&fs::read_to_string(&path).unwrap());
            if name.ends_with("memory.sql") {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                let memory = rusqlite::Connection::open(to.with_extension("db")).unwrap();
                memory.execute_batch(&text).unwrap();
            } else if path.extension() == Some("hex".as_ref()) {
                write(&to.with_extension(""), bytes(text.trim()));
            } else {
                write(&to, text);
            }
        }
    }
    env
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| {
        if path.is_dir() {
            files_below(&path)
        } else {
            vec![path]
        }
    };
    paths.flat_map(below).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

fn asked(env: &TestEnv, command: &[&str], project: &str) -> Value {
    let folder = env.root().join(project);
    let folder = folder.to_str().unwrap();
    env.cli(&[command, &["--json", "--project", folder]].concat())
        .json()
}

/// Returns the key points of a project from `playbook show`: name, counters, pin, text.
fn points(env: &TestEnv, project: &str) -> Vec<String> {
    listed(&asked(env, &["show"], project)["points"])
}

fn own_points(env: &TestEnv) -> Vec<String> {
    listed(&asked(env, &["show"], "project")["own"])
}

fn listed(points: &Value) -> Vec<String> {
    let points = points.as_array().unwrap().iter();
    points
        .map(|point| {
            let word = |key: &str| point[key].as_str().unwrap().to_owned();
            let pin = if point["pinned"] == true {
                " pinned"
            } else {
                ""
            };
            let (helpful, harmful) = (&point["helpful"], &point["harmful"]);
            format!("{} {helpful}/{harmful}{pin} {}", word("name"), word("text"))
        })
        .collect()
}

/// Returns the points with counters above 0, and the pinned ones.
fn counters(points: &[String]) -> Vec<String> {
    let heads = points.iter().map(|point| {
        let words: Vec<_> = point.split(' ').take(3).collect();
        let end = 2 + usize::from(words[2] == "pinned");
        words[..end].join(" ")
    });
    heads.filter(|head| !head.ends_with(" 0/0")).collect()
}

/// Returns everything that must stay the same when nothing new happens.
fn all(env: &TestEnv) -> Vec<Value> {
    let mut all = vec![env.cli(&["jobs", "--json"]).json()];
    for project in ["project", "team"] {
        for command in [&["show"][..], &["review"], &["stats"]] {
            all.push(asked(env, command, project));
        }
        all.extend(history(env, project));
    }
    all
}

/// Returns the jobs of a project's history that found something, newest first.
fn history(env: &TestEnv, project: &str) -> Vec<Value> {
    let log = asked(env, &["log", "-n", "1000"], project);
    let mut jobs = log["jobs"].as_array().unwrap().clone();
    jobs.retain(|job| job["outcome"] != "skipped");
    jobs
}

fn held(env: &TestEnv) -> Value {
    asked(env, &["review"], "project")["quarantine"].clone()
}

fn end(env: &mut TestEnv, project: &str, session: &str) {
    let folder = env.root().join(project);
    let transcript = env.transcript_path(session).display().to_string();
    let transcript = transcript.replace("-project/", &format!("-{project}/"));
    env.set("CLAUDE_PROJECT_DIR", &folder);
    let event = json!({"cwd": folder, "transcript_path": transcript});
    env.hook(Hook::SessionEnd, session, event).silent();
}

#[rstest]
#[case::votes_stay_local("local")]
#[case::votes_go_into_the_file_from_now_on("file")]
fn a_home_of_0b44ef9b_keeps_what_it_has_and_its_jobs_count_once(#[case] votes: &str) {
    let api = Api::script([Step::Answer(judge)]);
    let mut env = home(&api);
    let config = fs::read_to_string(env.config_dir().join("config.toml")).unwrap();
    env.write_config(&config.replace("\"local\"", &format!("\"{votes}\"")));

    let before = points(&env, "project");
    let expected = [
        "pat-001 32/2",
        "pat-002 24/0 pinned",
        "mis-001 12/1",
        "pref-001 9/0",
        "ctx-001 100/4",
        "oth-001 1/0",
    ];
    assert_eq!(counters(&before), expected);
    assert_eq!(before.len(), 10, "{before:?}");
    // The file says 5/1 and 0/0; one more vote for each was stored separately.
    let team = points(&env, "team");
    assert_eq!(counters(&team), ["pat-001 6/1", "pat-002 1/0"]);
    let own = own_points(&env);
    assert_eq!(own, ["my-001 2/0 Answer in short sentences."]);
    let file = env.playbook();
    let holds = held(&env);
    assert_eq!(holds.as_array().unwrap().len(), 2, "{holds}");
    let jobs = env.cli(&["jobs", "--json"]).json()["jobs"].clone();
    assert_eq!(texts(&jobs, "session"), ["a3", "t3", "a1", "a4"]);
    let learned = |env: &TestEnv| {
        let stats = asked(env, &["stats"], "project");
        ["errors", "error_occurrences", "lessons_stored"].map(|key| stats[key].as_u64().unwrap())
    };
    let known = learned(&env);
    let past = ["project", "team"].map(|project| history(&env, project));
    assert_eq!(past.each_ref().map(Vec::len), [5, 2], "{past:?}");

    env.worker();

    // Two sessions vote, the one that had counted does not, and one waits for its own key.
    let changed = |points: &[String], changes: &[(&str, &str)]| -> Vec<String> {
        let change = |point: &String| {
            let found = changes.iter().find(|(from, _)| point.starts_with(from));
            found.map_or(point.clone(), |(from, to)| point.replacen(from, to, 1))
        };
        points.iter().map(change).collect()
    };
    let voted = [
        ("pat-001 32/2", "pat-001 33/2"),
        ("mis-001 12/1", "mis-001 12/2"),
    ];
    assert_eq!(points(&env, "project"), changed(&before, &voted));
    let voted = [("pat-001 6/1", "pat-001 7/1")];
    assert_eq!(points(&env, "team"), changed(&team, &voted));
    assert_eq!(own_points(&env), own);
    let left = env.cli(&["jobs", "--json"]).json()["jobs"].clone();
    assert_eq!(left, json!([jobs[3]]));
    assert_eq!(env.spool().len(), 1);
    assert_eq!(held(&env), holds);
    assert_eq!(learned(&env), known);
    for (project, session, past) in [("project", "a3", &past[0]), ("team", "t3", &past[1])] {
        let now = history(&env, project);
        assert!(now.ends_with(past), "{now:?}");
        let mut new = now[..now.len() - past.len()].iter();
        // The pull that brought two key points is a change of the file by hand.
        assert!(new.any(|job| job["session"] == session), "{now:?}");
        assert!(new.all(|job| job["event"] == "hand-edit"), "{now:?}");
    }

    // Foreign keys in the file stay; with local votes none of its counters changes.
    let now = env.playbook();
    assert_eq!(now["team_notes"], file["team_notes"]);
    let point = &now["sections"]["PATTERNS & APPROACHES"][0];
    assert_eq!(point["ticket"], "DOC-7");
    if votes == "local" {
        assert_eq!(now["sections"], file["sections"]);
    }
    let applied = |file: &Value| file["playbook"]["applied"].as_array().unwrap().clone();
    assert!(applied(&now).starts_with(&applied(&file)), "{now}");

    // Nothing counts again when another worker runs or each session ends again.
    let done = all(&env);
    env.worker();
    assert_eq!(all(&env), done);
    for (project, session) in [
        ("project", "a1"),
        ("project", "a3"),
        ("team", "t1"),
        ("team", "t3"),
    ] {
        end(&mut env, project, session);
    }
    env.worker();
    assert_eq!(all(&env), done);

    let project = env.project();
    env.set("CLAUDE_PROJECT_DIR", project);
    let given = env.start("s1").0;
    has!(given, "[pat-001] Run `just check`");
    has!(given, "[my-001] Answer in short");
    lacks!(given, "evil.test", "elsewhere.test");
}
