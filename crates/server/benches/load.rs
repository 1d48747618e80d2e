//! The server under load, with 100,000 records of one tenant: `cargo bench -p playbook-server`.
//!
//! Measures the latency of queries and the rate of error look-ups, on this machine's database and,
//! if installed, on `PostgreSQL`. `-- --soak SECONDS` also checks that memory does not grow. Needs
//! `cargo build --release` first, since it starts the programs as users do.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a bench makes files as users do"
)]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/server/chance.rs"]
mod chance;
#[path = "../tests/server/postgres.rs"]
mod postgres;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/server/served.rs"]
mod served;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../../tests/common/session.rs"]
mod session;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/server/user.rs"]
mod user;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use playbook::errors::Signature;
use playbook::memory::Memory;
use playbook::paths::Paths;
use playbook::reflect::learned::{Learned, LearnedFrom, NewError, NewLesson, NewReflection};
use playbook::tenant::Tenant;
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::postgres::Postgres;
use crate::served::Server;
use crate::user::User;

const RECORDS: u64 = 100_000;
const PORTION: u64 = 1_000;
const PROJECTS: u64 = 20;
const WORDS: f64 = 20_000.0;
const SECONDS: u64 = 15;
/// The rate limit is not under test.
const RATE: [&str; 2] = ["--rate", "1000000"];
/// The limits: the duration of the slowest of a hundred queries, and the rate of error look-ups.
const SLOWEST_MS: f64 = 20.0;
const SEEN_PER_SECOND: f64 = 1_000.0;

fn main() {
    let soak = std::env::args().skip_while(|arg| arg != "--soak").nth(1);
    let soak = soak.map(|seconds| seconds.parse().unwrap());
    let source = User::new();
    println!("filling a memory with {RECORDS} records ...");
    let begun = Instant::now();
    fill(&source);
    println!("  {:.0} s", begun.elapsed().as_secs_f64());

    println!("on this machine:");
    let mut here = Server::start(source, &RATE, None);
    measure(&here, soak);
    here.child.kill().unwrap();
    let Some(store) = Postgres::start() else {
        return;
    };
    let source = &here.user;
    source.ok(&["config", "set", "memory.url", &store.url("tenant_team")]);
    let begun = Instant::now();
    source.send();
    println!("  copied in {:.0} s", begun.elapsed().as_secs_f64());
    store.sql("VACUUM ANALYZE");
    let user = User::sharing(&store.url("playbook_server"));
    println!("on PostgreSQL:");
    let options = [&RATE[..], &["--postgres"]].concat();
    measure(&Server::start(user, &options, Some(store)), soak);
}

/// Returns a word. As in a language, a few words are in most texts, and most words in a few.
fn word(chance: &mut Chance) -> String {
    let share = chance.below(1 << 20) as f64 / f64::from(1 << 20);
    format!("w{:.0}x", WORDS.powf(share))
}

/// Returns words to search for. The most common ones are left out, since every search drops them.
fn wanted(chance: &mut Chance, words: usize) -> String {
    let all = std::iter::repeat_with(|| word(chance)).filter(|word| word.len() > 3);
    all.take(words).collect::<Vec<_>>().join(" ")
}

fn text(chance: &mut Chance, words: u64) -> String {
    let words: Vec<String> = (0..words).map(|_| word(chance)).collect();
    words.join(" ")
}

fn fill(user: &User) {
    let mut chance = Chance::new(42);
    let state = user.database();
    let mut own = Memory::open(&state).unwrap();
    let paths = Paths::resolve(&playbook::env::Env::from_pairs([(
        "PLAYBOOK_STATE_DIR",
        state.parent().unwrap(),
    )]))
    .unwrap();
    let team = paths.memory_of(&Tenant::named("team"));
    fs::create_dir_all(team.parent().unwrap()).unwrap();
    let mut team = Memory::open(&team).unwrap();
    for portion in 0..RECORDS / PORTION {
        let source = LearnedFrom {
            project: format!("project-{}", portion % PROJECTS),
            session: String::new(),
            root: String::new(),
            job: format!("job-{portion}"),
            time: "2026-01-05T10:00:00Z".parse().unwrap(),
        };
        let learned: Vec<Learned> = (0..PORTION)
            .map(|n| record(portion * PORTION + n, &mut chance))
            .collect();
        team.learn(&source, &learned).unwrap();
        own.learn(&source, &learned).unwrap();
    }
}

fn record(number: u64, chance: &mut Chance) -> Learned {
    let importance = chance.below(100) as f64 / 100.0;
    match number % 5 {
        0 => Learned::Lesson(NewLesson {
            task_type: word(chance),
            mistake: text(chance, 8),
            correction: format!("{} {number}", text(chance, 15)),
            importance,
            ..NewLesson::default()
        }),
        1 => {
            let subject = format!("tool{}", number % 50);
            let example = error(number);
            Learned::Error(NewError {
                signature: Signature::of_error(&subject, &example),
                keys: std::collections::BTreeSet::default(),
                error_type: subject,
                example,
                occurrences: 1,
                importance,
                ..NewError::default()
            })
        }
        _ => Learned::Reflection(NewReflection {
            text: format!("{} {number}", text(chance, 30)),
            importance,
            confidence: 0.5,
            tags: vec![word(chance)],
            ..NewReflection::default()
        }),
    }
}

fn error(number: u64) -> String {
    format!("error: w{number}x has failed")
}

/// Returns the server's resident memory, in MiB.
fn resident(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        / 1024
}

/// Returns durations in milliseconds.
fn load(
    server: &Server,
    connections: u64,
    time: Duration,
    question: impl Fn(&mut Chance) -> (&'static str, Value) + Sync,
) -> Vec<f64> {
    let all = Mutex::new(Vec::new());
    let end = Instant::now() + time;
    thread::scope(|scope| {
        for number in 0..connections {
            let (all, question) = (&all, &question);
            scope.spawn(move || {
                let mut chance = Chance::new(number * 7919 + 17);
                let mut took = Vec::new();
                let mut line = KeptConnection::open(server.port);
                while Instant::now() < end {
                    let (path, body) = question(&mut chance);
                    let begun = Instant::now();
                    line.ask(&server.team, path, &body);
                    took.push(begun.elapsed().as_secs_f64() * 1e3);
                }
                all.lock().unwrap().extend(took);
            });
        }
    });
    let mut all = all.into_inner().unwrap();
    all.sort_by(f64::total_cmp);
    all
}

struct KeptConnection(BufReader<TcpStream>);

impl KeptConnection {
    fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    fn ask(&mut self, token: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let request = format!(
            "POST /api/v1/{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            if line.starts_with("HTTP/") {
                assert!(line.contains(" 200 "), "{line}");
            }
            if let Some(told) = line.strip_prefix("content-length: ") {
                length = told.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        self.0.read_exact(&mut answer).unwrap();
        serde_json::from_slice(&answer).unwrap()
    }
}

fn measure(server: &Server, soak: Option<u64>) {
    let time = Duration::from_secs(SECONDS);
    let found = KeptConnection::open(server.port).ask(
        &server.team,
        "reflections/query",
        &json!({"query_text": "w1x", "k": 5}),
    );
    assert_eq!(
        found["memories"].as_array().unwrap().len(),
        5,
        "the records are there"
    );
    for connections in [1, 2] {
        let all = load(server, connections, time, query);
        println!(
            "  query, {connections} at a time: {} asked, median {:.1} ms, p99 {:.1} ms (bar {SLOWEST_MS})",
            all.len(),
            all[all.len() / 2],
            all[all.len() * 99 / 100],
        );
    }
    let all = load(server, 8, time, seen);
    let rate = all.len() as f64 / time.as_secs_f64();
    println!(
        "  seen: {rate:.0} a second (bar {SEEN_PER_SECOND}), p99 {:.1} ms",
        all[all.len() * 99 / 100]
    );
    println!("  memory: {} MiB", resident(server));
    if let Some(seconds) = soak {
        let mut grown = Vec::new();
        for _ in 0..10 {
            let mixed = |chance: &mut Chance| match chance.below(3) {
                0 => (
                    "reflections/query",
                    json!({"query_text": wanted(chance, 2)}),
                ),
                _ => seen(chance),
            };
            load(server, 8, Duration::from_secs(seconds / 10), mixed);
            grown.push(resident(server));
        }
        println!("  memory by the tenth of {seconds} s, in MiB: {grown:?}");
    }
}

fn query(chance: &mut Chance) -> (&'static str, Value) {
    let mut query = json!({"query_text": wanted(chance, 3), "min_importance": 0.3});
    if chance.below(2) == 0 {
        query["project_id"] = format!("project-{}", chance.below(PROJECTS)).into();
    }
    ("reflections/query", query)
}

fn seen(chance: &mut Chance) -> (&'static str, Value) {
    let number = chance.below(RECORDS);
    (
        "errors/seen",
        json!({"error": error(number), "tool": format!("tool{}", number % 50)}),
    )
}
