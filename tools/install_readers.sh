#!/usr/bin/env bash
# install_readers.sh FOLDER [LIST]: a virtual environment with the programs of a list, that of other
# readers (requirements-readers.txt) if none is given.
# Asks the package index only if the list has changed. Where that cannot be done it says so and
# leaves no environment: the tests that need it are then skipped, and say so too.
set -uo pipefail
folder=$1
list=${2:-$(dirname "$0")/requirements-readers.txt}
cmp -s "$list" "$folder/installed.txt" && exit 0
rm -rf "$folder"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if python3 -m venv "$folder" >"$log" 2>&1 &&
  "$folder/bin/pip" install -q --no-deps --only-binary=:all: -r "$list" >>"$log" 2>&1; then
  cp "$list" "$folder/installed.txt"
else
  rm -rf "$folder"
  echo "install_readers: not installed, so that tests with $(basename "$list" .txt) are skipped: $(tail -n 1 "$log")" >&2
fi
