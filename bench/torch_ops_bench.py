#!/usr/bin/env python3
"""What recording adds to one PyTorch operator, beside what torch.profiler and what PyTorch's own
calling of a callback add.

    BATCHLIGHT_BUILD=build/release bench/torch_ops_bench.py [rounds] [--cpu N]

Each mode runs in its own process, the modes in turn, several rounds; CPU time, the best tenth of a
run, the median of the rounds. The operator is an in-place add of one number to another: nearly all
of its time is PyTorch's own calling. Twice: on tensors that only Python holds, and on tensors that
PyTorch holds as well, like a model's parameters. From 2.10 on that differs: who copies a tensor that
only Python holds, which PyTorch does to show it to a callback, takes the GIL.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(SOURCE, "tests", "e2e"))
from python_session import (MODULES, NVTX, OPERATORS, PYTHON, PYTHON_PATH,  # noqa: E402
                            SHAPES, PythonSession)

LOOP = """
import sys, time, torch
torch.set_num_threads(1)
count, mode, floor = int(sys.argv[1]), sys.argv[2], sys.argv[3]
x, y = torch.ones(1), torch.ones(1)
a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
graph = a * b  # its nodes hold a and b
def run(x, y, n):
    add = x.add_
    start = time.thread_time_ns()
    for _ in range(n): add(y)
    return (time.thread_time_ns() - start) / n
def measure():
    with torch.no_grad():
        for x_, y_ in ((x, y), (a, b)):
            run(x_, y_, 2000)
            print(min(run(x_, y_, count // 10) for _ in range(10)))
if mode.startswith("torch.profiler"):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU], record_shapes="shapes" in mode):
        measure()
elif mode.startswith("emit_nvtx"):
    with torch.autograd.profiler.emit_nvtx(record_shapes="shapes" in mode):
        measure()
else:
    if mode.startswith("floor"):
        import ctypes
        ctypes.CDLL(floor).torch_floor_start("shapes" in mode)
    measure()
"""

# Builds the callback that does nothing as the bridge builds the recorder.
BUILD_FLOOR = """
import sys, types
sys.path.insert(0, sys.argv[1])
import torch
class Native(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return lambda *arguments: None
sys.modules["_batchlight_native"] = Native("_batchlight_native")
from batchlight._bridge import _torch_library
log = _torch_library.compile_against(torch, sys.argv[2], sys.argv[3])
if log is not None: sys.exit(log)
"""
COUNT = 50_000
MODES = ("alone", "floor", "floor, shapes", "batchlight", "batchlight, shapes", "torch.profiler",
         "torch.profiler, shapes")
NVTX_MODES = ("emit_nvtx", "emit_nvtx, shapes")  # recorded by us; needs a PyTorch with CUDA


def build_floor(folder):
    floor = os.path.join(folder, "torch_floor.so")
    subprocess.run([sys.executable, "-c", BUILD_FLOOR, PYTHON_PATH,
                    os.path.join(HERE, "torch_floor.cpp"), floor], check=True)
    return floor


def once(mode, floor, pin):
    command = [*pin, sys.executable, "-c", LOOP, str(COUNT), mode, floor]
    if not mode.startswith(("batchlight", "emit_nvtx")):
        output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        return [float(value) for value in output.split()]
    trace = NVTX
    if mode.startswith("batchlight"):
        trace |= PYTHON | MODULES | OPERATORS | (SHAPES if "shapes" in mode else 0)
    with PythonSession(trace=trace, budget_bytes=1 << 30) as session:
        done = session.run(*command)
        size = sum(os.path.getsize(os.path.join(session.path, name))
                   for name in os.listdir(session.path))
        assert done.returncode == 0 and size >= COUNT * 32, (done, size)
        return [float(value) for value in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("--cpu", help="the processor to run on")
    parser.add_argument("--nvtx", action="store_true", help="emit_nvtx, too")
    options = parser.parse_args()
    pin = ["taskset", "-c", options.cpu] if options.cpu else []
    modes = MODES + (NVTX_MODES if options.nvtx else ())
    with tempfile.TemporaryDirectory() as folder:
        floor = build_floor(folder)
        times = {mode: [] for mode in modes}
        for _ in range(options.rounds):
            for mode in modes:
                times[mode].append(once(mode, floor, pin))
    medians = {mode: [statistics.median(column) for column in zip(*rounds)]
               for mode, rounds in times.items()}
    print("%-24s %25s %25s" % ("", "Python's own tensors, ns", "also PyTorch's, ns"))
    print("%-24s %12s %12s %12s %12s" % ("", "operator", "added", "operator", "added"))
    for mode, (own, held) in medians.items():
        print("%-24s %12.0f %12.0f %12.0f %12.0f" % (
            mode, own, own - medians["alone"][0], held, held - medians["alone"][1]))


if __name__ == "__main__":
    main()
