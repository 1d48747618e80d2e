"""The quality gate with the real client: turns that end with a failed check and "all done"."""
import json
import os
import signal

from client import Terminal, wait_for

FEEDBACK = "Stop hook feedback:"
# What `cargo test` prints, by whether the mistake is mended.
CARGO = """#!/bin/sh
if [ -e mended ]; then
    echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'
else
    echo 'test parser::empty ... FAILED'
    echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out'
    exit 101
fi
"""


def cases(stage):
    """Each case by its name; all of them have the gate on."""
    told = {
        "the gate blocks once": block_once,
        "a gate never satisfied": never_satisfied,
        "the gate only tells": tells,
        "the gate in a terminal": in_a_terminal,
        "Esc in a turn of the gate": interrupted,
        "the gate and a subagent": subagent,
        "the gate is off again": off_again,
    }
    return {name: lambda case=case: ("", case(stage)) for name, case in told.items()}


def project(stage, name, mode):
    """A project with a `cargo` of its own, and the gate on."""
    user = stage.user
    folder = user.project(f"gate-{name}")
    cargo = user.home / "path/cargo"
    cargo.write_text(CARGO)
    cargo.chmod(0o755)
    user.playbook(folder, "gate", "on", "--mode", mode)
    return folder


def of(stage, word):
    """The client's questions of a prompt, each as what it was last told."""
    asked = stage.user.api.of_client([word])
    return [json.dumps(request.last()) for request in asked]


def guided(stage, word):
    return [text for text in of(stage, word) if FEEDBACK in text]


def run(stage, folder, word, what):
    result, _ = stage.user.run(folder, "--allowedTools", "Bash", "--", f"{word}: {what}")
    stage.user.settle()
    return result


def spoken(stage):
    """What the gate has said so far, by prompt."""
    records = (stage.user.home / ".local/state/playbook/projects").glob("*/gate/*.json")
    return [said for record in records for said in json.loads(record.read_text())["spoken"]]


def block_once(stage):
    folder = project(stage, "once", "block")
    word = stage.word("gate-once")
    result = run(stage, folder, word, "SAYS-DONE-TOO-EARLY")
    wrong = [] if len(guided(stage, word)) == 1 else [f"guided {len(guided(stage, word))} times"]
    if not any("cargo test" in text for text in guided(stage, word)):
        wrong.append("the guidance does not name the check")
    if not (folder / "mended").exists() or "pass" not in result["result"]:
        wrong.append("the turn did not go on")
    if [said["improved"] for said in spoken(stage)] != [True]:
        wrong.append(f"recorded {spoken(stage)}")
    reflected = [r.messages for r in stage.user.api.all() if r.is_reflector() and word in r.messages]
    if len(reflected) != 1 or f"USER: {FEEDBACK}" in reflected[0]:
        wrong.append("the guidance was taken for the user's words")
    return wrong


def never_satisfied(stage):
    folder = project(stage, "never", "block")
    word = stage.word("gate-never")
    result = run(stage, folder, word, "SAYS-DONE-TOO-EARLY, NEVER-MENDS")
    wrong = [] if len(guided(stage, word)) == 2 else [f"guided {len(guided(stage, word))} times"]
    if result["subtype"] != "success" or not result["result"]:
        wrong.append(f"it ended as {result['subtype']}, {result['result']!r}")
    return wrong


def tells(stage):
    folder = project(stage, "tells", "tell")
    word = stage.word("gate-tells")
    terminal = Terminal(stage.user, folder, "--permission-mode", "default", "--allowedTools", "Bash")
    terminal.say(f"{word}: SAYS-DONE-TOO-EARLY")
    screen = terminal.screen().replace(" ", "")
    terminal.exit()
    stage.user.settle()
    wrong = [] if "Stopsays:" in screen and "cargotest" in screen else ["the user is not told"]
    return wrong + (["the model was told"] if guided(stage, word) else [])


def in_a_terminal(stage):
    folder = project(stage, "terminal", "block")
    word, after = stage.word("gate-terminal"), stage.word("gate-next")
    terminal = Terminal(stage.user, folder, "--permission-mode", "default", "--allowedTools", "Bash")
    terminal.say(f"{word}: SAYS-DONE-TOO-EARLY")
    wait_for("the second stop", lambda: stage.user.events("Stop", stop_hook_active=True))
    terminal.quiet()
    terminal.say(f"{after}: do something else")
    terminal.exit()
    stage.user.settle()
    wrong = [] if len(guided(stage, word)) == 1 else [f"guided {len(guided(stage, word))} times"]
    if any(FEEDBACK in text for text in of(stage, after)):
        wrong.append("the next prompt was guided, too")
    return wrong


def interrupted(stage):
    folder = project(stage, "interrupted", "block")
    word = stage.word("gate-interrupted")
    terminal = Terminal(stage.user, folder, "--permission-mode", "default", "--allowedTools", "Bash")
    terminal.type(f"{word}: SAYS-DONE-TOO-EARLY, SLOW-WHEN-GUIDED")
    wait_for("the guidance", lambda: guided(stage, word))
    stops = len(stage.user.events("Stop"))
    os.write(terminal.fd, b"\x1b")
    terminal.quiet(6)
    more = len(stage.user.events("Stop")) - stops
    terminal.kill(signal.SIGTERM)
    stage.user.settle()
    return [] if more == 0 else ["an interrupted turn was stopped again"]


def subagent(stage):
    folder = project(stage, "subagent", "block")
    word = stage.word("gate-subagent")
    before = len(stage.user.events("SubagentStop"))
    stage.user.run(folder, f"{word}: RUN-A-SUBAGENT")
    stage.user.settle()
    wrong = [] if len(stage.user.events("SubagentStop")) > before else ["no subagent ran"]
    return wrong + (["it was guided"] if guided(stage, word) else [])


def off_again(stage):
    folder = project(stage, "off", "block")
    stage.user.playbook(folder, "gate", "off")
    settings = (stage.user.home / ".claude/settings.json").read_text()
    word = stage.word("gate-off")
    run(stage, folder, word, "SAYS-DONE-TOO-EARLY")
    wrong = ["its hook is registered"] if "hook stop" in settings else []
    return wrong + (["it was guided"] if guided(stage, word) else [])
