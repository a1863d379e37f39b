#!/usr/bin/env python3
"""probe_loader_bench.py [ROUNDS [KIND...]]: does `batchlight probe loader` predict what its best setting gives?

KIND: loaders on CPU of images (JPEG), text, arrays on disk, generated samples (those four are the default), and waiting:
samples and steps that sleep, which needs no calm machine. Each loop begins without workers.

Run with a Python that has PyTorch and Pillow; BATCHLIGHT_BUILD names the build, BATCHLIGHT_WORKERS the numbers of
workers to try, if not all. A line for each round: what was
predicted for the best setting, what it gave with the training, and how far they are apart."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BATCHLIGHT = os.path.join(os.environ.get("BATCHLIGHT_BUILD", os.path.join(SOURCE, "build", "release")), "bin",
                          "batchlight")
KINDS = ("images", "text", "arrays", "generated")
SECONDS, STEPS = "4", "2000"  # of a trial
WORKERS = ["--workers", os.environ["BATCHLIGHT_WORKERS"]] if os.environ.get("BATCHLIGHT_WORKERS") else []
LOOP = """
import io, os, sys, time
import numpy, torch
from torch.utils.data import DataLoader, Dataset
kind, folder = sys.argv[1:3]
torch.set_num_threads(1)
class Data(Dataset):
    def __len__(self): return 100000
    def __getitem__(self, i):
        if kind == "images":
            from PIL import Image
            with Image.open(os.path.join(folder, "%d.jpg" % (i % 200))) as image:
                x = numpy.asarray(image.convert("RGB").resize((64, 64)), dtype=numpy.float32).ravel()[:1024]
        elif kind == "text":
            with open(os.path.join(folder, "%d.txt" % (i % 200))) as file:
                words = file.read().lower().split()
            x = numpy.zeros(1024, dtype=numpy.float32)
            for word in words: x[sum(map(ord, word)) % 1024] += 1
        elif kind == "arrays":
            x = numpy.load(os.path.join(folder, "%d.npy" % (i % 200)))[i % 100::512][:1024].astype(numpy.float32)
        elif kind == "waiting":
            time.sleep(0.004)
            x = numpy.zeros(1024, dtype=numpy.float32)
        else:
            x = numpy.sort(numpy.random.default_rng(i).random(40000, dtype=numpy.float32))[:1024]
        return torch.from_numpy(numpy.resize(x, 1024)), i % 10
def main():
    model = torch.nn.Sequential(torch.nn.Linear(1024, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in DataLoader(Data(), batch_size=32, shuffle=True):
        for _ in range(4):
            torch.nn.functional.cross_entropy(model(x), y).backward()
        if kind == "waiting": time.sleep(0.02)
        optimizer.step()
        optimizer.zero_grad()
main()
"""


def write_data(folder):
    import numpy
    from PIL import Image
    random = numpy.random.default_rng(0)
    for i in range(200):
        Image.fromarray(random.integers(0, 255, (200, 200, 3), dtype=numpy.uint8)).save(
            os.path.join(folder, "%d.jpg" % i))
        with open(os.path.join(folder, "%d.txt" % i), "w") as file:
            file.write(" ".join("word%d" % n for n in random.integers(0, 5000, 1500)))
        numpy.save(os.path.join(folder, "%d.npy" % i), random.random(1 << 19, dtype=numpy.float32))


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    kinds = sys.argv[2:] or KINDS
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "loop.py")
        with open(script, "w") as file:
            file.write(LOOP)
        write_data(folder)
        environment = dict(os.environ, PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
        errors = {kind: [] for kind in kinds}
        for _ in range(rounds):
            for kind in kinds:
                done = subprocess.run([BATCHLIGHT, "probe", "loader", "--seconds", SECONDS, "--steps", STEPS, "-f",
                                       "json"] + WORKERS + [script, kind, folder], stdout=subprocess.PIPE,
                                      env=environment)
                if done.returncode != 0:
                    print("%-10s failed" % kind, flush=True)
                    continue
                report = json.loads(done.stdout)
                best = report["best"]
                errors[kind].append(best["prediction_error"])
                predicted = best["predicted_samples_per_s"]
                print("%-10s as it is %6.0f samples/s, %d workers: predicted %6.0f, gave %6.0f (%+.1f %%); limit %s" % (
                    kind, report["both"]["samples_per_s"], best["num_workers"], predicted,
                    predicted / (1 + best["prediction_error"]), 100 * best["prediction_error"], report["limit"]),
                      flush=True)
        for kind, found in errors.items():
            if found:
                print("%-10s median %+.1f %%" % (kind, 100 * statistics.median(found)))


if __name__ == "__main__":
    main()
