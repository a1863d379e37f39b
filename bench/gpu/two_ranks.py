#!/usr/bin/env python3
"""Ten all-reduces between the ranks that torchrun starts, each with a kernel before it (check.py)."""
import os

import torch
import torch.distributed as distributed

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
distributed.init_process_group("nccl")
x = torch.ones(1 << 20, device="cuda")
for _ in range(10):
    with torch.cuda.nvtx.range("step"):
        x.mul_(0.5)
        distributed.all_reduce(x)
torch.cuda.synchronize()
distributed.destroy_process_group()
