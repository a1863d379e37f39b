"""A loop that launches exactly the same GPU work in every run: to compare two profilers.

Kernels of many names, copies of every direction from pageable and pinned memory, sets, NVTX ranges,
a replayed CUDA graph, and kernels of known length: `torch.cuda._sleep` spins for so many cycles,
and CUDA events around it measure it independently. Prints one line: EXPECTED {json}.
"""
import json

import torch

STEPS, SPINS = 20, 10
torch.manual_seed(0)
torch.backends.cudnn.benchmark = False
device = torch.device("cuda")
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.LayerNorm(512),
                            torch.nn.Linear(512, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)
pageable = torch.randn(64, 256)
pinned = torch.randint(0, 10, (64,)).pin_memory()


def step():
    with torch.cuda.nvtx.range("step"):
        with torch.cuda.nvtx.range("copy"):
            x = pageable.to(device)
            y = pinned.to(device, non_blocking=True)
        with torch.cuda.nvtx.range("forward"):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        with torch.cuda.nvtx.range("backward"):
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
        with torch.cuda.nvtx.range("optimizer"):
            optimizer.step()
        with torch.cuda.nvtx.range("read"):
            return loss.item()


for _ in range(3):
    step()
torch.cuda.synchronize()
for _ in range(STEPS):
    step()

buffer = torch.empty(1 << 20, dtype=torch.uint8, device=device)
with torch.cuda.nvtx.range("sets"):
    for _ in range(STEPS):
        buffer.zero_()
    clone = buffer.clone()
torch.cuda.synchronize()

graph = torch.cuda.CUDAGraph()
static = torch.ones(1024, device=device)
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    static.mul_(1.0)
torch.cuda.synchronize()
with torch.cuda.graph(graph):
    for _ in range(8):
        static.add_(1.0)
with torch.cuda.nvtx.range("graph"):
    for _ in range(STEPS):
        graph.replay()
torch.cuda.synchronize()

spins = []
torch.cuda._sleep(1000)
with torch.cuda.nvtx.range("spins"):
    for i in range(SPINS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        torch.cuda._sleep(2_000_000)  # so that what follows is queued when it begins
        begin.record()
        torch.cuda._sleep(200_000 * (i + 1))
        end.record()
        torch.cuda.synchronize()
        spins.append(begin.elapsed_time(end) * 1e3)
print("EXPECTED " + json.dumps({"spin_cycles": [200_000 * (i + 1) for i in range(SPINS)],
                                "spin_event_us": spins, "steps": STEPS}), flush=True)
