#!/bin/sh
# Builds Playbook and installs it for the current user; --uninstall takes it away again.
#
# What it puts on the machine is written down, path by path, in
# <claude dir>/playbook/installed, so that --uninstall removes exactly that: no file
# it did not bring, no folder it did not make.
set -eu

usage() {
    cat <<'EOF'
usage: ./install.sh [--prefix DIR] [--profile dist|release]
       ./install.sh --uninstall

Builds Playbook with cargo and installs
  the hooks     to <claude dir>/playbook/bin
  `playbook`    to DIR/bin (default: ~/.local/bin)
then prints the hooks to add to Claude Code's settings.json.
The claude dir is $CLAUDE_CONFIG_DIR, else ~/.claude.

options:
  --prefix DIR     install `playbook` to DIR/bin instead of ~/.local/bin
  --profile NAME   dist (default): smallest and quickest hooks, builds for minutes;
                   release: builds sooner
  --uninstall      remove everything an earlier run installed; playbooks, settings
                   and state stay
  -h, --help       show this text
EOF
}

main() {
    prefix=
    profile=dist
    action=install
    while [ $# -gt 0 ]; do
        case $1 in
            --prefix | --profile)
                [ $# -ge 2 ] || misuse "$1 needs a value"
                case $1 in
                    --prefix) prefix=$2 ;;
                    --profile) profile=$2 ;;
                esac
                shift
                ;;
            --prefix=*) prefix=${1#*=} ;;
            --profile=*) profile=${1#*=} ;;
            --uninstall) action=uninstall ;;
            -h | --help)
                usage
                exit 0
                ;;
            *) misuse "unknown argument: $1" ;;
        esac
        shift
    done
    case $profile in
        dist | release) ;;
        *) misuse "unknown profile: $profile" ;;
    esac

    claude=${CLAUDE_CONFIG_DIR:-${HOME:?is not set}/.claude}
    claude=$(absolute "$claude")
    hooks=$claude/playbook/bin
    manifest=$claude/playbook/installed
    $action
}

install() {
    repo=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
    bin=$(absolute "${prefix:-${HOME:?is not set}/.local}")/bin
    refuse_foreign "$bin/playbook" "--prefix DIR"
    for hook in $(hook_names); do
        refuse_foreign "$hooks/$hook" "CLAUDE_CONFIG_DIR=DIR"
    done
    refuse_foreign "$hooks/playbook" "CLAUDE_CONFIG_DIR=DIR"

    build
    make_dir "$hooks"
    make_dir "$bin"
    put "$built/playbook" "$bin/playbook"
    for hook in $(hook_names); do
        put "$built/$hook" "$hooks/$hook"
    done
    # The hooks look for `playbook` beside themselves first: this link makes them
    # independent of the PATH that Claude Code was started with.
    ln -sf "$bin/playbook" "$hooks/playbook"
    note file "$hooks/playbook"

    say "installed $("$bin/playbook" --version) to $bin/playbook"
    say "installed the hooks to $hooks"
    case :$PATH: in
        *":$bin:"*) ;;
        *) say "note: $bin is not on your PATH; the hooks work all the same" ;;
    esac
    say ""
    say "Add these hooks to $claude/settings.json (merge them with what is there):"
    say ""
    registration
    say ""
    say "Try it: $bin/playbook demo"
}

build() {
    command -v cargo >/dev/null 2>&1 ||
        fail "could not build: cargo is not there" "install Rust from https://rustup.rs, then run this again"
    target=${CARGO_TARGET_DIR:-$repo/target}
    built=$target/$profile
    say "building with --profile $profile ..."
    (cd "$repo" && cargo build --locked --profile "$profile" --bins --target-dir "$target") ||
        fail "could not build Playbook in $repo" "see cargo's message above"
    built=$(absolute "$built")
}

uninstall() {
    if [ ! -f "$manifest" ]; then
        say "nothing to remove: $manifest is not there"
        return
    fi
    sed -n 's/^file //p' "$manifest" | while IFS= read -r path; do
        rm -f -- "$path"
    done
    # Newest first, so that a folder is empty by the time its turn comes; one that
    # holds something else by now stays.
    dirs=$(sed -n '1!G;h;$p' "$manifest" | sed -n 's/^dir //p')
    rm -f -- "$manifest"
    printf '%s\n' "$dirs" | while IFS= read -r path; do
        [ -z "$path" ] || rmdir -- "$path" 2>/dev/null || :
    done
    say "removed Playbook's binaries"
    say "Remove the hooks whose command is in $hooks from $claude/settings.json."
    say "Playbooks (.claude/playbook.json), settings and state were left as they are."
}

hook_names() {
    echo session-start session-end pre-compact subagent-stop \
        post-tool-use-failure user-prompt-submit
}

# The hooks for settings.json, as one JSON object.
registration() {
    printf '{\n  "hooks": {\n'
    hook_entry SessionStart session-start ,
    hook_entry SessionEnd session-end ,
    hook_entry PreCompact pre-compact ,
    hook_entry SubagentStop subagent-stop ,
    hook_entry PostToolUseFailure post-tool-use-failure ,
    hook_entry UserPromptSubmit user-prompt-submit ''
    printf '  }\n}\n'
}

hook_entry() {
    printf '    "%s": [{ "hooks": [{ "type": "command", "command": "%s" }] }]%s\n' \
        "$1" "$(command_in_json "$hooks/$2")" "$3"
}

# A path as one word of a shell command, as the inside of a JSON string.
command_in_json() {
    case $1 in
        *[!A-Za-z0-9/._+@%-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
        *) printf '%s' "$1" ;;
    esac | sed 's/[\\"]/\\&/g'
}

# Copies a binary over one of ours in one step, so that a running hook is not disturbed.
put() {
    new=$2.new.$$
    if cp -- "$1" "$new" && chmod 755 "$new" && mv -f -- "$new" "$2"; then
        note file "$2"
    else
        rm -f -- "$new"
        fail "could not install: $2" "check that the folder can be written to"
    fi
}

# Makes a folder and what is missing above it, and writes down each one made.
make_dir() {
    [ ! -d "$1" ] || return 0
    make_dir "$(dirname -- "$1")"
    mkdir -- "$1" || fail "could not create folder: $1" "check that the folder above can be written to"
    made="${made:-}dir $1
"
    note_made
}

# Adds a line to the manifest once.
note() {
    noted "$1 $2" || printf '%s %s\n' "$1" "$2" >>"$manifest"
}

noted() {
    [ -f "$manifest" ] && grep -Fqx -- "$1" "$manifest"
}

# Folders can be older than the manifest's own folder: they wait until it exists.
note_made() {
    [ -n "${made:-}" ] && [ -d "${manifest%/*}" ] || return 0
    printf '%s' "$made" >>"$manifest"
    made=
}

refuse_foreign() {
    [ -e "$1" ] || [ -L "$1" ] || return 0
    noted "file $1" ||
        fail "could not install: $1: is there already and not from this script" \
            "move it away, or choose another place with $2"
}

absolute() {
    case $1 in
        *'
'*) fail "could not use a path with a line break: $1" "choose another folder" ;;
        /*) printf '%s\n' "$1" ;;
        *) printf '%s/%s\n' "$(pwd)" "$1" ;;
    esac
}

say() {
    printf '%s\n' "$1"
}

fail() {
    printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
    exit 1
}

misuse() {
    printf 'error: %s\n' "$1" >&2
    usage >&2
    exit 2
}

main "$@"
