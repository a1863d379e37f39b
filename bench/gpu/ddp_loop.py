"""A DDP loop of fixed seed on every GPU (torchrun starts the ranks). Rank 0 prints a line: {"loss", "median_ms"}."""
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as distributed
from torch import nn

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 90
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
distributed.init_process_group("nccl")
torch.manual_seed(distributed.get_rank())
torch.use_deterministic_algorithms(True)
model = nn.Sequential(*[part for _ in range(6) for part in (nn.Linear(2048, 2048), nn.GELU())]).cuda()
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
rows = torch.randn(1024, 2048, device="cuda")
times = []
for _ in range(STEPS):
    begin = time.perf_counter()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = (model(rows) - rows).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    value = loss.item()
    times.append(1e3 * (time.perf_counter() - begin))
if distributed.get_rank() == 0:
    print(json.dumps({"loss": value, "median_ms": round(statistics.median(times[10:]), 3)}), flush=True)
torch.cuda.synchronize()
distributed.destroy_process_group()
