#!/usr/bin/env python3
"""Launches 601 kernels and ends in the way that its argument names (check.py).

The burst of 100 before the end is launched when a flush is past: a program that is killed loses
those at most. Prints `launched N` before the end.
"""
import ctypes
import os
import signal
import sys
import time

import torch

how = sys.argv[1]
x = torch.ones(1024, device="cuda")  # the first kernel
for _ in range(500):
    x.add_(1.0)
torch.cuda.synchronize()
time.sleep(1.5)
for _ in range(100):
    x.add_(1.0)
torch.cuda.synchronize()
print("launched 601", flush=True)

if how == "os_exit":
    os._exit(7)
elif how == "reset":
    name = next(line.split()[-1] for line in open("/proc/self/maps") if "libcudart.so" in line)
    ctypes.CDLL(name).cudaDeviceReset()
    os._exit(0)
elif how == "exception":
    raise IndexError("as asked for")
elif how == "out_of_memory":
    torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
elif how == "fork":
    child = os.fork()
    if child == 0:
        sys.exit(0)
    os.waitpid(child, 0)
elif how == "kill":
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)
elif how == "assert":
    torch.ones(4, device="cuda")[torch.tensor([9], device="cuda")]
    torch.cuda.synchronize()
