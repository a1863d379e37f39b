#!/usr/bin/env python3
"""What recording adds to a step of examples/train.py with the defaults of `batchlight profile`.

    BATCHLIGHT_BUILD=build/release bench/train_bench.py [rounds] [arguments of train.py...]
    BATCHLIGHT_BUILD=build/release bench/train_bench.py --within [arguments of train.py...]

Runs alone and recorded in turn, several rounds. Prints the median step on the clock and in CPU time
of the training thread; on a busy machine look at the latter. Two runs of one program differ by a
percent or two, by where its memory lies.

--within takes that away: one recorded run, in which steps with the wrappers of modules and the
operators' callback are followed, in random order, by steps without either, by steps with one of them
only, and by steps with a callback that does nothing.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(os.path.dirname(HERE), "examples")
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "e2e"))

TIMED = """
import sys, time
sys.path.insert(0, %r)
sys.argv[0] = "train.py"
import train
clock, cpu = [], []
step = train.train_step
def timed(*arguments):
    clock.append(time.perf_counter()); cpu.append(time.thread_time())
    return step(*arguments)
train.train_step = timed
train.main()
def median(times):
    gaps = sorted(b - a for a, b in zip(times[3:], times[4:]))
    return gaps[len(gaps) // 2]
print("RESULT", median(clock), median(cpu))
""" % EXAMPLES

WITHIN = """
import ctypes, json, random, sys, time
sys.path.insert(0, %r)
sys.argv = ["train.py"] + sys.argv[1:]
import torch, train
floor = ctypes.CDLL(%r)
floor.torch_floor_start(0)
recorded, plain = torch.nn.Module.__call__, torch.nn.Module.__call__.__wrapped__
KINDS = ("alone", "modules", "a callback that does nothing", "operators", "all")
times, kind, started, left = {name: [] for name in KINDS}, None, None, []
step = train.train_step
def timed(*arguments):
    global kind, started
    now = time.perf_counter(), time.thread_time()
    if kind:
        times[kind].append((now[0] - started[0], now[1] - started[1]))
    if not left:
        left.extend(random.sample(KINDS, len(KINDS)))
    kind = left.pop()
    torch.nn.Module.__call__ = recorded if kind in ("modules", "all") else plain
    floor.torch_recorder_enable(kind in ("operators", "all"))
    floor.torch_floor_enable(kind == KINDS[2])
    started = time.perf_counter(), time.thread_time()
    return step(*arguments)
train.train_step = timed
train.main()
print("RESULT", json.dumps(times))
"""


def once(recorded, arguments):
    from python_session import PythonSession
    command = [sys.executable, "-c", TIMED, *arguments]
    if recorded:
        with PythonSession() as session:
            output = session.run(*command).stdout
    else:
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [float(value) for value in output.split("RESULT")[1].split()]


def quantiles(times):
    """Quarter and median, in ms, without the first steps."""
    times = sorted(times[3:])
    return [times[len(times) * part // 4] * 1e3 for part in (1, 2)]


def within(arguments):
    from python_session import PythonSession
    from torch_ops_bench import build_floor
    with tempfile.TemporaryDirectory() as folder, PythonSession() as session:
        floor = build_floor(folder)
        done = session.run(sys.executable, "-c", WITHIN % (EXAMPLES, floor), *arguments)
    times = json.loads(done.stdout.split("RESULT")[1])
    print("%-30s %5s %20s %20s" % ("", "steps", "CPU, ms: quarter", "median"))
    alone = quantiles([cpu for _, cpu in times["alone"]])
    for kind, steps in times.items():
        row = quantiles([cpu for _, cpu in steps])
        print("%-30s %5d " % (kind, len(steps)) + " ".join(
            "%11.2f (%+.1f %%)" % (value, (value / base - 1) * 100)
            for value, base in zip(row, alone)))


def main():
    if sys.argv[1:2] == ["--within"]:
        return within(sys.argv[2:])
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    results = {False: [], True: []}
    for _ in range(rounds):
        for recorded in (False, True):
            results[recorded].append(once(recorded, sys.argv[2:]))
    print("%-10s %14s %14s" % ("", "step, ms", "CPU, ms"))
    medians = {}
    for recorded, name in ((False, "alone"), (True, "recorded")):
        medians[recorded] = [statistics.median(column) * 1e3 for column in zip(*results[recorded])]
        print("%-10s %14.2f %14.2f" % (name, *medians[recorded]))
    print("%-10s %13.1f%% %13.1f%%" % ("added", *(
        (with_us / without - 1) * 100 for without, with_us in zip(medians[False], medians[True]))))


if __name__ == "__main__":
    main()
