#!/usr/bin/env python3
"""What `with batchlight.annotate("load"): pass` costs, under the profiler and without it.

    BATCHLIGHT_BUILD=build/release bench/annotate_bench.py [python...]

CPU time of one `with`, less that of the same loop with `pass`, in ns; the best of 20 runs of 50,000,
the median of 5 processes. Beside it contextlib.nullcontext(), which does nothing either.
"""
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "e2e"))
from python_session import PYTHON_PATH, PythonSession  # noqa: E402

LOOP = """
import sys, time
sys.path.append(sys.argv[1])
import batchlight
from batchlight import annotate
from contextlib import nullcontext
COUNT = 50_000
def empty():
    start = time.thread_time_ns()
    for _ in range(COUNT): pass
    return time.thread_time_ns() - start
def ranges():
    start = time.thread_time_ns()
    for _ in range(COUNT):
        with annotate("load"): pass
    return time.thread_time_ns() - start
def null():
    start = time.thread_time_ns()
    for _ in range(COUNT):
        with nullcontext("load"): pass
    return time.thread_time_ns() - start
def best(measure): return min(measure() for _ in range(20))
base = best(empty)
print(batchlight.enabled(), (best(ranges) - base) / COUNT, (best(null) - base) / COUNT)
"""


def measured(run):
    runs = []
    for _ in range(5):
        enabled, *numbers = run().stdout.split()
        runs.append([float(number) for number in numbers])
    return enabled, [statistics.median(column) for column in zip(*runs)]


def main():
    for python in sys.argv[1:] or [sys.executable]:
        words = [python, "-c", LOOP, PYTHON_PATH]

        def alone():
            return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)

        def recorded():
            with PythonSession() as session:
                return session.run(*words)

        enabled, (inside, _) = measured(recorded)
        assert enabled == "True", "not recorded"
        enabled, (outside, null) = measured(alone)
        assert enabled == "False"
        print("%s: under the profiler %.0f ns, without %.0f ns (contextlib.nullcontext %.0f ns)"
              % (python, inside, outside, null))


if __name__ == "__main__":
    main()
