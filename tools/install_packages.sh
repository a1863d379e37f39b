#!/usr/bin/env bash
# install_packages.sh LIST...: installs those Debian packages of the lists that are missing.
# Asks apt only if something is missing, so that a second run costs nothing and needs no network.
set -euo pipefail
mapfile -t wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]*$//' "$@" | grep -v '^$')
missing=()
for package in "${wanted[@]}"; do
  case $package in  # present without its Debian package: another install of the same program
    nodejs) command -v node >/dev/null && continue ;;
  esac
  dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing: ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install_packages: not root and no sudo; ask for: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
