//! Plays sessions: the actions of clients, in any order.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::session::Session;
use crate::world::{Citation, PROJECTS, SESSIONS, World};
use crate::{Fallible, PLAYERS};

/// One of this many sessions begins as a copy of another.
const FORKS: u64 = 4;

pub(crate) struct Player<'a> {
    world: &'a World,
    dice: Dice,
    lives: Vec<Life>,
    cited: Vec<Citation>,
}

/// A session, and its client while it has one.
struct Life {
    id: String,
    project: u64,
    /// The records so far; `None` until it begins.
    session: Option<Session>,
    /// The number of bytes that are written to the transcript.
    written: usize,
    client: Option<Child>,
    /// `true` if a mark or a job covers all records so far.
    is_seen: bool,
}

impl<'a> Player<'a> {
    pub(crate) fn new(world: &'a World, number: u64, dice: Dice) -> Self {
        let lives = (0..SESSIONS / PLAYERS)
            .map(|n| Life {
                id: format!("session-{number}-{n}"),
                project: (number * 2 + n % 2) % PROJECTS,
                session: None,
                written: 0,
                client: None,
                is_seen: true,
            })
            .collect();
        Self {
            world,
            dice,
            lives,
            cited: Vec::new(),
        }
    }

    /// Plays until the deadline; returns the citations. In the end every client is dead, and only
    /// some have ended properly.
    pub(crate) fn play(mut self, deadline: Instant, pace: Duration) -> Fallible<Vec<Citation>> {
        while Instant::now() < deadline {
            let n = usize::try_from(self.dice.below(self.lives.len() as u64))?;
            self.act(n)?;
            sleep(pace.mul_f64(0.5 * f64::from(u32::try_from(self.dice.below(200))?) / 100.0));
        }
        for n in 0..self.lives.len() {
            if self.lives[n].client.is_some() {
                self.die(n)?;
            }
        }
        Ok(self.cited)
    }

    fn act(&mut self, n: usize) -> Fallible<()> {
        if self.lives[n].client.is_none() {
            return self.start(n);
        }
        match self.dice.below(100) {
            0..=69 => self.cite(n),
            70..=79 => self
                .hook(n, "pre-compact", json!({"trigger": "auto"}))
                .map(|_| ()),
            80..=91 => self.end(n),
            _ => self.die(n),
        }
    }

    /// Starts the client: a new session, a fork, or a resumed one.
    fn start(&mut self, n: usize) -> Fallible<()> {
        let client = Command::new("sleep")
            .arg("86400")
            .stdin(Stdio::null())
            .spawn()?;
        self.lives[n].client = Some(client);
        let mut source = "resume";
        if self.lives[n].session.is_none() {
            source = "startup";
            let fork = (n as u64 % FORKS == 3).then(|| self.parent_of(n)).flatten();
            let id = self.lives[n].id.clone();
            self.lives[n].session = Some(match fork {
                Some(parent) => {
                    source = "fork";
                    parent.fork(&id)
                }
                None => Session::new(&id),
            });
        }
        let is_seen = self.hook(n, "session-start", json!({"source": source}))?;
        self.lives[n].is_seen = is_seen;
        Ok(())
    }

    fn parent_of(&self, n: usize) -> Option<&Session> {
        let project = self.lives[n].project;
        let mut others = self.lives[..n]
            .iter()
            .filter(|life| life.project == project);
        others.find_map(|life| life.session.as_ref())
    }

    /// Cites a point that was not cited before.
    fn cite(&mut self, n: usize) -> Fallible<()> {
        let Some(citation) = self.world.uncited(self.lives[n].project) else {
            return Ok(());
        };
        let life = &mut self.lives[n];
        let Some(session) = &mut life.session else {
            return Ok(());
        };
        session
            .user("go on")
            .assistant(&format!("By [pat-{:03}], done.", citation.point));
        self.cited.push(citation);
        self.write(n)
    }

    /// Appends the new records to the transcript, as the client does.
    fn write(&mut self, n: usize) -> Fallible<()> {
        let life = &mut self.lives[n];
        let text = life.session.as_ref().map(Session::text).unwrap_or_default();
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.world.transcript(&life.id))?;
        file.write_all(&text.as_bytes()[life.written..])?;
        life.written = text.len();
        Ok(())
    }

    fn end(&mut self, n: usize) -> Fallible<()> {
        self.write(n)?;
        let mut is_seen = self.hook(n, "session-end", json!({"reason": "other"}))?;
        // With neither mark nor job no worker can find it, so the client ends again.
        if !is_seen && !self.lives[n].is_seen {
            self.world.unseen.fetch_add(1, SeqCst);
        }
        while !is_seen && !self.lives[n].is_seen {
            sleep(Duration::from_millis(20));
            is_seen = self.hook(n, "session-end", json!({"reason": "other"}))?;
        }
        self.kill_client(n)
    }

    fn die(&mut self, n: usize) -> Fallible<()> {
        if !self.lives[n].is_seen {
            return self.end(n);
        }
        self.write(n)?;
        self.kill_client(n)
    }

    fn kill_client(&mut self, n: usize) -> Fallible<()> {
        if let Some(mut client) = self.lives[n].client.take() {
            client.kill()?;
            client.wait()?;
        }
        Ok(())
    }

    /// Runs a hook; returns `true` if it could leave its trace: it was not killed, and the disk was
    /// not full.
    fn hook(&mut self, n: usize, hook: &str, own: Value) -> Fallible<bool> {
        let life = &self.lives[n];
        let client = life.client.as_ref().map_or(0, Child::id);
        let mut event: HashMap<String, Value> = serde_json::from_value(own)?;
        event.insert("session_id".to_owned(), json!(life.id));
        event.insert("cwd".to_owned(), json!(self.world.project(life.project)));
        let transcript = self.world.transcript(&life.id);
        event.insert("transcript_path".to_owned(), json!(transcript));
        let fillings = self.world.fillings.load(SeqCst);
        let was_full = self.world.disk.is_full();
        let mut child = self
            .world
            .command(hook, life.project)
            .env("CLAUDE_PID", client.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // The hook may be killed before it has read the input.
            _ = stdin.write_all(serde_json::to_string(&event)?.as_bytes());
        }
        let status = child.wait()?;
        let is_full = was_full || self.world.fillings.load(SeqCst) != fillings;
        Ok(status.success() && !is_full)
    }
}
