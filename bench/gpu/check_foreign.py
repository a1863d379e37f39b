#!/usr/bin/env python3
"""Checks the analyses of recordings that foreign_models.py made against something independent.

    bench/gpu/check_foreign.py --batchlight build/release/bin/batchlight FOLDER

For each NAME.batchlight in FOLDER: the share of a step in which the GPU is busy against a union
computed here from the SQLite export. With NAME.result.json (the script's own RESULT line): median
step times and FLOPs a step. With NAME.ops.json (foreign_models.py --torch-profiler): GPU time of
the largest operators against torch.profiler's.
"""
import argparse
import csv
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--batchlight", required=True)
parser.add_argument("folder", type=pathlib.Path)
options = parser.parse_args()

WORK_TABLES = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
               "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")


def batchlight(*words):
    done = subprocess.run([options.batchlight, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{words}: {done.stderr}")
    return done.stdout


def table(name, recording):
    text = batchlight("table", name, recording, "-f", "csv")
    return list(csv.DictReader(text.splitlines()))


def number(row, start):
    return next(float(value or 0) for key, value in row.items() if key.startswith(start))


def work_spans(database):
    spans = []
    tables = {name for (name,) in database.execute("select name from sqlite_master")}
    for name in WORK_TABLES:
        if name in tables:
            spans += database.execute(f"select start, end from {name}").fetchall()
    return sorted(spans)


def busy_inside(spans, start, end):
    """Summed union of the spans, cut to [start, end)."""
    total, reached = 0, start
    for begin, finish in spans:
        begin, finish = max(begin, reached), min(finish, end)
        if finish > begin:
            total += finish - begin
            reached = finish
    return total


def check_busy(recording):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.sqlite")
        batchlight("export", "-t", "sqlite", "-o", path, recording)
        database = sqlite3.connect(path)
        spans = work_spans(database)
        database.close()
    worst = 0.0
    for row in table("gpu_steps", recording):
        start, length = int(number(row, "Start")), int(number(row, "Window"))
        if length == 0:
            continue
        idle = sum(float(value or 0) for key, value in row.items() if key.startswith("idle"))
        worst = max(worst, abs(busy_inside(spans, start, start + length) - (length - idle)) / length)
    return worst


def check_operators(recording, path):
    ours = {row["Name"]: number(row, "Self CUDA (ns)") / number(row, "# of Calls")
            for row in table("key_averages", recording)}
    theirs = {key: value for key, value in json.loads(path.read_text()).items()
              if value[1] > 0 and key.startswith("aten::")}
    largest = sorted(theirs.items(), key=lambda item: -item[1][1])[:8]
    return {key: round(ours[key] / (value[1] * 1e3 / value[0]), 3)
            for key, value in largest if key in ours}


for recording in sorted(options.folder.glob("*.batchlight")):
    name = recording.stem
    print(name)
    print(f"  GPU busy: {100 * check_busy(recording):.4f} % of a step apart at most")
    result_path = options.folder / (name + ".result.json")
    if result_path.exists():
        result = json.loads(result_path.read_text())
        steps = [number(row, "Duration") for row in table("steps", recording)]
        median = statistics.median(steps[-result["steps"]:]) / 1e6
        print(f"  median step: {median:.2f} ms, the script's clock {result['step_ms']:.2f} ms")
        if "flops_per_step" in result:
            flops = sum(number(row, "GFLOP per Step") for row in table("roofline", recording)) * 1e9
            print(f"  FLOPs a step: {flops / result['flops_per_step']:.3f} of torch's counter")
    ops_path = options.folder / (name + ".ops.json")
    if ops_path.exists():
        print("  operators, GPU time of torch.profiler's:", check_operators(recording, ops_path))
