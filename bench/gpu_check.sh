#!/bin/sh
# Measures on this machine's GPU what docs/benchmarks.md and docs/gpu.md say of recording CUDA, and
# prints one table: what was asked, what came out, whether that is enough.
#
#   bench/gpu_check.sh [--build build/release] [--python python3] [--nsys nsys] [--pin 2-5]
#                      [--rounds 8] [--only PATTERN] [--out FOLDER]
#   bench/gpu_check.sh --waiting [--seconds 470]        the rows that wait for a GPU, in eight minutes
#   bench/gpu_check.sh --stand-in --build build/dev     what can be checked without a GPU
#
# Needs a build and a Python with PyTorch for CUDA. nsys, compute-sanitizer, CUDA's headers with a
# C++ compiler (for the floor) and a second GPU are used where they are; rows without them say so.
# Takes about 15 minutes with all of them. Exit status 1 if a row is not met.
folder=$(dirname "$0")
python=python3
previous=
for word in "$@"; do
  [ "$previous" = --python ] && python=$word
  case $word in --python=*) python=${word#--python=} ;; esac
  previous=$word
done
exec "$python" "$folder/gpu/check.py" "$@"
