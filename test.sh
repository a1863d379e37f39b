#!/usr/bin/env bash
# Everything that must hold: installs what is missing, builds, runs unit, golden and end-to-end
# tests, the checks in tools/, and the sanitizer builds of the injected library and of decoding.
#
#   ./test.sh [quick]     quick leaves the sanitizer builds out, and those for other systems where there are none
set -euo pipefail
cd "$(dirname "$0")"
mode=${1:-}

step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

step "packages"
tools/install_packages.sh tools/packages.txt tools/packages-test.txt
tools/install_readers.sh build/readers
tools/install_readers.sh build/dask tools/requirements-dask.txt
tools/install_readers.sh build/auditwheel tools/requirements-wheel.txt
tools/install_readers.sh build/jupyter tools/requirements-jupyter.txt
tools/old_userland.sh build/old-userland

step "build"
# What is built for the first time is built by folder, in half the time; a developer's build stays as it is.
unity=
[ -d build/dev ] || unity=-DBATCHLIGHT_UNITY=ON
BATCHLIGHT_CONFIGURE=$unity tools/build.sh dev

# other PRESET TARGET...: a build for another system, of which e2e tests run what is named. Where its libraries
# cannot be had these tests are skipped, and say so.
other() {
  if [ "$mode" = quick ] && [ ! -d "build/$1" ]; then return; fi
  step "build for $1"
  if "tools/${1}_sysroot.sh"; then tools/build.sh "$@"; fi
}
other windows batchlight
other aarch64 batchlight manual python_package nvtx_client

step "tests"
ctest --test-dir build/dev --output-on-failure --no-tests=error -j2

if [ "$mode" != quick ]; then
  step "sanitizers: injected library, decoding, import"
  for preset in asan tsan; do
    tools/build.sh $preset sanitizer_tests
    ctest --test-dir build/$preset --output-on-failure --no-tests=error -L sanitizer -j2
  done
fi

step "done"
