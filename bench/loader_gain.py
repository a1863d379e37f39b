#!/usr/bin/env python3
"""Does `dataloader-wait` promise what its change gains? On CPU, with /usr/bin/python3's PyTorch.

    BATCHLIGHT_BUILD=build/release bench/loader_gain.py [rounds]

Records a loop that reads each of a batch's four samples in some milliseconds in the training
process, and takes the estimate from the advice; runs the loop as it is and with two workers,
unrecorded. All three in turn, as other work on the machine shows in each; gained is the difference
of the medians over the rounds of the mean steps. Prints one line a reading time.
"""
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

LOOP = """
import json, sys, time
import torch, torch.nn as nn
from torch.utils.data import DataLoader, Dataset
workers, read_ms, steps = int(sys.argv[1]), float(sys.argv[2]), 60
torch.set_num_threads(1)
class Reads(Dataset):
    def __len__(self): return 4 * (steps + 10)
    def __getitem__(self, i):
        time.sleep(read_ms / 1000)
        return torch.randn(256), i % 10
model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
times, last = [], time.perf_counter()
for x, y in DataLoader(Reads(), 4, num_workers=workers):
    for _ in range(8):  # accumulated gradients: some work a step
        nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
    now = time.perf_counter()
    times.append(now - last)
    last = now
print(json.dumps(1e3 * sum(times[10:]) / len(times[10:])))
"""
PROGRAM = os.path.join(os.environ.get("BATCHLIGHT_BUILD", "build/release"), "bin", "batchlight")
PYTHON = "/usr/bin/python3"


def mean_step_ms(script, workers, read_ms):
    done = subprocess.run([PYTHON, script, str(workers), str(read_ms)], check=True, text=True,
                          capture_output=True)
    return json.loads(done.stdout)


def estimate_ms(script, folder, read_ms):
    recording = os.path.join(folder, "loader.batchlight")
    subprocess.run([PROGRAM, "profile", "-f", "true", "-o", recording, PYTHON, script, "0",
                    str(read_ms)], check=True, capture_output=True)
    table = subprocess.run([PROGRAM, "table", "advice", "-f", "csv", recording], check=True, text=True,
                           capture_output=True).stdout
    for row in csv.DictReader(table.splitlines()):
        if row["Rule"] == "dataloader-wait":
            return float(row["Gain per Step (ns)"]) / 1e6
    raise SystemExit("no dataloader-wait in the advice:\n" + table)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "loop.py")
        with open(script, "w") as file:
            file.write(LOOP)
        for read_ms in (2, 5, 10):
            estimates, slow, changed = [], [], []
            for _ in range(rounds):
                estimates.append(estimate_ms(script, folder, read_ms))
                slow.append(mean_step_ms(script, 0, read_ms))
                changed.append(mean_step_ms(script, 2, read_ms))
            promised = statistics.median(estimates)
            gained = statistics.median(slow) - statistics.median(changed)
            print(f"{read_ms} ms a sample: step {statistics.median(slow):.2f} ms, with 2 workers "
                  f"{statistics.median(changed):.2f} ms; estimate {promised:.2f} ms, gained "
                  f"{gained:.2f} ms: {promised / gained:.2f}", flush=True)


if __name__ == "__main__":
    main()
