#!/usr/bin/env python3
"""Plays real sessions of Claude Code through Playbook, and checks what became of them.

usage: tests/real_client/run.py [--from ARCHIVE] [--claude PROGRAM]
                                [--only WORD] [--keep]

Installs the client from the npm registry into a temporary folder (or uses PROGRAM), then
runs it with an empty HOME against a loopback API, and where the system allows it (unshare)
in a network that has nothing but loopback. Everything is done twice: with Playbook installed
by install.sh, and as a plugin. Prints a table; exits with 1 when a line of it does not hold.
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from api import REFLECTOR, Api  # noqa: E402
import gate  # noqa: E402
import guard  # noqa: E402
from client import KEY, Terminal, User, wait_for  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
# By its tag: else npm takes the last version that asks for no newer Node.js, which the program
# itself does not need.
PACKAGE = "@anthropic-ai/claude-code@latest"
# Sessions with hooks and without, for the time that an exit takes.
ROUNDS = 7
# Noise of a small machine; the client's own limit for hooks is 1.5 s.
MAX_DELAY = 0.25


class Stage:
    """One way to have Playbook: the user, and the words that its prompts are told by."""

    def __init__(self, user, way):
        self.user = user
        self.way = way
        self.words = []

    def word(self, name):
        """A word that stands in one prompt and nowhere else."""
        word = f"{name.upper()}-{len(self.words) + 1}-{self.way.upper()}"
        self.words.append(word)
        return word

    # -- the scenarios: each plays its sessions and returns the words that it said

    def p_end(self, folder):
        word = self.word("p-end")
        self.user.run(folder, f"{word}: do something")
        return [word]

    def exit(self, folder):
        word = self.word("exit")
        terminal = Terminal(self.user, folder)
        terminal.say(f"{word}: do something")
        terminal.exit()
        return [word]

    def clear(self, folder):
        before, after = self.word("before-clear"), self.word("after-clear")
        terminal = Terminal(self.user, folder)
        terminal.say(f"{before}: do something")
        terminal.command("/clear", "SessionEnd")
        terminal.say(f"{after}: do something else")
        terminal.exit()
        return [before, after]

    def compact(self, folder):
        before, after = self.word("before-compact"), self.word("after-compact")
        terminal = Terminal(self.user, folder)
        terminal.say(f"{before}: do something")
        terminal.command("/compact", "PostCompact")
        terminal.say(f"{after}: do something else")
        terminal.exit()
        return [before, after]

    def resume(self, folder):
        first, second = self.word("first"), self.word("resumed")
        result, _ = self.user.run(folder, f"{first}: do something")
        self.user.settle()
        self.user.run(folder, "--resume", result["session_id"], f"{second}: go on")
        return [first, second]

    def fork(self, folder):
        first, second = self.word("origin"), self.word("forked")
        result, _ = self.user.run(folder, f"{first}: do something")
        again = ["--resume", result["session_id"], "--fork-session"]
        self.user.run(folder, *again, f"{second}: go on elsewhere")
        return [first, second]

    def sigterm(self, folder):
        word = self.word("sigterm")
        terminal = Terminal(self.user, folder)
        terminal.say(f"{word}: do something")
        terminal.kill(signal.SIGTERM)
        return [word]

    def sigkill(self, folder):
        killed, after = self.word("sigkill"), self.word("after-kill")
        terminal = Terminal(self.user, folder)
        terminal.say(f"{killed}: do something")
        terminal.kill(signal.SIGKILL)
        self.user.run(folder, f"{after}: a new session")
        return [killed, after]

    def subagent(self, folder):
        word = self.word("subagent")
        self.user.run(folder, f"{word}: RUN-A-SUBAGENT")
        assert self.user.events("SubagentStop"), "no subagent ran"
        return [word]

    def failing_tool(self, folder):
        word = self.word("failing-tool")
        allowed = ["--allowedTools", "Bash"]
        self.user.run(folder, *allowed, "--", f"{word}: RUN-A-FAILING-TOOL")
        return [word]

    SCENARIOS = {
        "-p end": p_end,
        "/exit": exit,
        "/clear": clear,
        "/compact": compact,
        "resume": resume,
        "fork": fork,
        "SIGTERM": sigterm,
        "SIGKILL, then a new session": sigkill,
        "a subagent": subagent,
        "a failing tool": failing_tool,
    }

    def play(self, name):
        """Plays one scenario and checks it; returns what is wrong."""
        folder = self.user.project("".join(c if c.isalnum() else "-" for c in name).strip("-"))
        words = self.SCENARIOS[name](self, folder)
        self.user.settle()
        wrong = []
        given = f"keep {folder.name} in mind"
        asked = self.user.api.of_client([words[0]])
        if not any(given in request.messages for request in asked):
            wrong.append("the key point did not reach the model")
        reflected = [r.messages for r in self.user.api.all() if r.is_reflector()]
        for word in words:
            times = sum(word in text for text in reflected)
            if times != 1:
                wrong.append(f"{word} was reflected on {times} times")
        if name == "a failing tool" and not any("(exit 3)" in text for text in reflected):
            wrong.append("the failed call is no evidence")
        failed = json.loads(self.user.playbook(folder, "jobs", "--json"))["jobs"]
        if failed:
            wrong.append(f"jobs are left: {failed}")
        if helpful(folder)[0] < 1:
            wrong.append("nothing was counted")
        return wrong

    def nested(self):
        """The client as a model, by its login: no transcript of its own, and no hook fires."""
        if not os.environ.get("REAL_CLIENT_ALONE"):
            return "not tried: a login is only used in a network of our own", []
        folder = self.user.project("nested")
        kept = self.user.env
        self.user.env = {k: v for k, v in kept.items() if k != "ANTHROPIC_API_KEY"}
        credentials = self.log_in()
        try:
            events, transcripts = len(self.user.events()), len(self.user.transcripts())
            word = self.word("nested")
            self.user.run(folder, f"{word}: do something")
            self.user.settle()
        finally:
            self.user.env = kept
            credentials.unlink()
        wrong = []
        asked = [r for r in self.user.api.all() if r.is_reflector() and word in r.messages]
        if len(asked) != 1:
            wrong.append(f"the client was asked {len(asked)} times")
        elif "Claude" not in asked[0].system.replace(REFLECTOR, ""):
            wrong.append("it was not the client that asked")
        # SessionStart, UserPromptSubmit, Stop and SessionEnd of the session itself.
        if len(self.user.events()) - events != 4:
            wrong.append("a hook fired inside the worker")
        if len(self.user.transcripts()) != transcripts + 1:
            wrong.append("the nested call left a transcript")
        return "", wrong

    def log_in(self):
        """A login of the client's own: hooks do not see CLAUDE_CODE_OAUTH_TOKEN."""
        login = {
            "accessToken": "sk-ant-oat01-loopback-only",
            "refreshToken": "sk-ant-ort01-loopback-only",
            "expiresAt": int(time.time() + 86400) * 1000,
            "scopes": ["user:inference"],
            "subscriptionType": "max",
        }
        credentials = self.user.home / ".claude/.credentials.json"
        credentials.write_text(json.dumps({"claudeAiOauth": login}))
        return credentials

    def refused_key(self):
        """A key that the user refused: in a terminal the login answers, with `-p` the key."""
        if not os.environ.get("REAL_CLIENT_ALONE"):
            return "not tried: a login is only used in a network of our own", []
        folder = self.user.project("refused-key")
        state = self.user.home / ".claude.json"
        known = json.loads(state.read_text())
        answers = known["customApiKeyResponses"]
        known["customApiKeyResponses"] = {"approved": [], "rejected": answers["approved"]}
        state.write_text(json.dumps(known))
        credentials = self.log_in()
        wrong = []
        try:
            asked, unasked = self.word("asked"), self.word("unasked")
            terminal = Terminal(self.user, folder)
            terminal.say(f"{asked}: do something")
            terminal.exit()
            self.user.settle()
            self.user.run(folder, f"{unasked}: do something")
            self.user.settle()
        finally:
            known = json.loads(state.read_text())
            known["customApiKeyResponses"] = answers
            state.write_text(json.dumps(known))
            credentials.unlink()
        for word, has_key in ((asked, False), (unasked, True)):
            for who in ("the client", "the worker"):
                used = [
                    request.key is not None
                    for request in self.user.api.all()
                    if word in request.messages and request.is_ours() == (who == "the worker")
                ]
                if not used or any(key != has_key for key in used):
                    wrong.append(f"{who} {'did not use' if has_key else 'used'} the key for {word}")
        return "", wrong

    def told_of_a_refusal(self):
        """A key that the API refuses is told at the next start, and the next key is used."""
        folder = self.user.project("refusal")
        word = self.word("refusal")
        self.user.api.refused.add(word)
        kept, wrong = self.user.env, []
        try:
            self.user.run(folder, f"{word}: do something")
            wait_for("the worker to be refused", lambda: not self.user.workers() and any(
                request.is_reflector() and word in request.messages
                for request in self.user.api.all()
            ))
            terminal = Terminal(self.user, folder)
            if "nothingislearned" not in terminal.screen().replace(" ", ""):
                wrong.append("the start does not say that nothing is learned")
            terminal.exit()
            self.user.api.refused.clear()
            self.user.env = {**kept, "ANTHROPIC_API_KEY": KEY[:-4] + "0000"}
            self.user.run(folder, f"{self.word('next-key')}: do something")
            self.user.settle()
        finally:
            self.user.api.refused.clear()
            self.user.env = kept
        return "", wrong

    def no_login(self):
        """Where the client is to judge and nobody is logged in, the next start says so."""
        if not os.environ.get("REAL_CLIENT_ALONE"):
            return "not tried: a login is only used in a network of our own", []
        folder = self.user.project("no-login")
        self.user.playbook(folder, "config", "set", "backend", "claude-cli")
        word = self.word("no-login")
        wrong, credentials = [], None
        try:
            self.user.run(folder, f"{word}: do something")

            def tried():
                jobs = json.loads(self.user.playbook(folder, "jobs", "--json"))["jobs"]
                return not self.user.workers() and [job for job in jobs if job["tries"]]

            wait_for("the worker to find no login", tried)
            terminal = Terminal(self.user, folder)
            screen = terminal.screen().replace(" ", "")
            if "nothingislearned" not in screen or "/login" not in screen:
                wrong.append(f"the start does not say what to do: {screen[-400:]}")
            terminal.exit()
            credentials = self.log_in()
            self.user.playbook(folder, "jobs", "retry", "--all")
            self.user.settle()
        finally:
            self.user.playbook(folder, "config", "set", "backend", "auto")
            if credentials:
                credentials.unlink()
        if not any(r.is_reflector() and word in r.messages for r in self.user.api.all()):
            wrong.append("what waited was not learned after the login")
        return "", wrong

    def subagents_own(self):
        """A subagent that is learned from, too, is given the key points, and judges them."""
        folder = self.user.project("subagents-own")
        file = folder / ".claude/playbook.json"
        playbook = json.loads(file.read_text())
        points = playbook["sections"]["PATTERNS & APPROACHES"]
        points.append({**points[0], "name": "pat-002", "text": "keep the other thing in mind"})
        file.write_text(json.dumps(playbook))
        self.user.playbook(folder, "config", "set", "hooks.on_subagent_stop", "true")
        try:
            word = self.word("subagents-own")
            self.user.run(folder, f"{word}: RUN-A-SUBAGENT, TAG-BOTH")
            self.user.settle()
        finally:
            self.user.playbook(folder, "config", "set", "hooks.on_subagent_stop", "false")
        counted = helpful(folder)
        wrong = [] if counted == [2, 2] else [f"counted {counted}"]
        given = "SubagentStart hook additional context"
        if not any(given in r.messages and points[1]["text"] in r.messages for r in self.user.api.all()):
            wrong.append("the subagent was given nothing")
        return "", wrong

    def mcp(self):
        """The tools of `playbook mcp` are offered to the model."""
        folder = self.user.project("mcp")
        program = self.user.program()
        added = subprocess.run(
            [self.user.claude, "mcp", "add", "--scope", "project", "playbook", "--", program, "mcp"],
            env=self.user.env, cwd=folder, capture_output=True, text=True, timeout=60,
        )
        if added.returncode != 0:
            return "", [f"claude mcp add: {added.stdout}{added.stderr}"]
        word = self.word("mcp")
        self.user.run(folder, "--mcp-config", ".mcp.json", "--", f"{word}: do something")
        self.user.settle()
        # The client names tools of servers and shows what they take when the model asks for it.
        asked = json.dumps(self.user.api.of_client([word])[0].body)
        tools = [f"mcp__playbook__{name}" for name in ("recall", "remember", "seen", "show")]
        return "", [f"{tool} is not offered" for tool in tools if tool not in asked]

    def worktree(self):
        """A linked worktree is its repository's: given its key points, counted there."""
        folder = self.user.project("repository")
        linked = folder.parent / "linked"
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]

        def git(*args):
            command = ["git", *who, *args]
            return subprocess.run(command, cwd=folder, env=self.user.env, capture_output=True, text=True)

        for args in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
            git(*args).check_returncode()
        self.user.playbook(folder, "trust")
        git("worktree", "add", "-q", str(linked)).check_returncode()
        word = self.word("worktree")
        self.user.run(linked, f"{word}: do something")
        self.user.settle()
        wrong = []
        if not any("keep repository in mind" in r.messages for r in self.user.api.of_client([word])):
            wrong.append("the key point did not reach the worktree")
        if helpful(folder) != [1]:
            wrong.append(f"counted {helpful(folder)} in the repository")
        removed = git("worktree", "remove", str(linked))
        if removed.returncode != 0:
            wrong.append(f"the worktree cannot be removed: {removed.stderr}")
        return "", wrong

    def unusable_state(self):
        """A session while our folders cannot be used is told so, and learned from later."""
        folder = self.user.project("unusable-state")
        state = self.user.home / ".local/state/playbook"
        word, wrong = self.word("unusable"), []
        # What was there before anything was learned is bootstrap's.
        self.user.run(folder, f"{self.word('usable')}: do something")
        self.user.settle()
        state.chmod(0o770)
        try:
            terminal = Terminal(self.user, folder)
            if "nothingwillbelearned" not in terminal.screen().replace(" ", ""):
                wrong.append("the start does not say that nothing will be learned")
            terminal.say(f"{word}: do something")
            terminal.exit()
        finally:
            state.chmod(0o700)
        kept = self.user.env
        later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 7200))
        self.user.env = {**kept, "PLAYBOOK_NOW": later}
        try:
            self.user.playbook(folder, "worker", "--project", str(folder))
        finally:
            self.user.env = kept
        times = sum(r.is_reflector() and word in r.messages for r in self.user.api.all())
        if times != 1 or helpful(folder) != [2]:
            wrong.append(f"it was reflected on {times} times, and counted {helpful(folder)}")
        return "", wrong


def helpful(folder):
    """How often each key point of a project was helpful."""
    playbook = json.loads((folder / ".claude/playbook.json").read_text())
    return [point["helpful"] for point in playbook["sections"]["PATTERNS & APPROACHES"]]


def exit_delay(bare, ours):
    """How much longer the client takes from its last answer to its end with our hooks."""
    folders = {user: user.project(f"timing-{ours.way}", playbook=user is ours) for user in (bare, ours)}
    times = {bare: [], ours: []}
    for round_ in range(ROUNDS):
        for user in (bare, ours):
            word = f"TIMING-{round_}-{'OURS' if user is ours else 'BARE'}-{ours.way}"
            _, over = user.run(folders[user], f"{word}: do something")
            answers = [r.answered for r in user.api.of_client([word]) if r.answered]
            times[user].append(over - max(a for a in answers if a <= over))
            if user is ours:
                # Its worker must not slow the other's next run down.
                ours.settle()
    without, with_ours = statistics.median(times[bare]), statistics.median(times[ours])
    told = f"{with_ours * 1000:.0f} ms after the answer, {without * 1000:.0f} ms without hooks"
    return told, [] if with_ours - without < MAX_DELAY else ["the exit is delayed"]


def installed(root, claude, api, archive):
    """A user who ran install.sh."""
    user = User(root, claude, api)
    user.way = "settings"
    user.log_events()
    run_install(user, "--from", str(archive))
    return user


def as_plugin(root, claude, api, archive):
    """A user who unpacked the archive and installed it as a plugin."""
    user = User(root, claude, api)
    user.log_events()
    add_plugin(user, archive)
    return user


def add_plugin(user, archive):
    """Installs the plugin of an archive as its user would."""
    user.way = "plugin"
    root = user.home
    subprocess.run(["tar", "-xf", archive, "-C", root], check=True)
    user.plugin = next(Path(root).glob("playbook-*"))
    for args in (
        ["plugin", "validate", "--strict", user.plugin],
        ["plugin", "validate", "--profile", "directory", user.plugin],
        ["plugin", "marketplace", "add", user.plugin],
        ["plugin", "install", "playbook@playbook"],
    ):
        done = subprocess.run(
            [user.claude, *args], env=user.env, cwd=root, capture_output=True, text=True, timeout=60
        )
        if done.returncode != 0:
            raise RuntimeError(f"claude {args[:2]}: {done.stdout}{done.stderr}")


def run_install(user, *args):
    done = subprocess.run(
        [ROOT / "install.sh", *args], env=user.env, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"install.sh {args}: {done.stdout}{done.stderr}")


def play_all(claude, archive, scratch, only):
    """Plays everything; returns the rows of the table."""
    api = Api()
    rows = []

    def row(way, name, act):
        if only and only not in f"{way} {name}":
            return
        begun = time.monotonic()
        try:
            told, wrong = act()
        except Exception as error:  # One scenario must not hide the others.
            traceback.print_exc()
            told, wrong = "", [str(error)]
        seconds = time.monotonic() - begun
        rows.append((way, name, told, wrong))
        print(f"{way:<9} {name:<28} {seconds:5.1f} s  {'; '.join(wrong) or 'ok ' + told}", flush=True)

    for way, make in (("settings", installed), ("plugin", as_plugin)):
        home = scratch / way
        home.mkdir()
        user = make(home, claude, api, archive)
        stage = Stage(user, way)
        for name in Stage.SCENARIOS:
            row(way, name, lambda name=name: ("", stage.play(name)))
        for name, case in {**gate.cases(stage), **guard.cases(stage)}.items():
            row(way, name, case)
        row(way, "nested claude -p", stage.nested)
        row(way, "a subagent of its own", stage.subagents_own)
        row(way, "a linked worktree", stage.worktree)
        row(way, "an MCP server", stage.mcp)
        row(way, "a state that cannot be used", stage.unusable_state)
        row(way, "a key the user refused", stage.refused_key)
        row(way, "a key the API refuses", stage.told_of_a_refusal)
        row(way, "no login", stage.no_login)

    def someone(name):
        home = scratch / name
        home.mkdir()
        return User(home, claude, api)

    bare, with_hooks, plugged = someone("bare"), someone("timed"), someone("plugged")
    with_hooks.way = "settings"
    run_install(with_hooks, "--from", str(archive))
    add_plugin(plugged, archive)
    for user in (with_hooks, plugged):
        row(user.way, "the exit is not delayed", lambda user=user: exit_delay(bare, user))
    return rows


def alone_with_loopback():
    """Starts this program again in a network of its own, where the system allows that."""
    if os.environ.get("REAL_CLIENT_ALONE"):
        return
    probe = ["unshare", "-rn", "sh", "-c", "ip link set lo up"]
    if shutil.which("unshare") and subprocess.run(probe, capture_output=True).returncode == 0:
        inner = 'ip link set lo up && exec "$@"'
        os.environ["REAL_CLIENT_ALONE"] = "1"
        arguments = ["unshare", "-rn", "sh", "-c", inner, "sh", sys.executable, *sys.argv]
        os.execvp("unshare", arguments + NEXT)
    print("note: this system allows no network of our own; the client has loopback settings only")


# What the second start is told, so that nothing is downloaded or built twice.
NEXT = []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="archive", type=Path)
    parser.add_argument("--claude", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    scratch = args.scratch or Path(tempfile.mkdtemp(prefix="playbook-real-client-"))
    try:
        if not args.scratch:
            claude, archive = prepare(args, scratch)
            NEXT.extend(["--scratch", str(scratch), "--claude", str(claude), "--from", str(archive)])
            alone_with_loopback()
        else:
            claude, archive = args.claude, args.archive
        version = subprocess.run([claude, "--version"], env=bare_env(scratch), capture_output=True)
        print(f"client {version.stdout.decode().strip()}")
        rows = play_all(claude, archive, scratch, args.only)
    finally:
        if not args.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    wrong = [row for row in rows if row[3]]
    print(f"\n{len(rows) - len(wrong)} of {len(rows)} hold")
    sys.exit(1 if wrong or not rows else 0)


def bare_env(scratch):
    return {"HOME": str(scratch), "PATH": "/usr/bin:/bin"}


def prepare(args, scratch):
    """The client's program and a release archive."""
    claude = args.claude.resolve() if args.claude else download(scratch / "npm")
    if args.archive:
        return claude, args.archive.resolve()
    archive = scratch / "playbook.tar.gz"
    command = [ROOT / "install.sh", "--archive", archive]
    subprocess.run(command, check=True)
    return claude, archive


def download(folder):
    folder.mkdir()
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE]
    env = {**os.environ, "HOME": str(folder), "npm_config_cache": str(folder / "cache")}
    subprocess.run(command, cwd=folder, env=env, check=True)
    programs = folder.glob("node_modules/@anthropic-ai/claude-code-*/claude")
    claude = next((p for p in programs if "musl" not in str(p)), None)
    if claude is None:
        sys.exit("error: the package holds no program for this system")
    claude.chmod(0o755)
    return claude


if __name__ == "__main__":
    main()
