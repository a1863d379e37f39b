#!/usr/bin/env bash
# aarch64_sysroot.sh: unpacks Debian's arm64 packages of the libraries that the build links into
# build/aarch64-sysroot, for the preset `aarch64`. Needs no root. What it cannot do is install the
# compiler and the emulator:
#
#     apt-get install g++-aarch64-linux-gnu qemu-user-static
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t wanted < <(sed -n 's/^\([^ ]*-dev\) .*/\1/p' tools/packages.txt)
exec tools/debian_root.sh build/aarch64-sysroot "" arm64 "${wanted[@]}" libgtest-dev libstdc++6
