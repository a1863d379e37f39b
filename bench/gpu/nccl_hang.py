#!/usr/bin/env python3
"""Two ranks, of which the second leaves the first alone in an all-reduce: NCCL's watchdog ends it after
eight seconds (check_waiting.py; torchrun starts it)."""
import datetime
import os
import time

import torch
import torch.distributed as distributed

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
distributed.init_process_group("nccl", timeout=datetime.timedelta(seconds=8))
x = torch.ones(1 << 20, device="cuda")
for _ in range(5):
    with torch.cuda.nvtx.range("step"):
        x.mul_(0.5)
        distributed.all_reduce(x)
torch.cuda.synchronize()
print("rank", distributed.get_rank(), "did five steps", flush=True)
if distributed.get_rank() == 0:
    distributed.all_reduce(x)
    torch.cuda.synchronize()
else:
    time.sleep(90)
