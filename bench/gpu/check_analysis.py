#!/usr/bin/env python3
"""Checks the analyses on a GPU against something independent, and the advice against what it gains.

    bench/gpu/check_analysis.py --batchlight build/release/bin/batchlight --out results

1. FLOPs per step against torch.utils.flop_counter; step times against the script's own clock;
   operators' GPU time against torch.profiler's on the same loop.
2. Advice: for each bad setting the finding that names it, its estimated gain, and the gain measured
   by making the change. Prints a table of each; writes them as JSON.
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--batchlight", required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--python", default=sys.executable)
parser.add_argument("--emit-nvtx", action="store_true",
                    help="for a PyTorch without C++ headers: no operator recorder can be built")
parser.add_argument("--cases", default="", help="names of advice cases, comma-separated")
parser.add_argument("--only", default="", help="checks or advice")
options = parser.parse_args()
LOOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loop.py")
os.makedirs(options.out, exist_ok=True)


def result_of(done):
    found = re.search(r"RESULT (\{.*\})", done.stdout)
    if not found:
        sys.exit(f"no result (exit {done.returncode}): {' '.join(done.args)}\n{(done.stdout + done.stderr)[-3000:]}")
    return json.loads(found[1])


def plain(*flags):
    return result_of(subprocess.run([options.python, LOOP, *flags], capture_output=True, text=True))


def profiled(name, *flags):
    path = os.path.join(options.out, name)
    return path + ".batchlight", result_of(subprocess.run(
        [options.batchlight, "profile", "-f", "true", "-o", path, "-t", "cuda,nvtx",
         "--pytorch=functions-trace,autograd-shapes-nvtx", "--", options.python, LOOP, *flags],
        capture_output=True, text=True))


def table(name, recording):
    done = subprocess.run([options.batchlight, "table", name, recording, "--key", "step", "-f", "csv"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"table {name}: {done.stderr}")
    return list(csv.DictReader(done.stdout.splitlines()))


def number(row, start):
    return next(float(v or 0) for k, v in row.items() if k.startswith(start))


def check(name, *flags):
    trace = os.path.join(options.out, "ops.json")
    if options.emit_nvtx:  # one profiler at a time: torch.profiler has a run of its own
        plain("--torch-profiler", trace, *flags)
        recording, own = profiled(name, "--flops", "--emit-nvtx", *flags)
    else:
        recording, own = profiled(name, "--flops", "--torch-profiler", trace, *flags)
    flops = sum(number(row, "GFLOP per Step") for row in table("roofline", recording)) * 1e9
    steps = [number(row, "Duration") for row in table("steps", recording)]
    last = None if options.emit_nvtx else -5  # the profiled ones
    timed = sorted(steps[:last][-own["steps"]:])
    ours = {row["Name"]: number(row, "Self CUDA (ns)") / number(row, "# of Calls")
            for row in table("key_averages", recording)}
    theirs = {k: v for k, v in json.load(open(trace)).items() if v[1] > 0 and k.startswith("aten::")}
    ratios = {k: ours[k] / (v[1] * 1e3 / v[0]) for k, v in
              sorted(theirs.items(), key=lambda item: -item[1][1])[:8] if k in ours}
    row = {"name": name, "flops_torch": own["flops_per_step"], "flops_ours": flops,
           "flops_ratio": flops / own["flops_per_step"], "step_ms_script": own["step_ms"],
           "step_ms_ours": timed[len(timed) // 2] / 1e6, "operators_to_torch_profiler": ratios,
           "unattributed": unattributed(recording)}
    print(json.dumps(row), flush=True)
    return row


def unattributed(recording):
    done = subprocess.run([options.batchlight, "summary", "--json", recording], capture_output=True, text=True)
    gpu = json.loads(done.stdout).get("gpu", {}) if done.returncode == 0 else {}
    return {k: v for k, v in gpu.items() if "attributed" in k or "busy" in k}


# name, rule, flags of the bad loop, what its advice changes
ADVICE = [
    ("fp32-mlp", "tf32-off", ["--model", "mlp"], ["--tf32"]),
    ("tf32-mlp", "amp-off", ["--model", "mlp", "--tf32"], ["--amp"]),
    ("fp32-transformer", "tf32-off", ["--model", "transformer"], ["--tf32"]),
    ("slow-data", "dataloader-wait", ["--model", "transformer", "--tf32", "--slow-data-ms", "15", "--pinned"],
     ["--workers", "4"]),
    ("single-tensor-optimizer", "unfused-optimizer",
     ["--model", "transformer", "--batch", "2", "--amp", "--foreach-off"], ["--fused"]),
    ("launch-bound", "launch-bound", ["--model", "transformer", "--batch", "2", "--amp", "--fused"], ["--graph"]),
    ("sync", "host-sync", ["--model", "transformer", "--batch", "4", "--amp", "--fused", "--sync", "8"], None),
    ("pageable", "pageable-copy", ["--model", "resnet50", "--amp", "--batch", "256"], ["--pinned"]),
    ("nchw", "channels-last", ["--model", "resnet50", "--amp"], ["--channels-last"]),
    ("well-tuned", None, ["--model", "mlp", "--amp", "--fused", "--pinned", "--workers", "2"], None),
]


def advise(name, rule, flags, change):
    before = plain(*flags)
    after = None
    if rule == "host-sync":
        after = plain(*[f for f in flags if f != "--sync" and f != "8"])
    elif change:
        after = plain(*flags, *change)
    recording, _ = profiled(name, *flags)
    findings = table("advice", recording)
    found = {row["Rule"]: number(row, "Gain per Step") / 1e6 for row in findings}
    row = {"name": name, "rule": rule, "findings": found, "before_ms": before["mean_ms"]}
    if after:
        row.update(after_ms=after["mean_ms"], gained_ms=before["mean_ms"] - after["mean_ms"])
        row["estimate_to_gain"] = found.get(rule, 0) / row["gained_ms"] if row["gained_ms"] else None
    print(json.dumps(row), flush=True)
    return row


results = {}
if options.only != "advice":
    results["checks"] = [check("transformer", "--model", "transformer", "--tf32"),
                         check("transformer-amp", "--model", "transformer", "--amp"),
                         check("resnet50", "--model", "resnet50", "--tf32"),
                         check("lstm", "--model", "lstm", "--tf32")]
if options.only != "checks":
    cases = options.cases.split(",") if options.cases else [case[0] for case in ADVICE]
    results["advice"] = [advise(*case) for case in ADVICE if case[0] in cases]
json.dump(results, open(os.path.join(options.out, "analysis.json"), "w"), indent=1)
