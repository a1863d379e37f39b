#!/usr/bin/env python3
"""A training loop for check_stalls.py and check_kernels.py.

    stalls_loop.py KIND:SECONDS...

train: a Transformer encoder of six layers in bf16, 312 kernels a step. triton: a kernel of our own that waits for
memory, ten times a step. graph: a step that replays a CUDA graph, which is captured anew in every twentieth step.
cold: the same, but the first work of the process is that capture. compiled: torch.compile with CUDA graphs; the
batch changes once, so that it compiles and captures again. inplace: kernels that write what they read, whose second
run would find what the first one left. Prints a line of JSON: [kind, ms] of each step, and then
what was worked out, which no recorder may change.
"""
import json
import os
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # products are the same in each run
import torch  # noqa: E402

device = torch.device("cuda")
torch.manual_seed(0)
weight = torch.nn.Parameter(torch.zeros(16, device=device))
small = torch.optim.SGD([weight], lr=0.1)
worked_out = {}


def own_step():
    weight.grad = torch.ones_like(weight)
    small.step()


def make_train():
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 6).to(device, torch.bfloat16)
    large = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    data = torch.randn(16, 256, 1024, device=device, dtype=torch.bfloat16)

    def train(_):
        large.zero_grad()
        model(data).float().pow(2).mean().backward()
        large.step()
    return train


def make_triton():
    from triton_kernel import gather
    index = torch.randint(0, 1 << 26, (1 << 22,), device=device)
    table = torch.randn(1 << 26, device=device)
    out = torch.empty(1 << 22, device=device)

    def triton_step(_):
        for _ in range(10):
            gather[(index.numel() // 1024,)](table, index, out, BLOCK=1024)
        own_step()
    return triton_step


def make_graph(warm=True):
    x = torch.randn(2048, 2048, device=device)
    out = torch.empty_like(x)

    def work():
        y = x
        for _ in range(20):
            y = torch.relu(y @ x) * 0.01
        out.copy_(y)

    def captured():
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        return graph
    if warm:  # as PyTorch's documentation has it
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            work()
        torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graphs = [captured()]

    def step(number):
        if number % 20 == 19:
            graphs[:] = [captured()]
            worked_out["captures"] = worked_out.get("captures", 1) + 1
        graphs[0].replay()
        own_step()
        if number == 100:
            worked_out["graph"] = out.double().sum().item()
    return step


def make_cold():
    return make_graph(warm=False)


def make_compiled():
    model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).to(device)
    compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)
    large = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = [torch.randn(rows, 1024, device=device) for rows in (512, 768)]

    def step(number):
        large.zero_grad()
        loss = compiled(batches[number > 60]).pow(2).mean()
        loss.backward()
        large.step()
        if number == 100:
            worked_out["loss"] = round(loss.item(), 6)
    return step


def make_inplace():
    model = torch.nn.Sequential(torch.nn.Linear(1024, 2048), torch.nn.ReLU(inplace=True), torch.nn.Linear(2048, 1024))
    model = model.to(device, torch.bfloat16)
    large = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, foreach=False)
    data = torch.randn(512, 1024, device=device, dtype=torch.bfloat16)

    def step(number):
        large.zero_grad()
        loss = (model(data) - data).float().pow(2).mean()
        loss.backward()
        large.step()
        if number == 100:
            worked_out["loss"] = loss.item()
            worked_out["weights"] = sum(p.double().sum().item() for p in model.parameters())
    return step


steps = []
for word in sys.argv[1:]:
    kind, seconds = word.split(":")
    step = globals()["make_" + kind]()
    torch.cuda.synchronize()
    end, number = time.perf_counter() + float(seconds), 0
    # What is compared belongs to step 100: no run ends before it.
    while (begin := time.perf_counter()) < end or number <= 100:
        step(number)
        torch.cuda.synchronize()
        steps.append((kind, round((time.perf_counter() - begin) * 1e3, 2)))
        number += 1
print(json.dumps(steps))
print(json.dumps(worked_out))
