#!/usr/bin/env bash
# From a fresh Debian 12 machine to a profile of the example in results/.
#
#   ./quickstart.sh [noclean] [arguments of examples/train.py...]
#
# noclean keeps earlier results; every other argument goes to the training script.
set -euo pipefail
cd "$(dirname "$0")"

clean=yes
arguments=()
for argument in "$@"; do
  if [ "$argument" = noclean ]; then clean=no; else arguments+=("$argument"); fi
done

tools/install_packages.sh tools/packages.txt

# The Python that has PyTorch: the one in use if it does, else Debian's.
python=
for candidate in "${PYTHON:-}" python3 /usr/bin/python3; do
  [ -n "$candidate" ] && "$candidate" -c 'import torch' 2>/dev/null && { python=$candidate; break; }
done
if [ -z "$python" ]; then
  echo "no Python here imports torch: installing Debian's python3-torch" >&2
  tools/install_packages.sh <(echo python3-torch; echo python3-numpy)
  python=/usr/bin/python3
fi
# Debian keeps PyTorch's headers, which the operator recorder is built against, in their own package.
if "$python" -c 'import sys, torch; sys.exit("/usr/lib/python3/" not in torch.__file__)'; then
  tools/install_packages.sh <(echo libtorch-dev) || echo "operators will not be recorded" >&2
fi

echo "building batchlight (release)" >&2
tools/build.sh release

[ $clean = yes ] && rm -rf results
mkdir -p results
name=results/train
if [ $clean = no ] && [ -e $name.batchlight ]; then
  number=2
  while [ -e "$name-$number.batchlight" ]; do number=$((number + 1)); done
  name=$name-$number
fi
batchlight=build/release/bin/batchlight
"$batchlight" profile -o "$name" -- "$python" examples/train.py ${arguments[@]+"${arguments[@]}"}
"$batchlight" report -o "$name-report" "$name.batchlight"
"$batchlight" export -t sqlite -o "$name.sqlite" "$name.batchlight"

cat <<END

Open $name-report/index.html in a browser; $name-report/README_snippet.md is ready to paste.
  $batchlight summary $name.batchlight      the summary again
  $batchlight stats $name.batchlight        tables as nsys prints them
  $name.sqlite                      for tools that read nsys's SQLite
END
