#!/usr/bin/env python3
"""What samples, memory by line and imports cost, beside the peers in the same rounds:

    bench/python_peers_bench.py build/release/bin/batchlight VENV [ROUNDS]

VENV has py-spy, scalene, memray and memory_profiler. Each round runs every tool once around the same program, in turn.
"program" is the processor time that the program says it used in the measured part, "all" that of the whole command,
with the tool beside it and what it does at its end: medians, and the least, which others on the machine change less. The last line is the price of recording an import, by the
three calls that it takes, in a process with few libraries.
"""
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

# Processor time of its own work, of calls, lists and strings alike. It keeps the little memory it takes: what the C
# library gives back to the system and takes again differs from start to start by more than any tool costs.
COMPUTES = """
import time
def words(n):
    return [str(i).lower() for i in range(n)]
def total(items):
    s = 0
    for item in items:
        s += len(item)
    return s
begin = time.process_time()
for _ in range(100_000):
    total(words(200))
print("used", time.process_time() - begin)
"""
# One line that allocates, under @profile of memory_profiler.
ALLOCATES = """
import builtins, time
profile = getattr(builtins, "profile", lambda function: function)
@profile
def grow(n):
    kept = []
    for i in range(n):
        kept.append(bytes(1000))
    return len(kept)
begin = time.process_time()
grow(20_000)
print("used", time.process_time() - begin)
"""
# Small objects that are soon dropped: the worst case of what stands in front of the allocator.
DROPS = """
import time
class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b
def run(n):
    kept = [None] * 1000
    for i in range(n):
        kept[i % 1000] = Pair((i, str(i)), [i])
best = 1e9
for _ in range(12):
    begin = time.process_time(); run(100_000); best = min(best, time.process_time() - begin)
print("used", best)
"""
IMPORTS = """
import json, time
import _batchlight_native as n
def least(run):
    best = 1e9
    for _ in range(9):
        begin = time.process_time(); run(); best = min(best, time.process_time() - begin)
    return best
def imports():
    for _ in range(20_000):
        n.phase_begin(14, "some.module"); n.imported_file(json); n.phase_end()
def nothing():
    for _ in range(20_000):
        pass
print("used", (least(imports) - least(nothing)) / 20_000)
"""


def used(command, folder):
    """Processor seconds (of the program's measured part, of everything)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = re.search(r"^used ([0-9.e-]+)$", done.stdout, re.M)
    if done.returncode != 0 or said is None:
        raise SystemExit("%s:\n%s" % (" ".join(command), done.stdout))
    return float(said[1]), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(title, tools, rounds, folder):
    times = {name: [] for name in tools}
    for _ in range(rounds):
        for name, command in tools.items():
            times[name].append(used(command, folder))
    print("\n%-36s %28s %28s" % (title, "program, s: median, least", "all, s: median, least"))

    def figures(runs):
        return [pick(run[i] for run in runs) for i in (0, 1) for pick in (statistics.median, min)]
    alone = figures(times["alone"])
    for name, runs in times.items():
        cells = ["%.3f %+7.1f%%" % (value, 100 * (value / base - 1)) for value, base in zip(figures(runs), alone)]
        print("%-36s %s" % (name, "  ".join("%14s" % cell for cell in cells)), flush=True)


def main(batchlight, venv, rounds=5):
    rounds = int(rounds)
    peer = lambda name: os.path.join(os.path.abspath(venv), "bin", name)
    python = peer("python")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("computes.py", COMPUTES), ("allocates.py", ALLOCATES), ("drops.py", DROPS),
                           ("imports.py", IMPORTS)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)

        def ours(*flags):
            return [os.path.abspath(batchlight), "profile", "--pytorch=none", "-f", "true", "-o", "run", *flags, python]
        compare("samples of time", {
            "alone": [python, "computes.py"],
            "batchlight, 100 Hz": [*ours(), "computes.py"],
            "batchlight without samples": [*ours("--python-sampling=false"), "computes.py"],
            "py-spy, 100 Hz": [peer("py-spy"), "record", "-r", "100", "-f", "raw", "-o", "spy", "--", python, "computes.py"],
            "Scalene --cpu-only": [python, "-m", "scalene", "run", "--cpu-only", "-o", "scalene.json", "computes.py"],
        }, rounds, folder)
        compare("memory of each line", {
            "alone": [python, "allocates.py"],
            "batchlight, sampled": [*ours("--python-memory=sampled"), "allocates.py"],
            "batchlight, exact, --lines": [*ours("--python-memory=exact", "--lines=__main__:grow"), "allocates.py"],
            "memory_profiler": [python, "-m", "memory_profiler", "allocates.py"],
            "memray, with Python's allocators": [python, "-m", "memray", "run", "--trace-python-allocators", "-f", "-o",
                                                 "ray", "allocates.py"],
        }, rounds, folder)
        compare("memory of small objects", {
            "alone": [python, "drops.py"],
            "batchlight without memory": [*ours("--python-sampling=false"), "drops.py"],
            "batchlight, sampled": [*ours("--python-sampling=false", "--python-memory=sampled"), "drops.py"],
            "memray": [python, "-m", "memray", "run", "-f", "-o", "ray", "drops.py"],
        }, rounds, folder)
        price = statistics.median(used([os.path.abspath(batchlight), "profile", "-f", "true", "-o", "run", python,
                                       "imports.py"], folder)[0]
                                  for _ in range(rounds))
        print("\nan import: %.0f ns" % (price * 1e9))


if __name__ == "__main__":
    main(*sys.argv[1:])
