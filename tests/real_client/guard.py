"""The guard with the real client: a command that is turned back before it runs, once a session."""
import signal

from client import Terminal, wait_for

DENIED = "run it again to run it anyway"
BASH = ("--allowedTools", "Bash")


def cases(stage):
    told = {
        "a guarded command": once,
        "the guard, -p": unattended,
        "the guard, calls at once": at_once,
        "the guard and a subagent": subagent,
        "the guard in plan mode": plan_mode,
    }
    return {name: lambda case=case: case(stage) for name, case in told.items()}


def project(stage, name):
    """A project whose `make proto` is guarded, and the guard on."""
    folder = stage.user.project(f"guard-{name}")
    (folder / "Makefile").write_text("proto:\n\ttouch made\n")
    stage.user.playbook(folder, "edit", "pat-001", "--when-command", "make proto", "--guard")
    stage.user.playbook(folder, "guard", "on")
    return folder


def terminal(stage, folder, mode="default"):
    return Terminal(stage.user, folder, "--permission-mode", mode, *BASH)


def turned_back(stage, word):
    """How many calls were turned back, by the last request of a prompt."""
    asked = stage.user.api.of_client([word])
    return asked[-1].messages.count(DENIED) if asked else 0


def once(stage):
    folder = project(stage, "once")
    made, other = folder / "made", folder / "other"
    words = [stage.word(name) for name in ("guarded", "again", "compacted", "next")]
    session = terminal(stage, folder)
    session.say(f"{words[0]}: RUNS-GUARDED")
    wrong = [] if other.exists() and not made.exists() else ["it was not turned back"]
    session.say(f"{words[1]}: RUNS-GUARDED")
    wrong += [] if made.exists() else ["the next call did not run"]
    made.unlink(missing_ok=True)
    session.command("/compact", "PostCompact")
    session.say(f"{words[2]}: RUNS-GUARDED")
    wrong += [] if made.exists() else ["it did not run after a compaction"]
    session.exit()
    stage.user.settle()
    made.unlink(missing_ok=True)
    session = terminal(stage, folder)
    session.say(f"{words[3]}: RUNS-GUARDED")
    wrong += ["another session was not turned back"] if made.exists() else []
    session.exit()
    stage.user.settle()
    reflected = [r.messages for r in stage.user.api.all() if r.is_reflector() and words[0] in r.messages]
    if not any("PLAYBOOK turned back, once Bash `make proto`" in text for text in reflected):
        wrong.append("the record does not say what it was")
    shown = stage.user.playbook(folder, "show")
    wrong += [] if "its guard helped in 2, was wrong in 0" in shown else [shown]
    stage.user.playbook(folder, "guard", "off")
    settings = (stage.user.home / ".claude/settings.json").read_text()
    return "", wrong + (["its hook is still registered"] if "pre-tool-use" in settings else [])


def unattended(stage):
    folder = project(stage, "p")
    stage.user.run(folder, *BASH, "--", f"{stage.word('guard-p')}: RUNS-GUARDED")
    stage.user.settle()
    return "", [] if (folder / "made").exists() else ["it was turned back"]


def at_once(stage):
    folder = project(stage, "at-once")
    word = stage.word("guard-at-once")
    session = terminal(stage, folder)
    session.say(f"{word}: RUNS-GUARDED, TWICE-AT-ONCE")
    session.exit()
    stage.user.settle()
    count = turned_back(stage, word)
    return "", [] if count == 1 else [f"{count} were turned back"]


def subagent(stage):
    folder = project(stage, "subagent")
    word = stage.word("guard-subagent")
    session = terminal(stage, folder)
    session.say(f"{word}: SUBAGENT-RUNS-GUARDED")
    session.exit()
    stage.user.settle()
    is_right = (folder / "other").exists() and not (folder / "made").exists()
    return "", [] if is_right else ["it was not turned back"]


def plan_mode(stage):
    """There the client asks about each command that writes; a guarded one is turned back first."""
    folder = project(stage, "plan")
    word = stage.word("guard-plan")
    session = terminal(stage, folder, "plan")
    session.type(f"{word}: RUNS-GUARDED")
    wait_for("the call to be turned back", lambda: turned_back(stage, word))
    session.quiet()
    session.kill(signal.SIGTERM)
    stage.user.settle()
    count = turned_back(stage, word)
    wrong = [] if count == 1 else [f"{count} were turned back"]
    return "", wrong + [f"{name} ran" for name in ("made", "other") if (folder / name).exists()]
