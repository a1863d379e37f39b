#!/usr/bin/env python3
"""What an exact count costs, beside the peer in the same run:

    BATCHLIGHT_BUILD=build/release bench/python_exact_bench.py [PYTHON...]

One call and return of an empty function: alone, under --python-trace=functions, under cProfile
(builtins=False). One line of a loop: alone, under --lines, under line_profiler where the Python has
it. Processor time of the thread, the least of several runs, less that of the loop alone.
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
from python_hook_test import interpreters  # noqa: E402
from python_session import PYTHON, PythonSession, alone  # noqa: E402

PROGRAM = """
import time
N = 20000
def empty(): pass
def calls():
    for _ in range(N):
        empty(); empty(); empty(); empty(); empty()
def lines():
    x = 1
    for _ in range(N):
        y = x
        y = x
        y = x
        y = x
        y = x
def least(run):
    best = 1e9
    for _ in range(5):
        start = time.thread_time(); run(); best = min(best, time.thread_time() - start)
    return best
%s
"""
CALLS = "print(least(calls) / (5 * N) * 1e9)"
LINES = "print(least(lines) / (6 * N) * 1e9)"
CPROFILE = """
import cProfile
p = cProfile.Profile(builtins=False); p.enable(); t = least(calls); p.disable()
print(t / (5 * N) * 1e9)"""
LINE_PROFILER = """
import line_profiler
p = line_profiler.LineProfiler(); timed = p(lines); print(least(timed) / (6 * N) * 1e9)"""


def number(done):
    return float(done.stdout) if done.returncode == 0 else None


def recorded(python, code, setting):
    with PythonSession(trace=PYTHON, extra=setting + "\npython.thin=0\n") as session:
        return number(session.run(python, "-c", PROGRAM % code))


def beside(value, base):
    return "%5.0f" % (value - base) if value is not None else "    -"


def main(pythons):
    print("ns above the program alone      call+return: ours, cProfile   line: ours, line_profiler")
    for python in pythons:
        call, line = (number(alone(python, "-c", PROGRAM % code)) for code in (CALLS, LINES))
        print("%-48s %s %s        %s %s" % (
            python,
            beside(recorded(python, CALLS, "python.trace=functions"), call),
            beside(number(alone(python, "-c", PROGRAM % CPROFILE)), call),
            beside(recorded(python, LINES, "python.lines=__main__:lines"), line),
            beside(number(alone(python, "-c", PROGRAM % LINE_PROFILER)), line)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or interpreters())
