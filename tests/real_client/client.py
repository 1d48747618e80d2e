"""Runs the real client as a user of its own: HOME, project, and nothing from outside."""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path

KEY = "sk-ant-api03-loopback-only-0123456789abcdef"
# Far above what anything needs.
PATIENCE = 90


def wait_for(what, look, patience=PATIENCE):
    """Polls until `look` finds something."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise TimeoutError(f"waited {patience} s for {what}")


class User:
    """A HOME with a client that never leaves loopback."""

    def __init__(self, root, claude, api):
        self.home = Path(root)
        self.claude = claude
        self.api = api
        self.events_file = self.home / "events.jsonl"
        self.events_file.parent.mkdir(parents=True, exist_ok=True)
        self.events_file.write_text("")
        self.more = []
        path = self.home / "path"
        path.mkdir()
        (path / "claude").symlink_to(claude)
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{path}:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def project(self, name, playbook=True):
        """A project with one key point."""
        folder = self.home / "work" / name
        (folder / ".claude").mkdir(parents=True)
        if playbook:
            point = {"name": "pat-001", "text": f"keep {name} in mind", "helpful": 0, "harmful": 0}
            text = {"version": "1.0", "sections": {"PATTERNS & APPROACHES": [point]}}
            (folder / ".claude/playbook.json").write_text(json.dumps(text))
        state = self.home / ".claude.json"
        known = json.loads(state.read_text()) if state.exists() else {}
        known.setdefault("hasCompletedOnboarding", True)
        known.setdefault("theme", "dark")
        known.setdefault("customApiKeyResponses", {"approved": [KEY[-20:]], "rejected": []})
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known.setdefault("projects", {})[str(folder)] = trusted
        state.write_text(json.dumps(known))
        return folder

    def log_events(self):
        """Has the client write down every event: the test's own hooks, beside Playbook's."""
        names = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PostCompact", "SubagentStop")
        command = f"cat >> '{self.events_file}'"
        hooks = {name: [{"hooks": [{"type": "command", "command": command}]}] for name in names}
        settings = self.home / ".claude/settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"hooks": hooks}, indent=2))

    def events(self, name=None, **keys):
        found = []
        for line in self.events_file.read_text().splitlines():
            event = json.loads(line)
            if name in (None, event["hook_event_name"]):
                if all(event.get(key) == value for key, value in keys.items()):
                    found.append(event)
        return found

    def transcripts(self):
        return sorted((self.home / ".claude/projects").glob("**/*.jsonl"))

    def run(self, folder, *args, env=None):
        """One run of `claude -p`; returns its result line and when it was over."""
        command = [self.claude, "-p", "--output-format", "json", *self.more, *args]
        done = subprocess.run(
            command,
            cwd=folder,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        over = time.monotonic()
        if done.returncode != 0:
            raise RuntimeError(f"claude -p ended with {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout.splitlines()[-1]), over

    def program(self):
        program = self.home / ".claude/playbook/bin/playbook"
        return program if program.exists() else self.plugin / "bin/playbook"

    def playbook(self, folder, *args):
        done = subprocess.run(
            [self.program(), *args], cwd=folder, env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    def settle(self):
        """Waits until every job is done and no worker is left."""

        def is_quiet():
            jobs = json.loads(self.playbook(self.home, "jobs", "--json"))["jobs"]
            return not jobs and not self.workers()

        wait_for("the jobs to be done", is_quiet)

    def workers(self):
        mark = f"HOME={self.home}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    line = (entry / "cmdline").read_bytes().split(b"\0")
                    if b"worker" in line and mark in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    pass
        return found


class Terminal:
    """The client in a terminal, as a person uses it."""

    def __init__(self, user, folder, *args):
        self.user = user
        before = len(user.events("SessionStart"))
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            command = [user.claude, *user.more, *args]
            os.execve(user.claude, [str(part) for part in command], user.env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        self.seen = b""
        self.last = time.monotonic()
        threading.Thread(target=self.read, daemon=True).start()
        try:
            wait_for("the session to start", lambda: len(user.events("SessionStart")) > before)
            self.quiet()
        except TimeoutError:
            raise TimeoutError(f"the client did not start: {self.screen()}") from None

    def read(self):
        while True:
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                return
            if not part:
                return
            self.seen += part
            self.last = time.monotonic()

    def screen(self):
        text = self.seen.decode(errors="replace")
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07]*\x07", "", text)[-3000:]

    def quiet(self, pause=1.0):
        """Waits until the screen has stood still."""
        wait_for("a screen that stands still", lambda: time.monotonic() - self.last > pause)

    def type(self, text):
        os.write(self.fd, text.encode())
        time.sleep(0.5)
        os.write(self.fd, b"\r")

    def say(self, text):
        """Types a prompt and waits until its turn is over."""
        before = len(self.user.events("Stop"))
        self.command(text, "UserPromptSubmit")
        wait_for("the turn to end", lambda: len(self.user.events("Stop")) > before)
        self.quiet()

    def command(self, text, event):
        """Types a line and waits for the event that shows that it was taken."""
        before = len(self.user.events(event))
        self.type(text)
        for _ in range(6):
            try:
                wait_for(event, lambda: len(self.user.events(event)) > before, PATIENCE / 6)
                return self.quiet()
            except TimeoutError:
                # A busy client may have taken Enter for a part of pasted text.
                os.write(self.fd, b"\r")
        raise TimeoutError(f"nothing came of {text}: {self.screen()}")

    def kill(self, number):
        os.kill(self.pid, number)
        self.wait()

    def exit(self):
        self.command("/exit", "SessionEnd")
        self.wait()

    def wait(self):
        def is_over():
            pid, _ = os.waitpid(self.pid, os.WNOHANG)
            return pid == self.pid

        try:
            wait_for("the client to end", is_over, 30)
        except TimeoutError:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise TimeoutError(f"the client did not end: {self.screen()}") from None
