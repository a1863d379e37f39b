#!/usr/bin/env python3
"""Two kernels on each of thousands of streams (check_waiting.py).

    many_streams.py STREAMS      prints `finished STREAMS`
"""
import ctypes
import sys

import torch

count = int(sys.argv[1])
x = torch.zeros(count, 64, device="cuda")
torch.cuda.synchronize()
name = next(line.split()[-1] for line in open("/proc/self/maps") if "libcudart.so" in line)
cudart = ctypes.CDLL(name)
streams = []
for _ in range(count):
    stream = ctypes.c_void_p()
    if cudart.cudaStreamCreateWithFlags(ctypes.byref(stream), 1) != 0:
        break
    streams.append(torch.cuda.ExternalStream(stream.value))
for _ in range(2):
    for row, stream in zip(x, streams):
        with torch.cuda.stream(stream):
            row.add_(1.0)
torch.cuda.synchronize()
print("finished", len(streams), flush=True)
