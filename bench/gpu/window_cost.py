#!/usr/bin/env python3
"""What CUPTI leaves on a launch-bound training step before, in and after a window, action by action.

    window_cost.py cupti_window.so [--init 'subscribe ...'] 'label: action action' ...

The steps of train_step.py's launch preset are timed before the first action and after each; every
line gives the step's median, what it is to the reference, and the records that came. --init is done
inside cuInit (the program starts itself anew with CUDA_INJECTION64_PATH). An action `again` measures
only. The reference is the first measurement unless --reference gives its ms.
"""
import argparse
import contextlib
import ctypes
import io
import os
import statistics
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("library")
parser.add_argument("phases", nargs="*")
parser.add_argument("--init")
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--reference", type=float, default=0)
parser.add_argument("--graph", choices=["once", "always"],
                    help="replay CUDA graphs, captured before the first action or after each one")
parser.add_argument("--hammer", action="store_true", help="a second thread launches all the time")
options = parser.parse_intermixed_args()
if options.init is not None and "CUPTI_WINDOW_INIT" not in os.environ:
    os.environ["CUPTI_WINDOW_INIT"] = options.init
    os.environ["CUDA_INJECTION64_PATH"] = os.path.abspath(options.library)
    os.execv(sys.executable, [sys.executable] + sys.argv)

sys.argv = ["train_step.py", "--preset", "launch", "--steps", "20", "--warm", "30"]
scope = {"__name__": "loop"}
source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "train_step.py")
with contextlib.redirect_stdout(io.StringIO()):
    exec(compile(open(source).read(), source, "exec"), scope)
step, torch = scope["step"], scope["torch"]
library = ctypes.CDLL(options.library)
library.window_do.argtypes = [ctypes.c_char_p]


graphs = []


def replay():
    """Graphs made before, while and after CUPTI was there, all replayed."""
    torch.cuda.synchronize()
    if options.graph == "always" or not graphs:
        graph = torch.cuda.CUDAGraph()
        x = torch.ones(64, 64, device="cuda")
        with torch.cuda.graph(graph):
            y = x
            for _ in range(10):
                y = torch.relu(y @ x)
        graphs.append((graph, x, y))
    for graph, _, y in graphs:
        for _ in range(20):
            graph.replay()
    torch.cuda.synchronize()
    if len({float(y.sum()) for _, _, y in graphs}) != 1:
        print("  graphs differ")


def hammer():
    with torch.cuda.stream(torch.cuda.Stream()):
        x = torch.zeros(64, device="cuda")
        while True:
            for _ in range(200):
                x.add_(1.0)
            torch.cuda.current_stream().synchronize()


def counts():
    torch.cuda.synchronize()
    library.window_do(b"flush")
    time.sleep(0.02)
    numbers = (ctypes.c_uint64 * 4)()
    library.window_counts(numbers)
    return list(numbers)


def measure():
    if options.graph:
        replay()
    torch.cuda.synchronize()
    for _ in range(5):
        step()
    times = []
    for _ in range(options.steps):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    torch.cuda.synchronize()
    times.sort()
    return times[len(times) // 2] * 1e3, times[len(times) // 10] * 1e3


reference = [options.reference, options.reference]


def show(label, active):
    median, low = measure()
    if not reference[0]:
        reference[:] = [median, low]
    seen = counts() if active else [0, 0, 0, 0]
    print("  %-44s median %7.3f ms %.3f   10%% %7.3f ms %.3f   records a step: kernels %.1f calls %.1f"
          " others %.1f callbacks %.1f" % ((label, median, median / reference[0], low, low / reference[1])
          + tuple(number / (options.steps + 5) for number in seen)), flush=True)
    return median


if options.hammer:
    threading.Thread(target=hammer, daemon=True).start()
show("in cuInit: " + options.init if options.init else "plain", bool(options.init))
for phase in options.phases:
    label, _, actions = phase.partition(":")
    begin = time.perf_counter()
    if not options.hammer:
        torch.cuda.synchronize()
    result = library.window_do(actions.replace("again", "").encode())
    took = (time.perf_counter() - begin) * 1e3
    active = "finalize" not in actions and "arm" not in actions
    if active and "+" in actions:
        counts()
    show("%s (%d, %.1f ms)" % (label, result, took), active)
print("  end", flush=True)
os._exit(0)
