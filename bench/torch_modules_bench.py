#!/usr/bin/env python3
"""What recording adds to one call of an nn.Module, and to one phase of a training step.

    BATCHLIGHT_BUILD=build/release bench/torch_modules_bench.py [rounds] [--cpu N]

The module does nothing, the phase is zero_grad of an optimizer without gradients: what is left is
the calling. Alone and recorded in turn, each in its own process; CPU time, the best tenth of a run,
the median of the rounds.
"""
import argparse
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "e2e"))
from python_session import MODULES, NVTX, PYTHON, PythonSession  # noqa: E402

LOOP = """
import sys, time, torch
torch.set_num_threads(1)
count = int(sys.argv[1])
class Nothing(torch.nn.Module):
    def forward(self, x): return x
nothing, x = Nothing(), torch.ones(1)
def calls(n):
    call = nothing
    start = time.thread_time_ns()
    for _ in range(n): call(x)
    return (time.thread_time_ns() - start) / n
class Around(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nothing
    def forward(self, x):
        call = self.inner
        start = time.thread_time_ns()
        for _ in range(n_inner): call(x)
        return (time.thread_time_ns() - start) / n_inner
around = Around()
def inner_calls(n):
    global n_inner
    n_inner = n
    return around(x)
optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1)
def phases(n):
    call = optimizer.zero_grad
    start = time.thread_time_ns()
    for _ in range(n): call()
    return (time.thread_time_ns() - start) / n
for measure in (calls, inner_calls, phases):
    measure(2000)
    print(min(measure(count // 10) for _ in range(10)))
"""
COUNT = 50_000
NAMES = ("module call, outermost", "module call, within another", "phase (zero_grad)")


def once(recorded, pin):
    command = [*pin, sys.executable, "-c", LOOP, str(COUNT)]
    if not recorded:
        output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        return [float(value) for value in output.split()]
    with PythonSession(trace=NVTX | PYTHON | MODULES, budget_bytes=1 << 30) as session:
        done = session.run(*command)
        assert done.returncode == 0, done
        return [float(value) for value in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("--cpu", help="the processor to run on")
    options = parser.parse_args()
    pin = ["taskset", "-c", options.cpu] if options.cpu else []
    times = {False: [], True: []}
    for _ in range(options.rounds):
        for recorded in (False, True):
            times[recorded].append(once(recorded, pin))
    alone, recorded = ([statistics.median(column) for column in zip(*times[mode])]
                       for mode in (False, True))
    print("%-28s %12s %12s %12s" % ("ns", "alone", "recorded", "added"))
    for name, without, with_us in zip(NAMES, alone, recorded):
        print("%-28s %12.0f %12.0f %12.0f" % (name, without, with_us, with_us - without))


if __name__ == "__main__":
    main()
