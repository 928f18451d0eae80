# Shared by the bash scripts: strict mode, the repository's root, error messages. Source it first:
#   source "$(dirname "$0")/lib.sh"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT="$PWD"

# The build folder and flags of a plain debug build. CI sets both to the coverage build, so that checks that only read
# compiled modules (API text, documentation, Apple stubs) need no separate build. The nested packages Tools, Examples
# and Tests/Guides are built there as well: they compile Apus and shared dependencies with the same flags, so once.
SCRATCH="${APUS_SCRATCH:-.build}"
read -r -a BUILD_FLAGS <<<"${APUS_BUILD_FLAGS:-}"

die() { # prints one line to standard error and exits
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# In CI everything is installed: a check that other machines skip because a program is missing fails there.
is_required() { [[ "${APUS_SERVERS:-}" == required || "${CI:-}" == true ]]; }

skip() { # names the missing program or file and exits: successfully, except in CI
  if is_required; then die "missing: $*"; fi
  printf 'skipped: %s\n' "$*"
  exit 0
}

not_here() { # for a check that this system does not need: prints the reason and exits successfully
  printf 'not here: %s\n' "$*"
  exit 0
}

# The folder of the toolchain that `swift` belongs to. Its llvm-cov, docc and extractor match its compiler; those on
# PATH may not.
toolchain_bin() {
  if command -v xcrun >/dev/null; then
    dirname "$(xcrun --find swift)"
  else
    dirname "$(readlink -f "$(command -v swift)")"
  fi
}

# The targets that users can import: folders of Sources with Swift files, except for the compiler plugin.
library_targets() {
  local dir target
  for dir in Sources/*/; do
    target="$(basename "$dir")"
    if [[ "$target" == ApusMacrosPlugin ]]; then continue; fi
    if [[ -n "$(find "$dir" -name '*.swift' -print -quit)" ]]; then echo "$target"; fi
  done
}

# Builds in the folder that several packages share. SwiftPM would otherwise take the plan of the package that was built
# there last, and report success for a package of which it has built nothing.
shared_build() {
  swift build --disable-build-manifest-caching "$@"
}

# Builds the library for debugging, quietly unless it fails.
build_library() {
  run_quietly shared_build --scratch-path "$SCRATCH" ${BUILD_FLAGS[@]+"${BUILD_FLAGS[@]}"}
}

# Builds a nested package; with --show-bin-path, prints the folder of the products instead.
build_nested() {
  shared_build --package-path "$1" --scratch-path "$ROOT/$SCRATCH" ${BUILD_FLAGS[@]+"${BUILD_FLAGS[@]}"} "${@:2}"
}

# Builds the tests of the macros in a build folder of their own, because nothing else needs swift-syntax, and without
# coverage, which counts the lines that the package's own tests reach.
build_macros() {
  run_build "the tests of the macros" swift build --package-path Tests/Macros --build-tests -debug-info-format none
}

# Runs a build, and says what it is doing: on a terminal in one line, elsewhere every 20 seconds. Prints the output of a
# build that fails.
#   run_build TITLE COMMAND...
run_build() {
  local title="$1" log status=0
  shift
  log="$(mktemp)"
  "$@" 2>&1 | show_progress "$title" "$log" || status=$?
  if ((status != 0)); then grep -Ev '^\[[0-9]+/[0-9]+\] (Compiling|Emitting|Write|Wrapping)' "$log" >&2 || true; fi
  rm -f "$log"
  return "$status"
}

show_progress() { # copies its input to a log, and prints the last step, such as `[12/99] Compiling ApusCore Call.swift`
  local title="$1" log="$2" line next=0
  while IFS= read -r line || [[ -n "$line" ]]; do
    printf '%s\n' "$line" >&3
    if [[ "$line" != \[* && ! "$line" =~ ^(Fetch|Updat|Comput|Creat|Work) ]]; then continue; fi
    if [[ -t 1 ]]; then
      printf '\r\033[Kbuilding %s: %s' "$title" "${line:0:60}"
    elif ((SECONDS >= next)); then
      printf 'building %s: %s\n' "$title" "${line:0:80}"
      next=$((SECONDS + 20))
    fi
  done 3>"$log"
  if [[ -t 1 ]]; then printf '\r\033[K'; fi
}

# Runs a command and shows its output only if it fails.
run_quietly() {
  local log
  log="$(mktemp)"
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}
