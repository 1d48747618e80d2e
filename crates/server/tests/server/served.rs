//! A running server and its clients.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::postgres::Postgres;
use crate::user::User;

pub(crate) struct Server {
    pub(crate) user: User,
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) team: String,
    pub(crate) others: String,
    _store: Option<Postgres>,
}

pub(crate) struct Answer(pub(crate) u16, pub(crate) Value);

impl Server {
    pub(crate) fn here(options: &[&str]) -> Self {
        Self::start(User::new(), options, None)
    }

    /// Returns `None` if `PostgreSQL` is not installed.
    pub(crate) fn on_postgres(options: &[&str]) -> Option<Self> {
        let store = Postgres::start()?;
        let user = User::sharing(&store.url("playbook_server"));
        let options = [&["--postgres"], options].concat();
        Some(Self::start(user, &options, Some(store)))
    }

    /// Runs a test on both kinds of store, one after the other.
    pub(crate) fn on_each(test: impl Fn(&Self)) {
        test(&Self::here(&[]));
        if let Some(server) = Self::on_postgres(&[]) {
            test(&server);
        }
    }

    pub(crate) fn start(user: User, options: &[&str], store: Option<Postgres>) -> Self {
        let token = |tenant| {
            let (token, _) = user.ok(&["server", "token", "new", tenant]);
            token.trim().to_owned()
        };
        let (team, others) = (token("team"), token("others"));
        let serve = ["server", "serve", "--listen", "127.0.0.1:0"];
        let mut command = user.command(&[&serve, options].concat());
        command.env("AGENTIC_CONTEXT_API_KEY", "test");
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = lines
            .by_ref()
            .map(|line| line.unwrap())
            .find_map(|line| {
                let line: Value = serde_json::from_str(&line).expect(&line);
                let address = line["fields"]["address"].as_str()?.to_owned();
                address.rsplit(':').next()?.parse().ok()
            })
            .unwrap();
        thread::spawn(move || lines.for_each(drop));
        Self {
            user,
            child,
            port,
            team,
            others,
            _store: store,
        }
    }

    pub(crate) fn send(&self, head: &str, body: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let length = body.len();
        let head =
            format!("{head}\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        // A server that has refused the beginning stops reading.
        _ = stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let body = serde_json::from_str(body).unwrap_or_else(|_| body.into());
        Some(Answer(status, body))
    }

    pub(crate) fn ask(&self, token: &str, request: &str, body: &Value) -> Answer {
        let head = format!("{request} HTTP/1.1\r\nauthorization: Bearer {token}");
        self.send(&head, body.to_string().as_bytes()).unwrap()
    }

    pub(crate) fn told(&self, status: u16, request: &str, body: &Value) -> Value {
        let Answer(found, told) = self.ask(&self.team, request, body);
        assert_eq!(found, status, "{request} {body}: {told}");
        told
    }

    pub(crate) fn found(&self, token: &str, query: &Value) -> Vec<Value> {
        let Answer(status, told) = self.ask(token, "POST /api/v1/reflections/query", query);
        assert_eq!(status, 200, "{told}");
        told["memories"].as_array().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
