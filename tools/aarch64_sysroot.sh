#!/usr/bin/env bash
# aarch64_sysroot.sh: unpacks Debian's arm64 packages of the libraries that the build links into
# build/aarch64-sysroot, for the preset `aarch64`. Needs no root and changes nothing of the system:
# apt works on folders of its own. What it cannot do is install the compiler and the emulator:
#
#     apt-get install g++-aarch64-linux-gnu qemu-user-static
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD/build/aarch64-sysroot
[ -e "$root/complete" ] && exit 0
apt=$PWD/build/aarch64-apt
mkdir -p "$root" "$apt"/state/lists/partial "$apt"/cache/archives/partial
cat >"$apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "0";
Dir::State "$apt/state";
Dir::State::status "/dev/null";
Dir::Cache "$apt/cache";
Debug::NoLocking "1";
END
export APT_CONFIG=$apt/apt.conf
mapfile -t wanted < <(sed -n 's/^\([^ ]*-dev\) .*/\1/p' tools/packages.txt)
apt-get update -qq
apt-get install -qq --download-only -y "${wanted[@]}" libgtest-dev libstdc++6 >/dev/null
for package in "$apt"/cache/archives/*.deb; do dpkg -x "$package" "$root"; done
rm -r "$apt"
touch "$root/complete"
