# Helpers for the scripts in this folder, which source it first.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
exec </dev/null
unset DARWIN_NOTIFY_BUS
export WERROR=1 # for each make: code with warnings is not released
# For each program with the thread sanitizer.
TSAN_OPTIONS=suppressions=$root/Tests/Support/tsan-suppressions${TSAN_OPTIONS:+:$TSAN_OPTIONS}
export TSAN_OPTIONS

# ---- toolchain -----------------------------------------------------------------------------------

# The Swift toolchain need not be in PATH. Its clang, which checks locks, comes before that of the
# system; mosquitto is in a folder that is not in the PATH of ordinary users.
for folder in "${SWIFTLY_BIN_DIR:-${HOME:-/nonexistent}/.local/share/swiftly/bin}" \
  /opt/swift/usr/bin /usr/share/swift/usr/bin; do
  command -v swift >/dev/null && break
  [ -x "$folder/swift" ] && PATH=$PATH:$folder
done
if swift_path=$(command -v swift); then
  swift_path=$(dirname "$(readlink -f "$swift_path")")
  [ "$swift_path" = /usr/bin ] || PATH=$swift_path:$PATH
fi
export PATH=$PATH:/usr/sbin:/sbin
unset folder swift_path

have() { command -v "$1" >/dev/null; }

# ---- checks --------------------------------------------------------------------------------------

# Prints the source files in the given folders (default: the repository) with these suffixes.
#   sources .c .h -- CShims Tests
sources() {
  local names=() folders=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    names+=(${names:+-o} -name "*$1")
    shift
  done
  shift || true
  for folder in "${@:-.}"; do [ -e "$folder" ] && folders+=("$folder"); done
  [ ${#folders[@]} -gt 0 ] || return 0
  find "${folders[@]}" \( -name .git -o -name .build -o -name build -o -name 'build-*' \) -prune \
    -o -type f \( "${names[@]}" \) -print | sed 's|^\./||' | sort
}

violations=0

# Reports one violation: violation FILE:LINE TEXT
violation() {
  printf '%s: %s\n' "$1" "$2" >&2
  violations=$((violations + 1))
}

# Reports each line of standard input, "FILE:LINE: TEXT", as one violation.
violations_from_lines() {
  local line
  while IFS= read -r line; do violation "${line%%: *}" "${line#*: }"; done
}

# Ends a check: prints its line if all is well, otherwise the number of violations.
conclude() {
  if [ "$violations" -gt 0 ]; then
    echo "${0##*/}: $violations violations" >&2
    exit 1
  fi
  echo "${0##*/}: $1"
}

die() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# Writes the complete programs of README.md, which begin with an include or import, to FOLDER/1.c,
# FOLDER/2.c... (or .swift): readme_programs LANGUAGE FOLDER
readme_programs() {
  mkdir -p "$2"
  awk -v language="$1" -v folder="$2" '
    $0 == "```" { file = "" }
    file { print > file }
    previous == "```" language && /^(import |#include )/ {
      file = folder "/" ++n "." language
      print > file
    }
    { previous = $0 }
    END { exit n == 0 }' README.md || die "README.md has no program in $1"
}

# ---- processes and temporary files, which end with the script ------------------------------------

scratch=
timeout_s=60 # of everything that is waited for: a loaded machine may take long

clean_up() {
  local status=$? pid
  trap - EXIT
  for pid in $(jobs -pr); do kill "$pid" 2>/dev/null || true; done
  wait
  if [ -n "$scratch" ]; then rm -rf "$scratch"; fi
  exit $status
}

# Creates the folder $scratch for all temporary files. (The Swift compiler writes files with broken
# names if temporary files of another user are in its way.)
make_scratch() {
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/darwinnotify.XXXXXX")
  export TMPDIR=$scratch/tmp
  mkdir "$TMPDIR"
}

# Starts a process that writes to $scratch/NAME.log and sets $started: start NAME COMMAND...
start() {
  local name=$1
  shift
  # Emptied here, not by the process: what an earlier process of that name wrote must not be seen.
  : >"$scratch/$name.log"
  "$@" >>"$scratch/$name.log" 2>&1 &
  started=$!
}

# Prints how many lines of a process match: seen NAME EXTENDED-REGEXP
seen() { grep -cE -- "$2" "$scratch/$1.log" || true; }

# Waits until a process has written that many matching lines: await NAME REGEXP COUNT
await() {
  local deadline=$((SECONDS + timeout_s))
  until [ "$(seen "$1" "$2")" -ge "$3" ]; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.02
  done
}

# Waits until a process started by start() ends, and returns its status: await_end PID
await_end() {
  local deadline=$((SECONDS + timeout_s))
  while kill -0 "$1" 2>/dev/null; do
    [ "$SECONDS" -lt "$deadline" ] || return 124
    sleep 0.02
  done
  wait "$1"
}

# Prints a path as part of a D-Bus address or a URL, where every unusual byte is escaped.
escaped_path() {
  local LC_ALL=C path=$1 escaped='' byte i
  for ((i = 0; i < ${#path}; i++)); do
    byte=${path:i:1}
    case $byte in
      [A-Za-z0-9_/.-]) escaped+=$byte ;;
      *) printf -v byte '%%%02x' "'$byte" && escaped+=%${byte: -2} ;;
    esac
  done
  printf '%s\n' "$escaped"
}

# Starts our own session bus, with its own runtime directory.
start_bus() {
  export XDG_RUNTIME_DIR=$scratch/runtime
  mkdir -m 700 "$XDG_RUNTIME_DIR"
  export DBUS_SESSION_BUS_ADDRESS
  DBUS_SESSION_BUS_ADDRESS=unix:path=$(escaped_path "$XDG_RUNTIME_DIR/bus")
  start bus dbus-daemon --session --nofork --nopidfile --nosyslog --print-address \
    --address="$DBUS_SESSION_BUS_ADDRESS"
  await bus '^unix:path=' 1 || die "dbus-daemon does not start: $(<"$scratch/bus.log")"
}

# Copies the source files, without build products or ignored files: export_tree FOLDER
# Everything that Git does not ignore: with its own repository, it also works in a tarball.
export_tree() {
  git init --quiet --bare "$scratch/export.git"
  git --git-dir="$scratch/export.git" --work-tree=. ls-files -z --others --exclude-standard |
    tar --null --files-from=- -cf - | tar -xf - -C "$1"
  rm -rf "$scratch/export.git"
}

# ---- the installed C library ---------------------------------------------------------------------

# Installs the library below FOLDER/prefix, where pkg-config then finds it: install_library FOLDER
install_library() {
  make --silent -C CShims install PREFIX="$1/prefix" DESTDIR=
  export PKG_CONFIG_PATH=$1/prefix/lib/pkgconfig
  export LD_LIBRARY_PATH=$1/prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# Builds the Python package in FOLDER, where programs of /usr/bin/python3 then find it. Fails if
# that cannot build it: build_python FOLDER
build_python() {
  /usr/bin/python3 -c 'import cffi, setuptools' 2>/dev/null || {
    echo 'skipped: the Python package, python3-cffi, -setuptools or -dev is not installed'
    return 1
  }
  mkdir -p "$1"
  (cd Python && /usr/bin/python3 setup.py --quiet build --build-base "$1/build" --build-lib "$1") \
    >"$1/log" 2>&1 || die "the Python package does not build: $(<"$1/log")"
  export PYTHONPATH=$1
}

# Builds the C examples in FOLDER against the installed library: build_examples FOLDER [STATIC=1]
build_examples() {
  local folder=$1
  shift
  mkdir -p "$folder"
  cp Examples/embed-c/Makefile Examples/embed-c/*.c "$folder"
  make --silent -C "$folder" "$@"
}

# The command, with its arguments, that programs run under.
run_under=()

# Runs an observer of a folder and a poster: converse FOLDER OBSERVER ARGUMENT...
# The poster is in the same folder, or in $posters if it is set. Both use the name $name.
posters=
converse() {
  local observer who=${1##*/}-$2
  # A separate log, emptied at once: the log of another run already contains "ready".
  : >"$scratch/$who.log"
  start "$who" "${run_under[@]}" "$1/$2" "${@:3}"
  observer=$started
  await "$who" '^ready$' 1 || die "$who is not ready: $(<"$scratch/$who.log")"
  "${run_under[@]}" "${posters:-$1}/poster" "$name" >"$scratch/poster.log" 2>&1 ||
    die "${posters:-$1}/poster: $(<"$scratch/poster.log")"
  await_end "$observer" || die "$who did not end: $(<"$scratch/$who.log")"
  [ "$(seen "$who" "^received $name\$")" -eq 1 ] || die "$who: $(<"$scratch/$who.log")"
}
