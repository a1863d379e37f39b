#!/usr/bin/env python3
"""How long `batchlight recipe` takes beside `nsys recipe`, on the same eight reports of nsys.

    bench/nsys_recipes.py --nsys NSYS [--build build/release] [--python python3] [--steps 300] [--rounds 3]
                          [--recipes cuda_gpu_kern_sum,...] [--inputs FOLDER] [--json FILE]

Records a training loop eight times (one GPU is enough, one run after the other; RANK is 0 to 7) with nsys, or takes the
*.nsys-rep of FOLDER, and has nsys export each to SQLite, which is what batchlight reads. nsys's recipes export for
themselves, into a folder beside the report that they find again: their first run is told apart and is in no ratio.
Both sides in turn, medians. `--mode none` (one process), as nsys's default starts a pool of Python processes for each
recipe, and `--mode concurrent`. The aim is 20 times as fast. Exit status 1 where it is missed, 2 where nothing could
be compared.
"""
import argparse
import atexit
import glob
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

REPORTS = 8

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--nsys", default=shutil.which("nsys"))
parser.add_argument("--build", default="build/release")
parser.add_argument("--python", default=sys.executable)
parser.add_argument("--steps", type=int, default=300)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--recipes", default="cuda_gpu_kern_sum,cuda_api_sum,nvtx_sum,cuda_gpu_mem_time_sum,gpu_gaps")
parser.add_argument("--inputs")
parser.add_argument("--json")
parser.add_argument("--loop", action="store_true", help=argparse.SUPPRESS)
options = parser.parse_args()


def loop():
    import torch
    from torch import nn
    model = nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(1024, 1024), nn.GELU())]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(options.steps):
        with torch.cuda.nvtx.range("step"):
            rows = torch.randn(256, 1024).cuda()
            optimizer.zero_grad()
            model(rows).square().mean().backward()
            optimizer.step()
    torch.cuda.synchronize()


def measure(*words):
    """(wall, processor seconds, None or what went wrong)."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, None if done.returncode == 0 else "exit %d: %s" % (done.returncode, done.stdout.strip()[-600:])


def must(*words, **environment):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, **environment))
    if done.returncode:
        sys.exit("%s: exit %d\n%s" % (" ".join(str(word) for word in words), done.returncode, done.stdout[-2000:]))


def make_reports(folder):
    for rank in range(REPORTS):
        must(options.nsys, "profile", "--trace", "cuda,nvtx", "--sample", "none", "--cpuctxsw", "none", "-o",
             os.path.join(folder, "rank%d" % rank), options.python, os.path.abspath(__file__), "--loop", "--steps",
             options.steps, RANK=str(rank))
        print("recorded rank", rank, flush=True)


def compare(recipe, reports, exports, folder, tool):
    """A row: medians of both sides, or why there is none."""
    out = os.path.join(folder, "out")
    ours = [tool, "recipe", recipe, "--force-overwrite", "-o", out + ".ours"] + exports
    row = {"recipe": recipe}
    for mode in ("none", "concurrent"):
        theirs = [options.nsys, "recipe", recipe, "--mode", mode, "--force-overwrite", "--output", out + ".theirs",
                  "--input"] + reports
        first = measure(*theirs)
        if first[2]:
            row[mode] = {"problem": first[2]}
            continue
        sides = {"nsys": [], "batchlight": []}
        for _ in range(options.rounds):
            for side, words in (("nsys", theirs), ("batchlight", ours + ["--mode", mode])):
                wall, cpu, problem = measure(*words)
                if problem:
                    row[mode] = {"problem": side + ": " + problem}
                    return row
                sides[side].append((wall, cpu))
        medians = {side: [statistics.median(one[i] for one in runs) for i in (0, 1)] for side, runs in sides.items()}
        row[mode] = {"nsys_first_s": first[0], "nsys_s": medians["nsys"], "batchlight_s": medians["batchlight"],
                     "times": medians["nsys"][0] / medians["batchlight"][0]}
    return row


def main():
    if not options.nsys:
        print("no nsys: --nsys names it")
        return 2
    folder = options.inputs or tempfile.mkdtemp(prefix="nsys-recipes-")
    if not options.inputs:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if not options.inputs:
        make_reports(folder)
    reports = sorted(glob.glob(os.path.join(folder, "*.nsys-rep")))
    exports = [report[:-len(".nsys-rep")] + ".sqlite" for report in reports]
    for report, export in zip(reports, exports):
        if not os.path.exists(export):
            must(options.nsys, "export", "-t", "sqlite", "-o", export, report)
    if not reports:
        print("no *.nsys-rep in", folder)
        return 2
    print("%d reports, exports of %.1f MB" % (len(reports), sum(map(os.path.getsize, exports)) / 1e6), flush=True)
    rows = []
    for recipe in options.recipes.split(","):
        row = compare(recipe, reports, exports, folder, os.path.join(options.build, "bin", "batchlight"))
        rows.append(row)
        for mode in ("none", "concurrent"):
            found = row.get(mode, {"problem": "not tried"})
            if "problem" in found:
                print("%-24s %-10s %s" % (recipe, mode, found["problem"]), flush=True)
                continue
            print("%-24s %-10s nsys %.2f s (%.2f of processor; first %.2f), ours %.3f s (%.3f): %.0f times" % (
                recipe, mode, *found["nsys_s"], found["nsys_first_s"], *found["batchlight_s"], found["times"]),
                flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    times = [row[mode]["times"] for row in rows for mode in ("none", "concurrent") if "times" in row.get(mode, {})]
    if not times:
        return 2
    print("least: %.0f times (aim: 20)" % min(times))
    return 0 if min(times) >= 20 else 1


if __name__ == "__main__":
    sys.exit(loop() if options.loop else main())
