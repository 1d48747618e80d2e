//! A loopback Messages API: records every request, answers as scripted, and misbehaves on demand.
//! Dropping it closes all connections.

// Each test binary uses another part of this.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The tokens that every message of this server reports.
pub const INPUT_TOKENS: u64 = 10;
pub const OUTPUT_TOKENS: u64 = 5;

#[derive(Clone, Debug)]
pub enum Step {
    /// Answers a reflector's or curator's prompt with canned JSON, any other with prose.
    Canned,
    Text(String),
    /// A message with this function's result for the prompt.
    Answer(fn(&str) -> String),
    /// A message with this text and this stop reason: `max_tokens`, `refusal`.
    Stop(&'static str, String),
    Empty,
    Status(u16, Vec<(String, String)>, String),
    Raw(Vec<u8>),
    /// A message whose JSON ends in its middle, though the HTTP answer is whole.
    Truncated,
    /// A message that the connection delivers only half.
    Broken,
    /// Closes the connection without an answer.
    Drop,
    /// Waits, then does the other step.
    Sleep(Duration, Box<Step>),
}

impl Step {
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Completes a scripted reply, so that a script need not know the numbers of notes. Operations
    /// without grounds get all notes of the curator's prompt. A reflector's reply before a
    /// curator's operations gets a note.
    fn fitted(self, prompt: &str, next: Option<&Self>) -> Self {
        let Self::Text(text) = &self else { return self };
        let Ok(mut reply) = serde_json::from_str::<Value>(text) else {
            return self;
        };
        if is_for_curator(prompt) {
            let notes = note_ids(prompt);
            let operations = reply.get_mut("operations");
            let Some(operations) = operations.and_then(Value::as_array_mut) else {
                return self;
            };
            for operation in operations
                .iter_mut()
                .filter(|operation| operation.is_object())
            {
                if operation.get("grounds").is_none() {
                    operation["grounds"] = json!(notes);
                }
            }
        } else {
            let curates =
                |step: &Self| matches!(step, Self::Text(text) if text.contains("\"operations\""));
            if reply.get("bullet_tags").is_none()
                || reply.get("notes").is_some()
                || !next.is_some_and(curates)
            {
                return self;
            }
            reply["notes"] =
                json!([{"task_type": "work", "correction": "A note.", "events": [1, 2]}]);
        }
        Self::Text(reply.to_string())
    }

    /// Returns a status with an API error of the given type as its body.
    pub fn error(status: u16, sort: &str, message: &str) -> Self {
        let body = json!({"type": "error", "error": {"type": sort, "message": message}});
        Self::Status(status, Vec::new(), body.to_string())
    }

    pub fn retry_after(status: u16, wait: &str) -> Self {
        let headers = vec![("retry-after".to_owned(), wait.to_owned())];
        Self::Status(status, headers, String::new())
    }

    /// A message whose text is the prompt.
    pub fn echo() -> Self {
        Self::Answer(str::to_owned)
    }

    /// An answer that votes each cited key point helpful and takes no note.
    pub fn votes() -> Self {
        Self::Answer(|prompt| {
            let tags = prompt
                .lines()
                .find_map(|line| line.strip_prefix("The agent cited these key points: "))
                .and_then(|line| line.split_once(". "))
                .map(|(ids, _)| ids)
                .unwrap_or_default()
                .split(", ")
                .map(|id| json!({"name": id.trim_matches(['[', ']']), "tag": "helpful", "rationale": "it was followed"}));
            json!({"analysis": "It went well.", "bullet_tags": tags.collect::<Vec<_>>()})
                .to_string()
        })
    }

    pub fn after(self, wait: Duration) -> Self {
        Self::Sleep(wait, Box::new(self))
    }
}

#[derive(Clone, Debug)]
pub struct Request {
    pub at: Instant,
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Returns the system text and all messages, one after the other.
    pub fn prompt(&self) -> String {
        let body = self.json();
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let contents = messages.iter().map(|message| text_of(&message["content"]));
        let mut all = vec![text_of(&body["system"])];
        all.extend(contents);
        all.join("\n")
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

pub struct Api {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    script: VecDeque<Step>,
    requests: Vec<Request>,
    open: Vec<TcpStream>,
    closing: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until the server closes at the latest.
    fn sleep(&self, wait: Duration) {
        let state = self.state();
        _ = self
            .changed
            .wait_timeout_while(state, wait, |state| !state.closing);
    }
}

impl Api {
    /// Starts a server that answers every prompt sensibly.
    pub fn canned() -> Self {
        Self::script([Step::Canned])
    }

    /// Starts a server with a script of one step per request; the last one repeats.
    pub fn script(steps: impl IntoIterator<Item = Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let shared = Arc::new(Shared::default());
        shared.state().script = steps.into_iter().collect();
        let listening = thread::spawn({
            let shared = Arc::clone(&shared);
            move || listen(&listener, &shared)
        });
        Self {
            address,
            shared,
            listening: Some(listening),
        }
    }

    pub fn now(&self, steps: impl IntoIterator<Item = Step>) {
        self.shared.state().script = steps.into_iter().collect();
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// Waits until there were `count` requests; fails the test after `at_most`.
    #[track_caller]
    pub fn wait_for(&self, count: usize, at_most: Duration) -> Vec<Request> {
        let state = self.shared.state();
        let (state, _) = self
            .shared
            .changed
            .wait_timeout_while(state, at_most, |state| state.requests.len() < count)
            .unwrap_or_else(PoisonError::into_inner);
        let seen = state.requests.len();
        assert!(seen >= count, "{seen} of {count} requests came");
        state.requests.clone()
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        {
            let mut state = self.shared.state();
            state.closing = true;
            for stream in &state.open {
                _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.shared.changed.notify_all();
        // Wakes the listener, which then sees that it is over.
        _ = TcpStream::connect(self.address);
        if let Some(listening) = self.listening.take() {
            _ = listening.join();
        }
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut serving = Vec::new();
    for stream in listener.incoming().map_while(Result::ok) {
        {
            let mut state = shared.state();
            if state.closing {
                break;
            }
            state.open.extend(stream.try_clone());
        }
        let shared = Arc::clone(shared);
        serving.push(thread::spawn(move || serve(stream, &shared)));
    }
    for connection in serving {
        _ = connection.join();
    }
}

/// Answers the requests of one connection until it or the server closes.
fn serve(mut stream: TcpStream, shared: &Shared) {
    let Ok(half) = stream.try_clone() else { return };
    let mut reader = BufReader::new(half);
    while let Some(request) = read_request(&mut reader) {
        let step = {
            let mut state = shared.state();
            state.requests.push(request.clone());
            match state.script.len() {
                0 => Step::Canned,
                1 => state.script[0].clone(),
                _ => state.script.pop_front().unwrap_or(Step::Canned),
            }
        };
        let step = {
            let state = shared.state();
            step.fitted(&request.prompt(), state.script.front())
        };
        shared.changed.notify_all();
        if play(&step, &request, &mut stream, shared).is_none() {
            break;
        }
    }
    _ = stream.shutdown(Shutdown::Both);
}

fn read_request(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => {
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
            None => break,
        }
    }
    let length = headers.get("content-length").and_then(|n| n.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        at: Instant::now(),
        method,
        path,
        headers,
        body,
    })
}

/// Performs a step; `None` if the connection must close.
fn play(step: &Step, request: &Request, stream: &mut TcpStream, shared: &Shared) -> Option<()> {
    let body = match step {
        Step::Canned => message(request, &canned(&request.prompt()), "end_turn"),
        Step::Text(text) => message(request, text, "end_turn"),
        Step::Answer(answer) => message(request, &answer(&request.prompt()), "end_turn"),
        Step::Stop(reason, text) => message(request, text, reason),
        Step::Empty => {
            let empty = message(request, "", "end_turn");
            let mut empty: Value = serde_json::from_slice(&empty).ok()?;
            empty["content"] = json!([]);
            empty.to_string().into_bytes()
        }
        Step::Status(status, headers, body) => {
            return send(stream, *status, headers, body.as_bytes());
        }
        Step::Raw(bytes) => bytes.clone(),
        Step::Truncated => {
            let mut body = message(request, "half a reply", "end_turn");
            body.truncate(body.len() / 2);
            body
        }
        Step::Broken => {
            let body = message(request, "half a reply", "end_turn");
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
            stream.write_all(head.as_bytes()).ok()?;
            stream.write_all(&body[..body.len() / 2]).ok()?;
            return None;
        }
        Step::Drop => return None,
        Step::Sleep(wait, then) => {
            shared.sleep(*wait);
            return play(then, request, stream, shared);
        }
    };
    send(stream, 200, &[], &body)
}

fn send(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> Option<()> {
    let mut head = format!(
        "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()
}

fn message(request: &Request, text: &str, stop_reason: &str) -> Vec<u8> {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant",
        "model": request.json()["model"],
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS,
                  "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    })
    .to_string()
    .into_bytes()
}

/// Returns `true` for a curator's prompt, recognised by words that only it has.
fn is_for_curator(prompt: &str) -> bool {
    prompt.contains("merged_text") || prompt.contains("source_ids")
}

/// Returns the ids of the notes in a curator's prompt: `n12 (1 session): …`.
fn note_ids(prompt: &str) -> Vec<String> {
    let first_words = prompt.lines().filter_map(|line| line.split_once(" ("));
    let ids = first_words.map(|(id, _)| id).filter(|id| {
        id.strip_prefix('n')
            .is_some_and(|digits| digits.parse::<u64>().is_ok())
    });
    ids.map(str::to_owned).collect()
}

/// Returns a sensible answer: a tag and a note, a key point based on the notes, or prose.
fn canned(prompt: &str) -> String {
    if is_for_curator(prompt) {
        json!({"reasoning": "mock", "operations": [
            {"type": "ADD", "text": "mock learned point", "section": "PATTERNS & APPROACHES",
             "grounds": note_ids(prompt)}]})
        .to_string()
    } else if prompt.contains("bullet_tags") {
        json!({"analysis": "mock analysis",
            "bullet_tags": [{"name": "pat-001", "tag": "helpful", "rationale": "cited"}],
            "notes": [{"task_type": "work", "correction": "A note.", "events": [1, 2]}]})
        .to_string()
    } else {
        "Following [pat-001], done.".to_owned()
    }
}
