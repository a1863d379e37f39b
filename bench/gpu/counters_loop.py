#!/usr/bin/env python3
"""A training loop for check_counters.py: work whose counts are known, then a model.

    counters_loop.py KIND:SECONDS...

gemm: ten products of 4096 x 4096 in bf16 a step, 1.374e12 operations. copy: 1 GiB read and written.
train: a Transformer encoder of six layers in bf16. Prints a line of JSON: [kind, ms] of each step.
"""
import json
import sys
import time

import torch

device = torch.device("cuda")
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.zeros(16, device=device))
small = torch.optim.SGD([weight], lr=0.1)
a, b = (torch.randn(4096, 4096, device=device, dtype=torch.bfloat16) for _ in range(2))
source = torch.zeros(1 << 28, device=device)
target = torch.empty_like(source)
layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 6).to(device, torch.bfloat16)
large = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
data = torch.randn(16, 256, 1024, device=device, dtype=torch.bfloat16)


def gemm():
    for _ in range(10):
        torch.mm(a, b)
    weight.grad = torch.ones_like(weight)
    small.step()


def copy():
    target.copy_(source)
    weight.grad = torch.ones_like(weight)
    small.step()


def train():
    large.zero_grad()
    model(data).float().pow(2).mean().backward()
    large.step()


steps = []
for word in sys.argv[1:]:
    kind, seconds = word.split(":")
    torch.cuda.synchronize()
    end = time.perf_counter() + float(seconds)
    while (begin := time.perf_counter()) < end:
        globals()[kind]()
        torch.cuda.synchronize()
        steps.append((kind, round((time.perf_counter() - begin) * 1e3, 2)))
print(json.dumps(steps))
