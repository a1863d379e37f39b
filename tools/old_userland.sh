#!/usr/bin/env bash
# old_userland.sh FOLDER: Debian 11, whose glibc 2.31 and Python 3.9 are older than those of most
# clusters, for the tests of what a user installs. Where the archive cannot be reached it says so and
# leaves nothing: those tests are then skipped, and say so too.
set -uo pipefail
folder=$1
tools=$(dirname "$0")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$tools/debian_root.sh" "$folder" bullseye amd64 bash coreutils dash diffutils dpkg findutils grep libc-bin passwd \
  python3 python3-venv sed tar zstd >"$log" 2>&1 && exit 0
rm -rf "$folder"
echo "old_userland: not there, so that tests in it are skipped: $(tail -n 1 "$log")" >&2
