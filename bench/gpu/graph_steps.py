#!/usr/bin/env python3
"""Steps that replay CUDA graphs, old and new ones, for recordings of windows (check.py).

    graph_steps.py STEPS [profiler]

A step is an NVTX range. Each capture has a second stream that joins it and is joined again, every
seventh step makes another graph, and streams are waited for in between. With `profiler` steps 10 to
13 and 20 to 23 lie between cudaProfilerStart and Stop. Prints `finished STEPS SUM`, the same in every
run.
"""
import sys

import torch

steps = int(sys.argv[1])
x = torch.full((64, 64), 0.125, device="cuda")
side, other = torch.cuda.Stream(), torch.cuda.Stream()
graphs = []


def capture():
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = torch.relu(x @ x)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            z = x + 1.0
        torch.cuda.current_stream().wait_stream(side)
        y = y + z
    graphs.append((graph, y))


(x @ x).sum().item()  # cuBLAS makes its handles outside of captures
profiler = torch.cuda.cudart() if "profiler" in sys.argv else None
total = 0.0
for step in range(1, steps + 1):
    if profiler is not None and step in (10, 20):
        profiler.cudaProfilerStart()
    with torch.cuda.nvtx.range("step"):
        if step % 7 == 1:
            torch.cuda.synchronize()
            capture()
        for graph, _ in graphs:
            graph.replay()
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            part = sum(y.sum() for _, y in graphs)
        other.synchronize()
        total += part.item()
    if profiler is not None and step in (13, 23):
        profiler.cudaProfilerStop()
torch.cuda.synchronize()
print("finished", steps, total, flush=True)
