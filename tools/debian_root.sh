#!/usr/bin/env bash
# debian_root.sh FOLDER SUITE ARCHITECTURE PACKAGE...: unpacks Debian packages with all that they
# depend on into FOLDER. SUITE "" is the system's own. Needs no root and changes nothing of the
# system: apt works on folders of its own. FOLDER/complete says that everything is there.
set -euo pipefail
root=$(realpath -m "$1") suite=$2 architecture=$3
shift 3
[ -e "$root/complete" ] && exit 0
rm -rf "$root"
apt=$root.apt
mkdir -p "$root" "$apt"/state/lists/partial "$apt"/cache/archives/partial
cat >"$apt/apt.conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Install-Recommends "0";
Acquire::Check-Valid-Until "false";
Dir::State "$apt/state";
Dir::State::status "/dev/null";
Dir::Cache "$apt/cache";
Debug::NoLocking "1";
END
if [ -n "$suite" ]; then
  mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^Debian //p' | sort -u | head -n 1)
  [ -n "$mirror" ] || { echo "debian_root: run apt-get update first: no mirror of Debian is known" >&2; exit 1; }
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources.list"
  cat >>"$apt/apt.conf" <<END
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
END
fi
export APT_CONFIG=$apt/apt.conf
apt-get update -qq
apt-get install -qq --download-only -y "$@" >/dev/null
for package in "$apt"/cache/archives/*.deb; do dpkg -x "$package" "$root"; done
rm -r "$apt"
touch "$root/complete"
