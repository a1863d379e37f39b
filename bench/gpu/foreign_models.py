#!/usr/bin/env python3
"""Training loops of models from timm and transformers, as their users write them.

Every setting is the first-written one unless a flag changes it. Prints RESULT {json}; `--also
"FLAGS"` runs the same loop again with other flags, in the same process, and prints another.
"""
import argparse
import gc
import json
import statistics
import time

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True,
                    help="gpt2, bert, llama, opt (transformers), lstm (torch.nn), or a model of timm for images")
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--warm", type=int, default=6)
parser.add_argument("--batch", type=int, default=0)
parser.add_argument("--vocabulary", type=int, default=50257, help="of gpt2, llama and opt")
parser.add_argument("--amp", action="store_true")
parser.add_argument("--tf32", action="store_true")
parser.add_argument("--fused", action="store_true")
parser.add_argument("--foreach-off", action="store_true")
parser.add_argument("--pinned", action="store_true")
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--prefetch", action="store_true", help="copy the next batch while this one computes")
parser.add_argument("--resident", action="store_true", help="batches are on the GPU already")
parser.add_argument("--sync", action="store_true", help="loss.item() in every step")
parser.add_argument("--benchmark", action="store_true", help="cudnn.benchmark")
parser.add_argument("--compile", action="store_true")
parser.add_argument("--graph", action="store_true")
parser.add_argument("--full-graph", action="store_true", help="the whole step as one CUDA graph")
parser.add_argument("--channels-last", action="store_true")
parser.add_argument("--flops", action="store_true")
parser.add_argument("--emit-nvtx", action="store_true")
parser.add_argument("--torch-profiler", metavar="JSON")
parser.add_argument("--kineto", metavar="TRACE")
parser.add_argument("--window", action="store_true", help="cudaProfilerStart after the warm-up")
parser.add_argument("--also", action="append", default=[], metavar="FLAGS")
device = torch.device("cuda")
BATCH = {"gpt2": 8, "bert": 16, "llama": 8, "opt": 8, "lstm": 64}  # of others 64
LENGTH = {"gpt2": 512, "bert": 128, "llama": 512, "opt": 512, "lstm": 128}  # others take images


class Images(torch.utils.data.Dataset):
    def __init__(self, batch):
        self.batch = batch
        self.images = torch.randn(64, 3, 224, 224)

    def __len__(self):
        return self.batch * 1000

    def __getitem__(self, index):
        return self.images[index % 64], index % 1000


class Tokens(torch.utils.data.Dataset):
    def __init__(self, batch, length):
        self.batch, self.length = batch, length

    def __len__(self):
        return self.batch * 1000

    def __getitem__(self, index):
        return torch.randint(0, 1000, (self.length,)), index % 2


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, 512)
        self.lstm = nn.LSTM(512, 512, 2, batch_first=True)
        self.head = nn.Linear(512, 1000)

    def forward(self, x):
        return self.head(self.lstm(self.embedding(x))[0])


def build(o, batch):
    tokens = Tokens(batch, LENGTH.get(o.model, 0))
    if o.model not in LENGTH:
        import timm
        return timm.create_model(o.model, pretrained=False), Images(batch)
    if o.model == "llama":
        from transformers import LlamaConfig, LlamaForCausalLM
        return LlamaForCausalLM(LlamaConfig(
            vocab_size=o.vocabulary, hidden_size=768, intermediate_size=2048, num_hidden_layers=12,
            num_attention_heads=12, use_cache=False)), tokens
    if o.model == "gpt2":
        from transformers import GPT2Config, GPT2LMHeadModel
        return GPT2LMHeadModel(GPT2Config(use_cache=False, vocab_size=o.vocabulary)), tokens
    if o.model == "opt":
        from transformers import OPTConfig, OPTForCausalLM
        return OPTForCausalLM(OPTConfig(use_cache=False, vocab_size=o.vocabulary)), tokens
    if o.model == "bert":
        from transformers import BertConfig, BertForSequenceClassification
        return BertForSequenceClassification(BertConfig()), tokens
    return Lstm(), tokens


class Loop:
    """A training loop with the settings of `o`; step() runs one step."""

    def __init__(self, o):
        self.o = o
        torch.manual_seed(0)
        torch.set_float32_matmul_precision("high" if o.tf32 else "highest")
        torch.backends.cudnn.allow_tf32 = o.tf32
        torch.backends.cudnn.benchmark = o.benchmark
        batch = o.batch or BATCH.get(o.model, 64)
        model, dataset = build(o, batch)
        model = model.to(device).train()
        if o.channels_last:
            model = model.to(memory_format=torch.channels_last)
        settings = {"fused": True} if o.fused else {"foreach": False} if o.foreach_off else {}
        if o.full_graph:
            settings["capturable"] = True
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **settings)
        mode = "reduce-overhead" if o.graph else None
        self.net = torch.compile(model, mode=mode) if o.compile or o.graph else model
        self.source = self.batches(torch.utils.data.DataLoader(
            dataset, batch, num_workers=o.workers, pin_memory=o.pinned, drop_last=True))
        self.graph = None
        if o.full_graph:
            self.capture()

    def on_device(self, batch):
        x, y = (t.to(device, non_blocking=self.o.pinned) for t in batch)
        if self.o.channels_last and x.dim() == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        return x, y

    def batches(self, loader):
        loader = iter(loader)
        if self.o.resident:
            batch = self.on_device(next(loader))
            while True:
                yield batch
        if not self.o.prefetch:
            for batch in loader:
                yield self.on_device(batch)
        stream = torch.cuda.Stream()

        def load():
            batch = next(loader)
            with torch.cuda.stream(stream):
                return self.on_device(batch)

        following = load()
        while True:
            torch.cuda.current_stream().wait_stream(stream)
            batch = following
            for t in batch:
                t.record_stream(torch.cuda.current_stream())
            following = load()
            yield batch

    def loss_of(self, x, y):
        with torch.autocast("cuda", torch.bfloat16, enabled=self.o.amp):
            if self.o.model in ("gpt2", "llama", "opt"):
                return self.net(input_ids=x, labels=x).loss
            if self.o.model == "bert":
                return self.net(input_ids=x, labels=y).loss
            if self.o.model == "lstm":
                return nn.functional.cross_entropy(self.net(x).flatten(0, 1), x.flatten())
            return nn.functional.cross_entropy(self.net(x), y)

    def train(self, x, y):
        loss = self.loss_of(x, y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss

    def capture(self):
        self.static = tuple(t.clone(memory_format=torch.preserve_format) for t in next(self.source))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.train(*self.static)
        torch.cuda.current_stream().wait_stream(side)
        self.optimizer.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.train(*self.static)

    def step(self):
        batch = next(self.source)
        if self.graph:
            for static, t in zip(self.static, batch):
                static.copy_(t, non_blocking=True)
            with torch.cuda.nvtx.range("step"):
                self.graph.replay()
            return
        loss = self.train(*batch)
        if self.o.sync:
            loss.item()


def measure(loop):
    o, result = loop.o, {}
    for _ in range(o.warm):
        loop.step()
    torch.cuda.synchronize()
    if o.flops:
        from torch.utils.flop_counter import FlopCounterMode
        with FlopCounterMode(display=False) as counter:
            loop.step()
        result["flops_per_step"] = counter.get_total_flops()
        torch.cuda.synchronize()
    if o.window:
        torch.cuda.profiler.start()
    times = []
    begin = time.perf_counter()
    for _ in range(o.steps):
        start = time.perf_counter()
        loop.step()
        times.append(time.perf_counter() - start)
    torch.cuda.synchronize()
    if o.window:
        torch.cuda.profiler.stop()
    result.update(steps=o.steps, mean_ms=(time.perf_counter() - begin) * 1e3 / o.steps,
                  step_ms=statistics.median(times) * 1e3)
    return result


def profile(loop):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, record_shapes=bool(loop.o.kineto)) as recorded:
        for _ in range(3):
            loop.step()
            recorded.step()
        torch.cuda.synchronize()
    if loop.o.torch_profiler:
        rows = {row.key: [row.count / 3, row.self_device_time_total / 3, row.device_time_total / 3]
                for row in recorded.key_averages()}
        with open(loop.o.torch_profiler, "w") as file:
            json.dump(rows, file)
    if loop.o.kineto:
        recorded.export_chrome_trace(loop.o.kineto)


def run(o):
    ranges = torch.autograd.profiler.emit_nvtx(enabled=o.emit_nvtx, record_shapes=True)
    with ranges:
        loop = Loop(o)
        result = measure(loop)
    if o.torch_profiler or o.kineto:
        profile(loop)
    print("RESULT " + json.dumps(result), flush=True)


first = parser.parse_args()
run(first)
for flags in first.also:
    gc.collect()
    torch.cuda.empty_cache()
    run(parser.parse_args(["--model", first.model, *flags.split()]))
