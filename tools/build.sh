#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configures the preset when needed and builds it. BATCHLIGHT_CONFIGURE=
# holds what CMake is told besides, as "-DBATCHLIGHT_UNITY=ON".
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
read -ra configure <<<"${BATCHLIGHT_CONFIGURE:-}"
cmake --preset "$preset" "${configure[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
cmake --build --preset "$preset" -- "$@" >"$log" 2>&1 || { grep -vE '^\[[0-9]+/' "$log" | tail -n 60 >&2; exit 1; }
