//! Promise: after any kills and cut connections, every record of every machine is in the database
//! once, and on its own machine once.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use playbook::memory::Memory;
use playbook::reflect::learned::{
    Effect, EffectWhenShown, Learned, LearnedFrom, NewLesson, NewReflection,
};

use crate::chance::{Chance, is_heavy};
use crate::postgres::Postgres;
use crate::user::User;

#[test]
fn each_record_is_once_on_its_machine_and_once_in_the_database() {
    let (machines, records, strikes) = if is_heavy() {
        (10_usize, 2_000, 120)
    } else {
        (4, 60, 12)
    };
    let Some(db) = Postgres::start() else { return };
    let mut chance = Chance::new(Chance::seed());
    let is_cut = Arc::new(AtomicBool::new(false));
    let port = bad_line(db.at().join(".s.PGSQL.5432"), Arc::clone(&is_cut));
    let url = format!("postgres://tenant_team@127.0.0.1:{port}/postgres");
    let users: Vec<User> = (0..machines).map(|_| User::sharing(&url)).collect();
    thread::scope(|scope| {
        for (number, user) in users.iter().enumerate() {
            let mut chance = Chance::new(chance.next());
            scope.spawn(move || live(user, number, records, strikes, &mut chance));
        }
        // Partitions while they write.
        for _ in 0..strikes {
            thread::sleep(Duration::from_millis(chance.below(60)));
            is_cut.store(chance.below(4) == 0, Ordering::Relaxed);
        }
        is_cut.store(false, Ordering::Relaxed);
    });
    is_cut.store(false, Ordering::Relaxed);
    for user in &users {
        user.send();
        let memory = Memory::open(&user.database()).unwrap();
        let stats = memory.stats(None).unwrap();
        assert_eq!(stats.total_reflections, records / 2, "each once");
        assert_eq!(
            (stats.reflections, stats.lessons),
            (records / 2, records / 2)
        );
        assert_eq!(memory.unsent().unwrap(), 0);
        // Each lesson was rated helpful once.
        assert_eq!(stats.shown, records / 2);
    }
    let all = machines as u64 * records;
    let same = records.div_ceil(SAME);
    let different = same + machines as u64 * (records - same);
    let sums = "sum(occurrences), sum(times_applied) FROM playbook";
    let stored = db.sql(&format!("SELECT count(*), {sums}.memories"));
    assert_eq!(stored, format!("{different}|{all}|{}", all / 2));
    let counted = db.sql(&format!("SELECT count(*), {sums}.counts"));
    assert_eq!(counted, format!("{all}|{all}|{}", all / 2));
}

/// Learns records in batches on one machine and sends meanwhile; some of its processes are killed.
fn live(user: &User, number: usize, records: u64, strikes: u64, chance: &mut Chance) {
    // The machine's clock is years behind or ahead.
    let year = 2020 + number;
    let now = format!("{year}-03-01T10:00:00Z");
    let send = || {
        let mut command = user.sender();
        command.env("PLAYBOOK_NOW", &now);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let portions = strikes / 4;
    let mut done = 0;
    Memory::open(&user.database()).unwrap().send_all().unwrap();
    for portion in 0..portions {
        let until = records * (portion + 1) / portions;
        let mut memory = Memory::open(&user.database()).unwrap();
        for record in done..until {
            learn(&mut memory, number, record, &now);
        }
        drop(memory);
        done = until;
        for _ in 0..4 {
            let mut child = send();
            if chance.below(3) > 0 {
                thread::sleep(Duration::from_millis(chance.below(120)));
                _ = child.kill();
            }
            child.wait().unwrap();
        }
    }
}

/// One record of so many is the same on all machines.
const SAME: u64 = 7;

fn learn(memory: &mut Memory, machine: usize, record: u64, now: &str) {
    let mut learn = |learned, what: &str| {
        let source = LearnedFrom {
            project: "/work".to_owned(),
            session: String::new(),
            root: String::new(),
            job: format!("machine{machine}-{record}{what}"),
            time: now.parse().unwrap(),
        };
        memory.learn(&source, &[learned]).unwrap().pop()
    };
    let who = if record.is_multiple_of(SAME) {
        "every machine".to_owned()
    } else {
        format!("machine {machine}")
    };
    let text = format!("what {who} has seen as number {record}");
    if record.is_multiple_of(2) {
        let lesson = NewLesson {
            task_type: "test".to_owned(),
            correction: text,
            importance: 0.9,
            ..NewLesson::default()
        };
        let id = learn(Learned::Lesson(lesson), "").unwrap();
        let effect = Effect::Helped;
        learn(Learned::Shown(EffectWhenShown { id, effect }), "-shown");
    } else {
        let reflection = NewReflection {
            text,
            importance: 0.9,
            ..NewReflection::default()
        };
        learn(Learned::Reflection(reflection), "");
    }
}

/// Opens a relay to the server that can be cut: nothing passes then, and open connections break.
fn bad_line(socket: PathBuf, is_cut: Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(client) = client else { return };
            let Ok(server) = UnixStream::connect(&socket) else {
                return;
            };
            let is_cut = Arc::clone(&is_cut);
            thread::spawn(move || carry(&client, &server, &is_cut));
        }
    });
    port
}

fn carry(client: &TcpStream, server: &UnixStream, is_cut: &AtomicBool) {
    let hang_up = || {
        _ = client.shutdown(Shutdown::Both);
        _ = server.shutdown(Shutdown::Both);
    };
    thread::scope(|scope| {
        scope.spawn(|| pass(&mut &*client, &mut &*server, is_cut, hang_up));
        pass(&mut &*server, &mut &*client, is_cut, hang_up);
    });
}

fn pass(
    from: &mut impl std::io::Read,
    to: &mut impl std::io::Write,
    is_cut: &AtomicBool,
    hang_up: impl Fn(),
) {
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if is_cut.load(Ordering::Relaxed) || to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    hang_up();
}
