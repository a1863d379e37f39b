#!/usr/bin/env python3
"""Unified memory that GPU and CPU touch in turn, for page faults and migrations (check_waiting.py).

    page_faults.py [ROUNDS]      prints `finished ROUNDS SUM`
"""
import ctypes
import sys

import torch

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
BYTES = 32 << 20
torch.zeros(1, device="cuda")  # loads CUDA's runtime
name = next(line.split()[-1] for line in open("/proc/self/maps") if "libcudart.so" in line)
cudart = ctypes.CDLL(name)
pointer = ctypes.c_void_p()
error = cudart.cudaMallocManaged(ctypes.byref(pointer), ctypes.c_size_t(BYTES), 1)
if error != 0:
    sys.exit(f"cudaMallocManaged: error {error}")


class Managed:
    """The memory as PyTorch takes it."""
    __cuda_array_interface__ = {"shape": (BYTES // 4,), "typestr": "<f4", "strides": None, "version": 2,
                                "data": (pointer.value, False)}


on_cpu = (ctypes.c_float * (BYTES // 4)).from_address(pointer.value)
ctypes.memset(pointer, 0, BYTES)
on_gpu = torch.as_tensor(Managed(), device="cuda")
for _ in range(rounds):
    with torch.cuda.nvtx.range("step"):
        on_gpu.add_(1.0)  # the GPU faults
        torch.cuda.synchronize()
        total = sum(on_cpu[i] for i in range(0, BYTES // 4, 1024))  # the CPU does
print("finished", rounds, total, flush=True)
