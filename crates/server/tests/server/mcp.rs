//! Promise: an MCP client finds four tools with short descriptions; they answer as the command line
//! does. An agent's proposals are not used before the user has decided.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::user::User;

/// The limit of all definitions in characters: 600 tokens of about four.
const MOST: usize = 2_400;

struct Client {
    user: User,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    fn new() -> Self {
        let user = User::new();
        let mut child = user
            .command(&["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self {
            user,
            child,
            input,
            output,
            asked: 0,
        };
        let about = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        let met = client.ask("initialize", &about);
        assert!(met["capabilities"]["tools"].is_object(), "{met}");
        let about = json!({"name": "playbook", "version": env!("CARGO_PKG_VERSION")});
        assert_eq!(met["serverInfo"], about);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            let is_fine = self.output.read_line(&mut line).unwrap() > 0;
            assert!(is_fine, "the server has gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message.get("result").unwrap_or(&message).clone();
            }
        }
    }

    /// Calls a tool; returns its text, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let told = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let text = told["content"][0]["text"].as_str().unwrap_or_default();
        (text.to_owned(), told["isError"] == true)
    }

    fn cli(&self, args: &[&str]) -> String {
        self.user.ok(args).0
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn four_tools_are_offered_in_few_words() {
    let mut client = Client::new();
    let tools = client.ask("tools/list", &json!({}))["tools"].clone();
    let names = tools.as_array().unwrap().iter().map(|tool| &tool["name"]);
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["recall", "remember", "seen", "show"]);
    let length = tools.to_string().len();
    assert!(length <= MOST, "{length} characters: {tools}");
}

#[test]
fn what_is_known_is_told() {
    let mut client = Client::new();
    client.cli(&["add", "run `just test` before each commit"]);
    client.user.learn("Run `just build` before the tag.");
    let (shown, _) = client.call("show", &json!({}));
    assert!(shown.contains("just test"), "{shown}");
    let (found, _) = client.call("recall", &json!({"query": "--release tag"}));
    assert!(found.contains("just build"), "{found}");
    let (seen, is_error) = client.call("seen", &json!({"error": "error: no such thing"}));
    assert!(!is_error && !seen.is_empty(), "{seen}");
}

#[test]
fn what_is_to_be_remembered_waits_for_the_user() {
    let mut client = Client::new();
    let proposal = json!({"text": "Use nextest here.", "section": "patterns"});
    let (told, is_error) = client.call("remember", &proposal);
    assert!(!is_error && told.contains("held back"), "{told}");
    assert!(!client.cli(&["show"]).contains("nextest"));
    let waits: Value = serde_json::from_str(&client.cli(&["review", "--json"])).unwrap();
    let [held] = &waits["quarantine"].as_array().unwrap()[..] else {
        panic!("one: {waits}");
    };
    assert_eq!(held["reasons"], "only proposed; it waits for your word");
    client.cli(&["review", "accept", &held["id"].to_string()]);
    assert!(client.cli(&["show"]).contains("nextest"));
}

#[test]
fn a_mistake_is_an_error_of_the_tool_and_the_server_goes_on() {
    let mut client = Client::new();
    let (told, is_error) = client.call("remember", &json!({"text": "x", "section": "nowhere"}));
    assert!(is_error && told.contains("nowhere"), "{told}");
    client.ask("tools/call", &json!({"name": "forget", "arguments": {}}));
    let wrong = json!({"name": "recall", "arguments": {"query": 7}});
    client.ask("tools/call", &wrong);
    assert!(!client.call("show", &json!({})).0.is_empty());
}
