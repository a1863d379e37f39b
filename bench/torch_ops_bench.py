#!/usr/bin/env python3
"""What recording adds to one PyTorch operator, beside what torch.profiler adds.

    BATCHLIGHT_BUILD=build/release bench/torch_ops_bench.py [rounds]

Each mode runs in its own process, the modes in turn, several rounds; CPU time, the best tenth of a
run, the median of the rounds. The operator is an in-place add of one number to another: nearly all
of its time is PyTorch's own calling.
"""
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "e2e"))

LOOP = """
import sys, time, torch
torch.set_num_threads(1)
count, mode = int(sys.argv[1]), sys.argv[2]
x, y = torch.ones(1), torch.ones(1)
def run(n):
    add = x.add_
    start = time.thread_time_ns()
    for _ in range(n): add(y)
    return (time.thread_time_ns() - start) / n
with torch.no_grad():
    run(2000)
    if mode.startswith("torch.profiler"):
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CPU], record_shapes="shapes" in mode) as p:
            print(min(run(count // 10) for _ in range(10)))
    else:
        print(min(run(count // 10) for _ in range(10)))
"""
COUNT = 50_000
MODES = ("alone", "batchlight", "batchlight, shapes", "torch.profiler", "torch.profiler, shapes")


def once(mode):
    from python_session import MODULES, NVTX, OPERATORS, PYTHON, SHAPES, PythonSession
    command = [sys.executable, "-c", LOOP, str(COUNT), mode]
    if not mode.startswith("batchlight"):
        return float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    trace = NVTX | PYTHON | MODULES | OPERATORS | (SHAPES if "shapes" in mode else 0)
    with PythonSession(trace=trace, budget_bytes=1 << 30) as session:
        done = session.run(*command)
        size = sum(os.path.getsize(os.path.join(session.path, name))
                   for name in os.listdir(session.path))
        assert done.returncode == 0 and size >= COUNT * 32, (done, size)
        return float(done.stdout)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    times = {mode: [] for mode in MODES}
    for _ in range(rounds):
        for mode in MODES:
            times[mode].append(once(mode))
    base = statistics.median(times["alone"])
    print("%-24s %12s %12s" % ("", "ns/operator", "added"))
    for mode in MODES:
        median = statistics.median(times[mode])
        print("%-24s %12.0f %12.0f" % (mode, median, median - base))


if __name__ == "__main__":
    main()
