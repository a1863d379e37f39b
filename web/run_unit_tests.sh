#!/usr/bin/env bash
# run_unit_tests.sh ESBUILD NODE FOLDER: bundles every src/**/*_test.ts into FOLDER and runs them.
set -euo pipefail
esbuild=$1 node=$2 folder=$3
cd "$(dirname "$0")"
rm -rf "$folder"
mapfile -t tests < <(find src -name '*_test.ts' | sort)
"$esbuild" "${tests[@]}" --bundle --loader:.bin=binary --platform=node --format=cjs --out-extension:.js=.cjs \
  --outdir="$folder" --log-level=warning
mapfile -t bundles < <(find "$folder" -name "*.cjs" | sort)
"$node" --test "${bundles[@]}"
