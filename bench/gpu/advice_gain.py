#!/usr/bin/env python3
"""What the advice promises against what its change gains, on models of timm and transformers.

    bench/gpu/advice_gain.py --batchlight build/release/bin/batchlight --out results [--only RULE,...]

For each case: the estimate, from a recording of the slow loop made with the defaults; the gain, from
both loops without the profiler, in one process, `--rounds` times each in turn (mean step). Prints one
line a case as soon as it is known, and writes all as JSON.
"""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--batchlight", required=True)
parser.add_argument("--out", required=True, help="folder for recordings and advice_gain.json")
parser.add_argument("--python", default=sys.executable)
parser.add_argument("--only", default="", help="rules or names of cases, comma-separated")
parser.add_argument("--rounds", type=int, default=2)
options = parser.parse_args()
LOOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign_models.py")

# name, rule, model, flags of both loops, of the slow one only, of the changed one only
CASES = [
    ("vit-sync", "host-sync", "vit_small_patch16_224", "--batch 16 --amp --fused --pinned", "--sync", ""),
    ("vit-graph", "launch-bound", "vit_small_patch16_224", "--batch 2 --amp --pinned", "", "--full-graph"),
    ("efficientnet-nchw", "channels-last", "efficientnet_b0", "--batch 128 --amp --resident", "",
     "--channels-last"),
    ("regnet-nchw", "channels-last", "regnety_032", "--batch 64 --amp --resident", "", "--channels-last"),
    ("mobilenet-nchw", "channels-last", "mobilenetv3_large_100", "--batch 256 --amp --resident", "",
     "--channels-last"),
    ("densenet-nchw", "channels-last", "densenet121", "--batch 64 --amp --resident", "",
     "--channels-last"),
    ("llama-vocabulary", "unaligned-products", "llama", "--amp", "--vocabulary 32003",
     "--vocabulary 32064"),
    ("opt-vocabulary", "unaligned-products", "opt", "--amp --batch 16", "--vocabulary 50265",
     "--vocabulary 50304"),
    ("llama-pointwise", "unfused-pointwise", "llama", "--amp --vocabulary 32000", "", "--compile"),
    ("vit-pointwise", "unfused-pointwise", "vit_base_patch16_224", "--amp --resident", "", "--compile"),
    ("bert-pointwise", "unfused-pointwise", "bert", "--batch 128 --amp --resident", "", "--compile"),
    ("vit-tf32", "tf32-off", "vit_base_patch16_224", "--resident", "", "--tf32"),
    ("vit-amp", "amp-off", "vit_base_patch16_224", "--tf32 --resident", "", "--amp"),
    ("llama-amp", "amp-off", "llama", "--tf32 --vocabulary 32000", "", "--amp"),
    ("vit-optimizer", "unfused-optimizer", "vit_small_patch16_224", "--batch 4 --amp --resident",
     "--foreach-off", "--fused"),
    ("resnet-optimizer", "unfused-optimizer", "resnet50", "--batch 8 --amp --resident",
     "--foreach-off", "--fused"),
    ("resnet-data", "dataloader-wait", "resnet18", "--batch 64 --amp --pinned", "", "--workers 8"),
    ("vit-data", "dataloader-wait", "vit_small_patch16_224", "--batch 128 --amp --pinned", "",
     "--workers 8"),
]


def results_of(done):
    found = re.findall(r"RESULT (\{.*\})", done.stdout)
    if not found:
        print(f"no result (exit {done.returncode}): {' '.join(done.args)}\n"
              f"{(done.stdout + done.stderr)[-2000:]}", file=sys.stderr)
    return [json.loads(text)["mean_ms"] for text in found]


def gain(model, slow, changed):
    turns = [slow, changed] * options.rounds
    more = ["--also=" + flags for flags in turns[1:]]
    times = results_of(subprocess.run(
        [options.python, LOOP, "--model", model, "--steps", "20", *turns[0].split(), *more],
        capture_output=True, text=True))
    if len(times) < len(turns):
        return None, None
    return statistics.mean(times[0::2]), statistics.mean(times[1::2])


def estimates(name, model, slow):
    """Rule -> (gain, uncertainty) in ms a step."""
    path = os.path.join(options.out, name)
    results_of(subprocess.run(
        [options.batchlight, "profile", "-f", "true", "-o", path, "--", options.python, LOOP,
         "--model", model, *slow.split()], capture_output=True, text=True))
    done = subprocess.run([options.batchlight, "table", "advice", path + ".batchlight", "-f", "csv"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return {}
    rows = csv.DictReader(done.stdout.splitlines())
    return {row["Rule"]: tuple(float(row[key] or 0) / 1e6
                               for key in ("Gain per Step (ns)", "Uncertainty (ns)")) for row in rows}


os.makedirs(options.out, exist_ok=True)
wanted = set(filter(None, options.only.split(",")))
table = []
for name, rule, model, both, slow, changed in CASES:
    if wanted and not wanted & {name, rule}:
        continue
    slow = f"{both} {slow}".strip()
    found = estimates(name, model, slow)
    before, after = gain(model, slow, f"{both} {changed}".strip())
    gained = None if before is None else before - after
    promised, uncertainty = found.get(rule, (None, None))
    table.append({"name": name, "rule": rule, "before_ms": before, "after_ms": after,
                  "gained_ms": gained, "estimate_ms": promised, "uncertainty_ms": uncertainty,
                  "estimate_to_gain": promised / gained if promised and gained else None,
                  "all": found})
    print(json.dumps(table[-1]), flush=True)
with open(os.path.join(options.out, "advice_gain.json"), "w") as file:
    json.dump(table, file, indent=1)
