#!/usr/bin/env bash
# fuzz.sh [--readers] [--seconds N] [TARGET...]: fuzzes each target of tests/fuzz/*targets.def for so
# many seconds (1800) with clang's libFuzzer, the libraries instrumented, under ASan and UBSan. With
# --readers only what reads runs, without the commands behind it: a fifth of the objects to build.
# Inputs that are new go to build/fuzz/corpus/TARGET, findings to build/fuzz/found/TARGET: then it
# fails. What it did is in build/fuzz/TARGET.log. Add what was found to tests/fuzz/corpus/TARGET with
# the mend.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=1800
programs=fuzzers
prefix=fuzz
rows=(tests/fuzz/targets.def tests/fuzz/tool_targets.def)
if [ "${1:-}" = --readers ]; then
  programs=reader_fuzzers
  prefix=fuzz_reader
  rows=(tests/fuzz/targets.def)
  shift
fi
if [ "${1:-}" = --seconds ]; then
  seconds=$2
  shift 2
fi
targets=${*:-$(sed -n 's/^TARGET(\([a-z_]*\),.*/\1/p' "${rows[@]}")}
tools/build.sh fuzz "$programs"
"build/fuzz/test/${prefix}_seeds" build/fuzz/seeds
failed=0
for target in $targets; do
  mkdir -p "build/fuzz/corpus/$target" "build/fuzz/found/$target" "build/fuzz/seeds/$target"
  log=build/fuzz/$target.log
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
    "build/fuzz/test/${prefix}_$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 \
    -max_len=262144 -print_final_stats=1 -artifact_prefix="build/fuzz/found/$target/" \
    "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target" "build/fuzz/seeds/$target" \
    >"$log" 2>&1 || failed=1
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
  echo "$target: ${runs:-?} inputs, ${coverage:-cov: ?} edges, $(ls "build/fuzz/found/$target" | wc -l) findings"
done
exit $failed
