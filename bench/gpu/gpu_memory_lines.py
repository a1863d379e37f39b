#!/usr/bin/env python3
"""GPU memory by line on a real GPU: gpu_memory_lines.py [BATCHLIGHT]

Trains a model whose lines have known sizes, with PyTorch's own memory history beside, and compares:
blocks and bytes of all lines together equal PyTorch's trace to the last one; the peak is PyTorch's; lines of
known size have it; the snapshot opens in PyTorch's memory_viz. Then what the recorder adds to an allocation."""
import json
import os
import pickle
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BATCHLIGHT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "release", "bin", "batchlight")
FLAGS = ["--cuda-memory-usage=true", "--python-lines=gpu"]

PROGRAM = """\
import json, os, sys
import torch

MB = 1 << 20
torch.cuda.init()
torch.cuda.memory._record_memory_history(max_entries=1000000, stacks="python")

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2048, 4096)
        self.second = torch.nn.Linear(4096, 2048)
    def forward(self, x):
        h = self.first(x)                                    # 32 MB kept, gradients in backward
        h = torch.relu(h)                                    # 32 MB
        return self.second(h)

net = Net().cuda()
optimizer = torch.optim.Adam(net.parameters())
held = []
for step in range(8):
    x = torch.zeros(2048, 2048, device="cuda")               # 16 MB
    held.append(torch.empty(4 * MB, dtype=torch.uint8, device="cuda"))  # 4 MB kept a step
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.synchronize()
snapshot = torch.cuda.memory._snapshot()
entries = snapshot["device_traces"][0]
stats = torch.cuda.memory_stats()
print(json.dumps({
    "allocations": sum(entry["action"] == "alloc" for entry in entries),
    "bytes": sum(entry["size"] for entry in entries if entry["action"] == "alloc"),
    "frees": sum(entry["action"] == "free_completed" for entry in entries),
    "peak": stats["requested_bytes.all.peak"]}), flush=True)
os._exit(0)  # what is held stays held
"""
LOOP = """\
import time
import torch
torch.empty(1, device="cuda")
best = 1e9
for _ in range(20):
    begin = time.perf_counter()
    for _ in range(2000):
        torch.empty(1024, device="cuda")
    best = min(best, time.perf_counter() - begin)
print("%.3f" % (best / 2000 * 1e6))
"""


def run(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)
    if done.returncode:
        sys.exit("%s\n%s\n%s" % (" ".join(map(str, words)), done.stdout, done.stderr))
    return done.stdout


def check(what, ours, theirs, within=0.0):
    """`within`: how far they may be apart; bytes are rounded to thousandths of a megabyte."""
    good = abs(ours - theirs) <= within
    print("%-6s %-44s ours %16.0f  PyTorch %16.0f" % ("ok" if good else "WRONG", what, ours, theirs))
    return good


UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def figure(column, value):
    """The column without its unit, and the value in bytes if it is of memory."""
    name, _, unit = column.rstrip(")").partition(" (")
    return name, round(value * UNITS[unit]) if unit in UNITS and value is not None else value


def number(text):
    return [line for line in text.splitlines() if line.replace(".", "").isdigit()][0]


def main():
    folder = tempfile.mkdtemp(prefix="bl_gpu_memory_")
    program, recording = os.path.join(folder, "program.py"), os.path.join(folder, "run.batchlight")
    with open(program, "w") as file:
        file.write(PROGRAM)
    printed = run(BATCHLIGHT, "profile", *FLAGS, "-f", "true", "-o", recording, sys.executable, program)
    theirs = json.loads([line for line in printed.splitlines() if line.startswith("{")][0])
    rows = [dict(figure(*cell) for cell in row.items())
            for row in json.loads(run(BATCHLIGHT, "table", "memory_lines", "-f", "json", recording))]
    print(run(BATCHLIGHT, "table", "memory_lines", "--rows", "12", recording))

    def total(column):
        return sum(row[column] for row in rows)

    def of_line(text):
        found = [row for row in rows if text in (row["Source"] or "") and row["What"] == "line"]
        return found[0] if found else dict.fromkeys(rows[0], 0)

    rounded = 500 * len(rows)
    good = [check("allocations", total("GPU Allocations"), theirs["allocations"]),
            check("bytes", total("GPU Allocated"), theirs["bytes"], rounded),
            check("peak", total("GPU At Peak"), theirs["peak"], rounded),
            check("torch.zeros: 8 x 16 MB", of_line("torch.zeros")["GPU Allocated"], 8 * 16 << 20, 500),
            check("held: 8 x 4 MB at the end", of_line("held.append")["GPU At End"], 8 * 4 << 20, 500),
            check("relu forward: 8 x 32 MB", of_line("torch.relu")["GPU Allocated"]
                  - of_line("torch.relu")["GPU Backward"], 8 * 32 << 20, 1000)]
    unknown = sum(row["GPU Allocated"] for row in rows if row["What"] == "no line known")
    print("on a line or a named row: %.2f %%" % (100 - 100 * unknown / max(1, total("GPU Allocated"))))

    snapshot = os.path.join(folder, "run.pickle")
    run(BATCHLIGHT, "export", "-f", "true", "-t", "memory-snapshot", "-o", snapshot, recording)
    with open(snapshot, "rb") as file:
        data = pickle.load(file)
    import torch.cuda._memory_viz as viz
    print(viz.segsum(data))
    page = viz.trace_plot(data)
    print("memory_viz: %d segments, %d entries, page of %d bytes" % (
        len(data["segments"]), len(data["device_traces"][0]), len(page)))

    with open(program, "w") as file:
        file.write(LOOP)
    plain, recorded, operators = [], [], []
    for _ in range(3):
        plain.append(float(number(run(sys.executable, program))))
        operators.append(float(number(run(BATCHLIGHT, "profile", FLAGS[1], "-f", "true", "-o", recording,
                                          sys.executable, program))))
        recorded.append(float(number(run(BATCHLIGHT, "profile", *FLAGS, "-f", "true", "-o", recording,
                                         sys.executable, program))))
    print("torch.empty on the GPU, us, best of three: plain %.2f, operators and lines %.2f, with memory %.2f: "
          "%.2f us for an allocation and its free" % (
              min(plain), min(operators), min(recorded), min(recorded) - min(operators)))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
