#!/usr/bin/env python3
"""A loop of five kernels for check_kernels.py: copy, reduction, matrix product, attention, convolution.

    kernels_loop.py [STEPS]

The last step lies between cudaProfilerStart and Stop, for `ncu --profile-from-start off`. Prints a line of
JSON: ms of each step, and the floating-point operations of one as torch.utils.flop_counter has them.
"""
import json
import sys
import time

import torch
from torch.utils.flop_counter import FlopCounterMode

torch.manual_seed(0)
device = torch.device("cuda")
half = dict(device=device, dtype=torch.bfloat16)
a, b = torch.randn(4096, 4096, **half), torch.randn(4096, 4096, **half)
source = torch.randn(1 << 26, device=device)
target = torch.empty_like(source)
query, key, value = (torch.randn(8, 16, 2048, 64, **half) for _ in range(3))
image = torch.randn(64, 256, 56, 56, **half).to(memory_format=torch.channels_last)
filters = torch.randn(256, 256, 3, 3, **half).to(memory_format=torch.channels_last)
weight = torch.nn.Parameter(torch.zeros(16, device=device))
optimizer = torch.optim.SGD([weight], lr=0.1)


def work():
    torch.add(source, 1, out=target)
    source.sum()
    torch.mm(a, b)
    torch.nn.functional.scaled_dot_product_attention(query, key, value)
    torch.nn.functional.conv2d(image, filters, padding=1)


def step():
    work()
    weight.grad = torch.ones_like(weight)
    optimizer.step()
    torch.cuda.synchronize()


count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
with torch.no_grad(), FlopCounterMode(display=False) as counter:
    work()
milliseconds = []
with torch.no_grad():
    for i in range(count):
        if i == count - 1:
            torch.cuda.cudart().cudaProfilerStart()
        begin = time.perf_counter()
        step()
        milliseconds.append(round((time.perf_counter() - begin) * 1e3, 3))
    torch.cuda.cudart().cudaProfilerStop()
print(json.dumps({"ms": milliseconds, "flops": counter.get_total_flops()}))
