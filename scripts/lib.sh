# Shared by the bash scripts: strict mode, the repository's root, one way to fail. Source it first:
#   source "$(dirname "$0")/lib.sh"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT="$PWD"

# Where a plain debug build lives, and the flags it is built with. CI points both at the coverage build, so that the
# checks that only read compiled modules (API text, documentation, Apple stubs) cost no build of their own.
SCRATCH="${APUS_SCRATCH:-.build}"
read -r -a BUILD_FLAGS <<<"${APUS_BUILD_FLAGS:-}"

# The nested packages are built each for itself, or with APUS_ONE_BUILD=1 where the package is: what they share is
# then compiled once. Quicker once, and slower again and again: each build compiles the package's modules anew.
NESTED=()
if [[ "${APUS_ONE_BUILD:-0}" == 1 ]]; then NESTED=(--scratch-path "$ROOT/$SCRATCH"); fi

die() { # one line on standard error, and out
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# In CI everything is there: what is left out elsewhere, because something is missing, fails.
is_required() { [[ "${APUS_SERVERS:-}" == required || "${CI:-}" == true ]]; }

skip() { # names what is missing: succeeds, but not in CI
  if is_required; then die "missing: $*"; fi
  printf 'skipped: %s\n' "$*"
  exit 0
}

not_here() { # for what this system has no need of: says why, succeeds
  printf 'not here: %s\n' "$*"
  exit 0
}

# The folder of the toolchain that `swift` belongs to; its llvm-cov, docc and extractor match its compiler, those
# elsewhere on PATH may not.
toolchain_bin() {
  if command -v xcrun >/dev/null; then
    dirname "$(xcrun --find swift)"
  else
    dirname "$(readlink -f "$(command -v swift)")"
  fi
}

# The targets users can import: folders of Sources with Swift files.
library_targets() {
  local dir target
  for dir in Sources/*/; do
    target="$(basename "$dir")"
    if [[ -n "$(find "$dir" -name '*.swift' -print -quit)" ]]; then echo "$target"; fi
  done
}

# A debug build of the library, quiet unless it fails.
build_library() {
  run_quietly swift build --scratch-path "$SCRATCH" ${BUILD_FLAGS[@]+"${BUILD_FLAGS[@]}"}
}

# Builds a nested package; the path to what was built is asked for with --show-bin-path.
build_nested() {
  swift build --package-path "$1" ${NESTED[@]+"${NESTED[@]}"} ${BUILD_FLAGS[@]+"${BUILD_FLAGS[@]}"} "${@:2}"
}

# Runs a command; its output is shown only when it fails.
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
