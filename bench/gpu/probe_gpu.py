#!/usr/bin/env python3
"""probe_gpu.py [BUILD [PART]]: `batchlight probe gpu` and `probe loader` where there are GPUs: a line for each check.

PART: gpus (a minute: figures, stored results that differ, a GPU that is busy; with two GPUs or more links and NCCL) or
loaders (four minutes); without it both. Needs nothing but a build (default build/dev) and a python3 with a PyTorch that
has CUDA on PATH. Exit status 1 if a check failed."""
import copy
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


# Fills the GPU with products until it is ended.
BURN = """
import torch
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
for number in range(10 ** 9):
    a @ a
    if number % 20 == 0: torch.cuda.synchronize()
    if number == 20: print("burning", flush=True)
"""
failed = []


def run(*words, **options):
    begin = time.time()
    done = subprocess.run([BATCHLIGHT, "probe"] + list(words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, env=ENVIRONMENT, timeout=280, **options)
    return done.returncode, done.stdout, time.time() - begin


def check(what, ok, figure=""):
    print("%-4s %s %s" % ("ok" if ok else "BAD", what, figure), flush=True)
    if not ok:
        failed.append(what)


def store(folder, name, result):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        json.dump(result, file)
    return path


def comparisons(folder, result, stored):
    """Stored results of hosts, one of which was made slow."""
    output = run("gpu", stored, "--compare", stored)[1]
    check("nothing is slower than itself", "Nothing is slower than in the stored result" in output, output)
    slow = copy.deepcopy(result)
    slow["host"] = "slow"
    for key in ("memory_gbps", "gemm_bf16_tflops"):
        slow["gpus"][0]["measurements"][key] *= 0.9
    for link in slow["links"][:1]:
        link["gbps"] *= 0.5
    hosts = [store(folder, name + ".json", dict(result, host=name)) for name in ("a", "b", "c")]
    hosts.append(store(folder, "slow.json", slow))
    named = run("gpu", *hosts)[1].partition("Slower than their like\n")[2].splitlines()
    wanted = 2 + len(slow["links"][:1])
    check("the slow GPU and link of four hosts are named", sum("slow, " in line for line in named) == wanted
          and "slow, GPU 0: its memory, read and write" in "\n".join(named), named)
    then = run("gpu", hosts[-1], "--compare", stored)[1].partition("Slower than in the stored result\n")[2]
    check("what became slower is named", then.count("slow, ") == wanted, then)


def busy(folder, stored):
    """The same GPU while another program uses it."""
    burning = subprocess.Popen([sys.executable, "-c", BURN], stdout=subprocess.PIPE, env=ENVIRONMENT)
    try:
        burning.stdout.readline()
        slow = os.path.join(folder, "busy.json")
        code, output, seconds = run("gpu", "-f", "json", "-o", slow)
    finally:
        burning.kill()
        burning.wait()
    check("a GPU that is busy is measured", code == 0, "%.0f s %s" % (seconds, output[-500:]))
    then = run("gpu", slow, "--compare", stored)[1].partition("Slower than in the stored result\n")[2]
    check("and is named as slower", "GPU 0: product of matrices" in then, then)


def links(result):
    """NCCL and copies between the GPUs of the host."""
    count = len(result["gpus"])
    if count == 1:
        return print("     one GPU: no links, no NCCL")
    check("each link", len(result["links"]) == count * (count - 1) and all(row["gbps"] > 1 for row in result["links"]),
          result["links"])
    rates = [row["gbps"] for row in result["all_reduce"]]
    check("all-reduce of 1, 64 and 512 MiB, larger is faster", len(rates) == 3 and rates[0] < rates[2], rates)


def gpus(folder):
    stored = os.path.join(folder, "here.json")
    code, output, seconds = run("gpu", "-f", "json", "-o", stored)
    check("probe gpu ends", code == 0, "exit %d, %.0f s %s" % (code, seconds, output[-500:]))
    check("in two minutes", seconds < 120)
    with open(stored) as file:
        result = json.load(file)
    print(json.dumps(result), flush=True)
    print(run("gpu", stored)[1], flush=True)
    check("all was measured", not result["notes"], result["notes"])
    links(result)
    comparisons(folder, result, stored)
    busy(folder, stored)
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
    for words, wanted in ((["30", "2", "page"], ("decode", "transfer")),
                          (["0", "8", "page"], ("training", "copy", "decode", "transfer"))):
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
    wanted = sys.argv[2:] or ["gpus", "loaders"]
    with tempfile.TemporaryDirectory() as folder:
        for part in [part for part in (gpus, loaders) if part.__name__ in wanted]:
            try:
                part(folder)
            except Exception as error:
                check(part.__name__, False, repr(error))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
