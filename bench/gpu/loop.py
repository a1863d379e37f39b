#!/usr/bin/env python3
"""A training loop of a well-known model whose settings can be made good or bad, one by one.

Prints one line: RESULT {"step_ms": median, "steps": N, "flops_per_step": ..., ...}. Used by
check_analysis.py; runs alone too.
"""
import argparse
import json
import statistics
import time

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=["transformer", "resnet50", "lstm", "mlp"], default="transformer")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--warm", type=int, default=10)
parser.add_argument("--batch", type=int, default=0)
parser.add_argument("--amp", action="store_true")
parser.add_argument("--tf32", action="store_true")
parser.add_argument("--fused", action="store_true", help="fused optimizer")
parser.add_argument("--foreach-off", action="store_true")
parser.add_argument("--pinned", action="store_true")
parser.add_argument("--sync", type=int, default=0, help="read the loss N times a step")
parser.add_argument("--slow-data-ms", type=float, default=0)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--compile", action="store_true")
parser.add_argument("--graph", action="store_true", help="torch.compile(mode='reduce-overhead')")
parser.add_argument("--channels-last", action="store_true")
parser.add_argument("--flops", action="store_true", help="count FLOPs of one step with torch")
parser.add_argument("--emit-nvtx", action="store_true",
                    help="operators as NVTX ranges, where PyTorch has no C++ headers")
parser.add_argument("--torch-profiler", metavar="JSON", help="operator GPU times of 5 steps")
options = parser.parse_args()
device = torch.device("cuda")
torch.manual_seed(0)
torch.set_float32_matmul_precision("high" if options.tf32 else "highest")
torch.backends.cudnn.allow_tf32 = options.tf32


class Samples(torch.utils.data.Dataset):
    def __init__(self, make):
        self.make = make

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        if options.slow_data_ms:
            time.sleep(options.slow_data_ms / 1e3)
        return self.make(index)


def transformer():
    d, layers, batch, length = 512, 6, options.batch or 32, 256
    layer = nn.TransformerEncoderLayer(d, 8, 4 * d, batch_first=True, dropout=0.0)
    model = nn.Sequential(nn.Embedding(1000, d),
                          nn.TransformerEncoder(layer, layers, enable_nested_tensor=False),
                          nn.Linear(d, 1000))
    x = torch.randint(0, 1000, (batch, length))
    return model, (x, x.clone()), lambda out, y: nn.functional.cross_entropy(out.view(-1, 1000), y.view(-1))


def resnet50():
    import torchvision
    batch = options.batch or 64
    return (torchvision.models.resnet50(), (torch.randn(batch, 3, 224, 224), torch.randint(0, 1000, (batch,))),
            nn.functional.cross_entropy)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, 512)
        self.lstm = nn.LSTM(512, 512, 2, batch_first=True)
        self.head = nn.Linear(512, 1000)

    def forward(self, x):
        return self.head(self.lstm(self.embedding(x))[0])


def lstm():
    x = torch.randint(0, 1000, (options.batch or 64, 128))
    return Lstm(), (x, x.clone()), lambda out, y: nn.functional.cross_entropy(out.view(-1, 1000), y.view(-1))


def mlp():
    sizes = [4096] * 9
    model = nn.Sequential(*[m for a, b in zip(sizes, sizes[1:]) for m in (nn.Linear(a, b), nn.GELU())])
    batch = options.batch or 4096
    return model, (torch.randn(batch, 4096), torch.randn(batch, 4096)), nn.functional.mse_loss


model, (sample_x, sample_y), loss_function = globals()[options.model]()
model = model.to(device)
if options.channels_last:
    model = model.to(memory_format=torch.channels_last)
optimizer_options = {"fused": True} if options.fused else {"foreach": False} if options.foreach_off else {}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **optimizer_options)
if options.compile or options.graph:
    model = torch.compile(model, mode="reduce-overhead" if options.graph else None)
loader = iter(torch.utils.data.DataLoader(
    Samples(lambda index: (sample_x, sample_y)), batch_size=None, num_workers=options.workers,
    pin_memory=options.pinned))


def step():
    with torch.cuda.nvtx.range("step"):
        x, y = next(loader)
        x, y = x.to(device, non_blocking=options.pinned), y.to(device, non_blocking=options.pinned)
        if options.channels_last:
            x = x.to(memory_format=torch.channels_last)
        with torch.autocast("cuda", torch.bfloat16, enabled=options.amp):
            loss = loss_function(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        for _ in range(options.sync):
            float((loss * 1.0).item())
    return loss


if options.emit_nvtx:
    torch.autograd.profiler.emit_nvtx(record_shapes=True).__enter__()
for _ in range(options.warm):
    step()
torch.cuda.synchronize()
result = {}
if options.flops:
    from torch.utils.flop_counter import FlopCounterMode
    with FlopCounterMode(display=False) as counter:
        step()
    result["flops_per_step"] = counter.get_total_flops()
    torch.cuda.synchronize()
times = []
begin = time.perf_counter()
for _ in range(options.steps):
    start = time.perf_counter()
    step()
    times.append(time.perf_counter() - start)
torch.cuda.synchronize()
result.update(steps=options.steps, mean_ms=(time.perf_counter() - begin) * 1e3 / options.steps,
              step_ms=statistics.median(times) * 1e3)
if options.torch_profiler:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                            torch.profiler.ProfilerActivity.CUDA]) as recorded:
        for _ in range(5):
            step()
        torch.cuda.synchronize()
    json.dump({row.key: [row.count / 5, row.self_device_time_total / 5, row.device_time_total / 5]
               for row in recorded.key_averages()}, open(options.torch_profiler, "w"))
print("RESULT " + json.dumps(result), flush=True)
