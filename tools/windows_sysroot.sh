#!/usr/bin/env bash
# windows_sysroot.sh: makes build/windows-sysroot, what the preset `windows` links beside the C++
# runtime: zstd, SQLite and xxHash compiled from Debian's source packages, Debian's zlib for mingw, and
# the header-only libraries of this machine. Needs no root. What it cannot do is install the compiler
# and, for the tests, wine:
#
#     apt-get install g++-mingw-w64-x86-64-posix libz-mingw-w64-dev tcl wine64
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD/build/windows-sysroot
[ -e "$root/complete" ] && exit 0
target=x86_64-w64-mingw32
for program in $target-gcc-posix tclsh dpkg-source; do
  command -v $program >/dev/null || { echo "windows_sysroot: there is no $program (see the head of this script)" >&2; exit 1; }
done
rm -rf "$root"
mkdir -p "$root"/{include,lib,apt/lists/partial,source}

# Sources by lists of our own: the system's may name packages only.
mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI) $(CODENAME)' 'Created-By: Packages' | sed -n 's/^Debian \([^ ]*\) \([a-z]*\)$/\1 \2/p' | sort -u | head -n 1)
[ -n "$mirror" ] || { echo "windows_sysroot: run apt-get update first: no mirror of Debian is known" >&2; exit 1; }
cat >"$root/apt/apt.conf" <<END
Dir::State "$root/apt";
Dir::State::status "/dev/null";
Dir::Cache "$root/apt";
Dir::Etc::sourcelist "$root/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
END
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror main" >"$root/apt/sources.list"
(
  export APT_CONFIG=$root/apt/apt.conf
  cd "$root/source"
  apt-get update -qq
  apt-get source -qq libzstd sqlite3 xxhash >/dev/null
)

compile() {  # ARCHIVE FLAGS_AND_SOURCES...
  local archive=$root/lib/$1 objects
  shift
  objects=$(mktemp -d)
  (cd "$objects" && $target-gcc-posix -O2 -c "$@")
  $target-ar rcs "$archive" "$objects"/*.o
  rm -r "$objects"
}
sources=$root/source
compile libzstd.a -DZSTD_DISABLE_ASM "$sources"/libzstd-*/lib/{common,compress,decompress}/*.c &
zstd=$!
compile libxxhash.a "$sources"/xxhash-*/xxhash.c
(cd "$sources"/sqlite3-* && mkdir -p tsrc_build && cd tsrc_build && ../configure --disable-tcl --disable-readline >/dev/null && make -s sqlite3.c >/dev/null)
# As Debian compiles it, where results could differ.
compile libsqlite3.a -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_COLUMN_METADATA "$sources"/sqlite3-*/tsrc_build/sqlite3.c
wait $zstd
cp "/usr/$target/lib/libz.a" "$root/lib/"
cp "/usr/$target/include"/{zlib,zconf}.h "$root/include/"
cp "$sources"/libzstd-*/lib/{zstd,zstd_errors}.h "$sources"/xxhash-*/xxhash.h "$sources"/sqlite3-*/tsrc_build/sqlite3.h "$root/include/"
for headers in fmt nlohmann CLI boost; do ln -s "/usr/include/$headers" "$root/include/$headers"; done
rm -r "$root/apt" "$root/source"
touch "$root/complete"
