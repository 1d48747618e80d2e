#!/bin/sh
# Installs Playbook for the current user; --uninstall takes it away again.
#
# What it puts on the machine is written down, path by path, in
# <claude dir>/playbook/installed, so that `playbook uninstall` removes exactly that: no
# file it did not bring, no folder it did not make.
set -eu

usage() {
    cat <<'USAGE'
usage: ./install.sh [--from ARCHIVE | --programs DIR] [--server] [--prefix DIR]
                    [--scope user|project|local] [--dry-run]
       ./install.sh --uninstall [--purge] [--scope user|project|local] [--dry-run]
       ./install.sh --plugin [--from ARCHIVE] [--server]
       ./install.sh --archive FILE.tar.gz

Builds Playbook with cargo, or takes the programs of a release archive, installs
  the hooks     to <claude dir>/playbook/bin
  `playbook`    to DIR/bin (default: ~/.local/bin)
  completions and manual pages to DIR/share
and registers the hooks in <claude dir>/settings.json (see `playbook install --help`).
The claude dir is $CLAUDE_CONFIG_DIR, else ~/.claude.

options:
  --from ARCHIVE     a release archive instead of a build; ARCHIVE.sha256 must be beside
                     it, and is checked
  --programs DIR     the programs in DIR instead of a build, such as target/debug
  --server           build `playbook-server` as well, which `playbook mcp` needs; release
                     archives have it
  --prefix DIR       install `playbook` to DIR/bin instead of ~/.local/bin
  --scope SCOPE      register the hooks in, or take them out of, these settings only:
                     user (default), or project or local for the current folder; with
                     --uninstall the programs stay then
  --uninstall        take the hooks out of all settings and remove every installed file;
                     playbooks, settings, history stay
  --purge            with --uninstall: remove settings, jobs, history and logs as well
  --dry-run          show what would be registered and installed; build and change nothing
  --plugin           fill bin/ of this folder, which is a plugin then; install nothing
  --archive FILE     make a release archive, and FILE.sha256
  -h, --help         show this text
USAGE
}

main() {
    prefix=
    server=
    from=
    programs=
    archive=
    purge=
    scope=
    dry=
    action=install
    while [ $# -gt 0 ]; do
        case $1 in
            --prefix | --from | --programs | --archive | --scope)
                [ $# -ge 2 ] || misuse "$1 needs a value"
                option "$1" "$2"
                shift
                ;;
            --prefix=* | --from=* | --programs=* | --archive=* | --scope=*) option "${1%%=*}" "${1#*=}" ;;
            --uninstall | --plugin) action=${1#--} ;;
            --purge) purge=--purge ;;
            --server) server=yes ;;
            --dry-run) dry=--dry-run ;;
            -h | --help)
                usage
                exit 0
                ;;
            *) misuse "unknown argument: $1" ;;
        esac
        shift
    done
    case $scope in
        '' | user | project | local) ;;
        *) misuse "unknown scope: $scope" ;;
    esac
    [ -z "$purge" ] || [ "$action" = uninstall ] || misuse "--purge goes with --uninstall"
    case $action in
        install | uninstall) ;;
        *) [ -z "$scope$dry" ] || misuse "--scope and --dry-run go with an installation" ;;
    esac

    repo=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
    claude=$(absolute "${CLAUDE_CONFIG_DIR:-${HOME:?is not set}/.claude}")
    hooks=$claude/playbook/bin
    manifest=$claude/playbook/installed
    scratch=
    trap 'clean_up' EXIT
    trap 'exit 1' HUP INT TERM
    "$action"
}

option() {
    case $1 in
        --prefix) prefix=$2 ;;
        --from) from=$2 ;;
        --programs) programs=$(absolute "$2") ;;
        --scope) scope=$2 ;;
        --archive)
            archive=$2
            action=pack
            server=yes
            ;;
    esac
}

install() {
    bin=$(absolute "${prefix:-${HOME:?is not set}/.local}")/bin
    refuse_foreign "$bin/playbook" "--prefix DIR"
    refuse_foreign "$bin/playbook-server" "--prefix DIR"
    # What an earlier run has installed is kept as new as the rest.
    ! noted "file $bin/playbook-server" || server=yes
    find_programs
    if [ ! -x "$programs/playbook" ]; then
        foretell
        return
    fi
    for hook in $(hook_names) playbook; do
        refuse_foreign "$hooks/$hook" "CLAUDE_CONFIG_DIR=DIR"
    done
    # Settings that cannot be edited are found before anything is put on the machine.
    register --dry-run --hooks-to-come >"$scratch/changes"
    if [ -n "$dry" ]; then
        cat -- "$scratch/changes"
        say ""
    fi
    install_programs
    [ -z "$dry" ] || return 0
    say "installed $("$bin/playbook" --version) to $bin/playbook, the hooks to $hooks"
    case :$PATH: in
        *":$bin:"*) ;;
        *) say "note: $bin is not on your PATH; the hooks work all the same" ;;
    esac
    register
    say ""
    # What the doctor finds is news, not a failure of the installation.
    "$bin/playbook" doctor || :
    say ""
    say "Next: start Claude Code and work as always; it has learned from a session a minute"
    say "after you leave it. To learn from the sessions that you had already, go to a project"
    say "and run: $bin/playbook bootstrap"
}

# What a dry run can say before anything is built.
foretell() {
    say "would build the programs; none are in $programs yet"
    say "would register in the settings of scope ${scope:-user}:"
    sed -n 's/^    "\([A-Z][A-Za-z]*\)": \[$/  \1/p' "$repo/hooks/hooks.json"
    sed -n 's/.*"[^ ]*\/bin\/\([a-z-]*\);.*/\1/p' "$repo/hooks/hooks.json" |
        while read -r hook; do
            would_install "$hooks/$hook"
        done
    # Only `playbook guard on` registers it.
    would_install "$hooks/pre-tool-use"
    would_install "$bin/playbook"
    say "would install completions and manual pages below $(dirname -- "$bin")/share"
}

# Registers the hooks, or shows what that would change.
register() {
    "$programs/playbook" install ${scope:+"--scope=$scope"} "$@"
}

install_programs() {
    make_dir "$hooks"
    make_dir "$bin"
    put "$programs/playbook" "$bin/playbook"
    # An archive of an earlier version has none.
    if [ -n "$server" ] && [ -f "$programs/playbook-server" ]; then
        put "$programs/playbook-server" "$bin/playbook-server"
    fi
    for hook in $(hook_names); do
        put "$programs/$hook" "$hooks/$hook"
    done
    put_help "$(dirname -- "$bin")/share"
    # The hooks look for `playbook` beside themselves first: this link makes them
    # independent of the PATH that Claude Code was started with.
    would_install "$hooks/playbook" && return
    ln -sf "$bin/playbook" "$hooks/playbook"
    note file "$hooks/playbook"
}

uninstall() {
    if find_uninstaller; then
        "$uninstaller" uninstall ${purge:+"$purge"} ${scope:+"--scope=$scope"} ${dry:+"$dry"}
    elif is_installed || { [ -n "$purge" ] && [ -n "$(data)" ]; }; then
        fail "could not uninstall: no \`playbook\` of ours is there to do it" \
            "install it again first, then run this again"
    else
        say "nothing to remove: $manifest is not there"
        data
    fi
}

# Sets $uninstaller to a program that is ours: an installed one is named in the manifest;
# else that of the unpacked archive, or of the build, which this script belongs to.
find_uninstaller() {
    for uninstaller in "$hooks/playbook" "${prefix:-${HOME:?is not set}/.local}/bin/playbook"; do
        ! noted "file $uninstaller" || [ ! -x "$uninstaller" ] || return 0
    done
    is_installed || [ -n "$(data)" ] || return 1
    if [ -f "$repo/Cargo.toml" ]; then
        find_target
        uninstaller=$target/release/playbook
    else
        uninstaller=$repo/bin/playbook
    fi
    [ -x "$uninstaller" ]
}

is_installed() {
    [ -f "$manifest" ] || grep -Fqs playbook/bin/ "$claude/settings.json"
}

# Names the folders of settings and history that are there.
data() {
    case $(uname) in
        Darwin)
            config=$HOME/Library/Application\ Support
            state=$config
            ;;
        *)
            config=${XDG_CONFIG_HOME:-$HOME/.config}
            state=${XDG_STATE_HOME:-$HOME/.local/state}
            ;;
    esac
    for folder in "${PLAYBOOK_CONFIG_DIR:-$config/playbook}" \
        "${PLAYBOOK_STATE_DIR:-$state/playbook}"; do
        [ ! -d "$folder" ] || say "still there: $folder"
    done | uniq
}

# Makes the folder of this script a plugin that is complete.
plugin() {
    find_programs
    mkdir -p -- "$repo/bin"
    for program in $(hook_names) playbook ${server:+playbook-server}; do
        [ -f "$programs/$program" ] || continue
        replace_file "$programs/$program" "$repo/bin/$program"
    done
    say "filled $repo/bin; inside Claude Code:"
    say "  /plugin marketplace add $repo"
    say "  /plugin install playbook@playbook"
}

# Packs the programs with all that makes them a plugin; unpacked, it is one.
pack() {
    find_programs
    name=playbook-$("$programs/playbook" --version | sed 's/.* //')
    mkdir -p -- "$scratch/$name/bin"
    for program in $(hook_names) playbook playbook-server; do
        [ -f "$programs/$program" ] || continue
        cp -- "$programs/$program" "$scratch/$name/bin/$program"
    done
    for part in .claude-plugin hooks commands skills install.sh README.md docs SECURITY.md \
        CONTRIBUTING.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE; do
        cp -R -- "$repo/$part" "$scratch/$name/$part"
    done
    archive=$(absolute "$archive")
    (cd "$scratch" && tar -cf - "$name") | gzip -9 >"$archive" ||
        fail "could not write archive: $archive" "check that the folder can be written to"
    sum=$(sha256 "$archive")
    printf '%s  %s\n' "$sum" "$(basename -- "$archive")" >"$archive.sha256"
    say "wrote $archive and $archive.sha256"
}

# Sets $programs to the folder that holds what is to be installed.
find_programs() {
    scratch=$(mktemp -d)
    if [ -n "$from" ]; then
        server=yes
        unpack
    elif [ -n "$programs" ]; then
        [ -x "$programs/playbook" ] ||
            fail "could not install from $programs: no program \`playbook\` is there" \
                "build it first, or leave --programs out"
    elif [ ! -f "$repo/Cargo.toml" ] && [ -x "$repo/bin/playbook" ]; then
        # This script stands in an unpacked release archive.
        server=yes
        programs=$repo/bin
    else
        build
    fi
}

unpack() {
    from=$(absolute "$from")
    [ -f "$from" ] || fail "could not read archive: $from: not there" "check the path"
    [ -f "$from.sha256" ] ||
        fail "could not check archive: $from.sha256: not there" \
            "download it as well, from where the archive is"
    expected=$(digest <"$from.sha256")
    [ -n "$expected" ] ||
        fail "could not check archive: $from.sha256: does not begin with a SHA-256" \
            "download it again, from where the archive is"
    actual=$(sha256 "$from")
    [ "$actual" = "$expected" ] ||
        fail "could not use archive: $from: its SHA-256 is not the one in $from.sha256" \
            "download both again"
    tar -xf "$from" -C "$scratch" ||
        fail "could not unpack archive: $from" "see the message above"
    for playbook in "$scratch"/*/bin/playbook; do
        programs=${playbook%/playbook}
    done
    "$programs/playbook" --version >/dev/null ||
        fail "could not use archive: $from: its programs do not run here" \
            "take the archive for this system, or build: ./install.sh"
}

build() {
    find_target
    programs=$target/release
    [ -z "$dry" ] || return 0
    command -v cargo >/dev/null 2>&1 ||
        fail "could not build: cargo is not there" \
            "install Rust from https://rustup.rs, then run this again"
    say "building, which takes up to three minutes ..."
    # As `cargo run --release -- demo` does, so that nothing is compiled twice.
    cargo_build --release --bin playbook ${server:+--bin playbook-server}
    build_hooks
    for hook in $(hook_names); do
        replace_file "$target/hooks/$hook" "$programs/$hook"
    done
}

# Builds the hooks, apart from all else: with it they would be slower to start. They start
# in every session, and loading the C library is a third of what that takes; so where glibc
# is there to be linked statically, it is. What they hash is short: to ask the processor for
# a quicker way would take longer, above all where a virtual machine has to answer.
build_hooks() {
    machine=$(rustc -vV | sed -n 's/^host: //p')
    case ${CARGO_BUILD_TARGET:-$machine} in
        "$machine") library=$(cc -print-file-name=libc.a 2>/dev/null) || library= ;;
        *) library= ;;
    esac
    set -- --profile hooks --package playbook-hooks --bins
    case $machine:$library in
        *-linux-gnu:/*)
            cargo_build "$@" --target "$machine" --config "target.$machine.rustflags = [
                '-Ctarget-feature=+crt-static', '-Crelocation-model=static',
                '--cfg=sha2_256_backend=\"soft\"']"
            target=$CARGO_TARGET_DIR/$machine
            ;;
        *) cargo_build "$@" ;;
    esac
}

cargo_build() {
    (cd "$repo" && cargo build --locked "$@") ||
        fail "could not build Playbook in $repo" "see cargo's message above"
}

# Sets $target to the folder below which cargo puts each profile's programs.
find_target() {
    target=$(absolute "${CARGO_TARGET_DIR:-$repo/target}")
    export CARGO_TARGET_DIR="$target"
    target=$target${CARGO_BUILD_TARGET:+/$CARGO_BUILD_TARGET}
}

hook_names() {
    "$programs/playbook" hook --list
}

# Prints the SHA-256 of a file. The file comes by stdin: its name is not part of the answer.
sha256() {
    if command -v sha256sum >/dev/null 2>&1; then
        sum=$(sha256sum <"$1")
    elif command -v shasum >/dev/null 2>&1; then
        sum=$(shasum -a 256 <"$1")
    else
        fail "could not check archive: neither sha256sum nor shasum is there" \
            "install one of them (coreutils, or Perl)"
    fi
    sum=$(printf '%s\n' "$sum" | digest)
    [ -n "$sum" ] || fail "could not read file: $1" "see the message above"
    say "$sum"
}

# Prints the SHA-256 that the text begins with; nothing where it is not all 64 digits. A
# backslash before it says that the name behind it is escaped.
digest() {
    tr 'A-F' 'a-f' |
        sed -n '1{s/^\\//;s/^\([0-9a-f]\{64\}\)$/\1/p;s/^\([0-9a-f]\{64\}\)[^0-9a-f].*/\1/p;}'
}

# Installs a program over one of ours in one step, so that a running hook is not disturbed.
put() {
    would_install "$2" && return
    replace_file "$1" "$2"
    note file "$2"
}

replace_file() {
    new=$2.new.$$
    if cp -- "$1" "$new" && chmod 755 "$new" && mv -f -- "$new" "$2"; then
        return
    fi
    rm -f -- "$new"
    fail "could not install: $2" "check that the folder can be written to"
}

# Installs completions and manual pages, made by the program itself. What is there from
# someone else stays.
put_help() {
    put_text "$1/bash-completion/completions/playbook" completions bash
    put_text "$1/zsh/site-functions/_playbook" completions zsh
    put_text "$1/fish/vendor_completions.d/playbook.fish" completions fish
    "$programs/playbook" completions --man "$scratch/man"
    for page in "$scratch"/man/*; do
        put_file "$page" "$1/man/man1/${page##*/}"
    done
}

# Installs what a command of ours prints.
put_text() {
    target=$1
    shift
    "$programs/playbook" "$@" >"$scratch/text"
    put_file "$scratch/text" "$target"
}

put_file() {
    if { [ -e "$2" ] || [ -L "$2" ]; } && ! noted "file $2"; then
        say "note: left alone: $2: it is not from this script"
        return
    fi
    would_install "$2" && return
    make_dir "$(dirname -- "$2")"
    replace_file "$1" "$2"
    chmod 644 "$2"
    note file "$2"
}

# Says what a dry run would have installed, and is true then.
would_install() {
    [ -n "$dry" ] && say "would install $1"
}

# Makes a folder and what is missing above it, and writes down each one made.
make_dir() {
    [ -z "$dry" ] && [ ! -d "$1" ] || return 0
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

clean_up() {
    [ -z "$scratch" ] || rm -rf -- "$scratch"
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
