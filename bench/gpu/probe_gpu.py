#!/usr/bin/env python3
"""probe_gpu.py [BUILD]: `batchlight probe gpu` and `probe loader` where there are GPUs: a line for each check.

Needs nothing but a build (default build/dev) and a python3 with a PyTorch that has CUDA on PATH."""
import json
import os
import subprocess
import sys
import tempfile
import time

BATCHLIGHT = os.path.join(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/dev"), "bin", "batchlight")
ENVIRONMENT = dict(os.environ, PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])

LOOP = """
import sys, time, torch
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):  # decoding is arithmetic on a processor
    def __len__(self): return 100000
    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        x = torch.rand(3, 224, 224, generator=g)
        for _ in range(int(sys.argv[1])): x = (x * 1.01).clamp(0, 1)
        return x, i % 10

def main():
    loader = DataLoader(Images(), batch_size=64, num_workers=int(sys.argv[2]), pin_memory=sys.argv[3] == "pin")
    model = torch.nn.Sequential(*[torch.nn.Conv2d(3 if i == 0 else 64, 64, 3, 2) for i in range(4)],
                                torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    while True:
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
            optimizer.zero_grad(); loss.backward(); optimizer.step()
main()
"""


def run(*words, **options):
    begin = time.time()
    done = subprocess.run([BATCHLIGHT, "probe"] + list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, env=ENVIRONMENT, timeout=280, **options)
    return done.returncode, done.stdout, time.time() - begin


def check(what, ok, figure=""):
    print("%-4s %s %s" % ("ok" if ok else "BAD", what, figure), flush=True)


def gpus(folder):
    stored = os.path.join(folder, "here.json")
    code, output, seconds = run("gpu", "-f", "json", "-o", stored)
    check("probe gpu ends", code == 0, "exit %d, %.0f s %s" % (code, seconds, output[-500:]))
    check("in two minutes", seconds < 120)
    with open(stored) as file:
        result = json.load(file)
    print(json.dumps(result), flush=True)
    print(run("gpu", stored, "--compare", stored)[1], flush=True)
    figures = result["gpus"][0]["measurements"]
    check("pinned is faster than pageable", figures["h2d_pinned_gbps"] > figures["h2d_pageable_gbps"])
    import torch
    n = 8192
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in range(10):
        a @ b
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(50):
        a @ b
    torch.cuda.synchronize()
    again = 50 * 2 * n ** 3 / 1e12 / (time.perf_counter() - begin)
    check("BF16 product, measured another way", 0.85 < figures["gemm_bf16_tflops"] / again < 1.15,
          "%.0f, %.0f TFLOPS" % (figures["gemm_bf16_tflops"], again))


def loaders(folder):
    path = os.path.join(folder, "loop.py")
    with open(path, "w") as file:
        file.write(LOOP)
    for words, wanted in ((["30", "2", "page"], ("decode", "transfer")), (["0", "8", "page"], ("training", "copy", "decode", "transfer"))):
        code, output, seconds = run("loader", "--seconds", "4", "--steps", "60", "--workers", "2,8,16",
                                    "-f", "json", path, *words)
        try:
            report = json.loads(output)
        except ValueError:
            check("probe loader %s" % words, False, output[-1500:])
            continue
        print(json.dumps(report), flush=True)
        check("probe loader %s: limit" % words, report["limit"] in wanted, "%s: %s; %.0f s" % (
            report["limit"], report["why"], seconds))
        check("probe loader %s: prediction" % words, True, str(report["best"]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in (gpus, loaders):
            try:
                part(folder)
            except Exception as error:
                check(part.__name__, False, repr(error))


if __name__ == "__main__":
    main()
