#!/usr/bin/env python3
"""What recording adds to a step of examples/train.py with the defaults of `batchlight profile`.

    BATCHLIGHT_BUILD=build/release bench/train_bench.py [rounds] [arguments of train.py...]

Runs alone and recorded in turn, several rounds. Prints the median step on the clock and in CPU time
of the training thread; on a busy machine look at the latter.
"""
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
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
""" % os.path.join(os.path.dirname(HERE), "examples")


def once(recorded, arguments):
    from python_session import PythonSession
    command = [sys.executable, "-c", TIMED, *arguments]
    if recorded:
        with PythonSession() as session:
            output = session.run(*command).stdout
    else:
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [float(value) for value in output.split("RESULT")[1].split()]


def main():
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
