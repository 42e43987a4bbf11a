# shellcheck shell=bash
# Sourced by the scripts beside it. `prepare_environment EXTRAS` leaves a .venv in the
# root of the repository with ufselect in editable mode and those extras ("" for none).
# PYTHON names the interpreter to make it with; delete .venv to start afresh.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

stamp=.venv/.ufselect-installed
new_enough='import sys; sys.exit(sys.version_info < (3, 11))'

say() { printf 'ufselect: %s\n' "$*" >&2; }

fail() {
    say "$*"
    exit 1
}

# Show what a command prints only if it fails.
quietly() {
    local output
    output=$("$@" 2>&1) || {
        printf '%s\n' "$output" >&2
        fail "this command failed, its output is above: $*"
    }
}

have_uv() { uv --version >/dev/null 2>&1; }

# Set `python` to the path of the first interpreter that is new enough.
find_python() {
    local candidate version seen=""
    for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
        # Run it: a launcher on PATH may have nothing behind it.
        version=$("$candidate" -c \
            'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || continue
        if "$candidate" -c "$new_enough"; then
            python=$(command -v "$candidate")
            python_version=$version
            return
        fi
        seen+="${seen:+, }$candidate is $version"
    done
    fail "Python 3.11 or newer is needed, but ${seen:-no Python was found}; \
install one or name it: PYTHON=/path/to/python $0"
}

make_venv() {
    local output remedy
    rm -rf .venv
    find_python
    say "making .venv with Python $python_version ($python)"
    trap 'rm -rf .venv' EXIT # nothing half-made stays behind
    if have_uv; then
        quietly uv venv --python "$python" .venv
    elif ! output=$("$python" -m venv .venv 2>&1); then
        case $output in
            *python3*-venv* | *"No module named"*) # as Debian says it, or Python
                remedy=python3-venv
                [[ ${python##*/} == python3 ]] || remedy=python${python_version%.*}-venv
                fail "$python cannot make virtual environments; on Debian or Ubuntu run: apt-get install $remedy"
                ;;
        esac
        printf '%s\n' "$output" >&2
        fail "$python -m venv .venv failed, its output is above"
    fi
    trap - EXIT
}

# What an install depends on: the extras, the place, the metadata.
fingerprint() {
    printf '%s\n' "extras: $1" "root: $PWD"
    cat pyproject.toml src/ufselect/_version.py | cksum
}

is_installed() { # with the extras $1
    [[ -f $stamp && $(<"$stamp") == "$(fingerprint "$1")" ]]
}

venv_runs() { .venv/bin/python -c "$new_enough" 2>/dev/null; }

venv_is_sound() {
    venv_runs || return 1
    have_uv || .venv/bin/python -m pip --version >/dev/null 2>&1 || return 1
    # A virtual environment cannot be moved or copied.
    [[ ! -f $stamp ]] || grep -qxF "root: $PWD" "$stamp"
}

# Install the rest of the arguments beside the interpreter $1.
install_beside() {
    local interpreter=$1
    shift
    if have_uv; then
        quietly uv pip install --python "$interpreter" "$@"
    else
        quietly "$interpreter" -m pip install --disable-pip-version-check --no-input "$@"
    fi
}

install_package() {
    say "installing ufselect${1:+ with its $1 tools} into .venv (once, a minute or so)"
    rm -f "$stamp"
    UV_COMPILE_BYTECODE=1 install_beside .venv/bin/python --editable ".${1:+[$1]}"
    fingerprint "$1" >"$stamp"
}

prepare_environment() {
    # `dev` holds everything, so it serves every other request.
    if venv_runs && { is_installed "$1" || is_installed dev; }; then
        return
    fi
    venv_is_sound || make_venv
    install_package "$1"
}
