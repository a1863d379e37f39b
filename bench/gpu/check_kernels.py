#!/usr/bin/env python3
"""`batchlight kernels` on a GPU: against Nsight Compute, against operations that are known, and its cost.

    check_kernels.py INSTALL [PYTHON [PATTERN]]

INSTALL has bin/batchlight. A line per check; whatever fails, the next one runs. With a pattern only checks whose name
it matches. Exit status 1 if any failed.
"""
import csv
import io
import json
import os
import subprocess
import sys
import time

import checks
from checks import check, failed, ncu

HERE = os.path.dirname(os.path.abspath(__file__))
BATCHLIGHT = os.path.join(os.path.abspath(sys.argv[1]), "bin", "batchlight")
PYTHON = sys.argv[2] if len(sys.argv) > 2 else sys.executable
checks.only = sys.argv[3] if len(sys.argv) > 3 else ""
OUT = os.environ.get("OUT", "/tmp")

ESSENTIALS = [
    "gpu__time_duration.sum", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "dram__bytes_read.sum",
    "dram__bytes_write.sum", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed.sum",
    "smsp__issue_active.avg.pct_of_peak_sustained_active", "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "lts__t_sectors.sum", "l1tex__t_sector_hit_rate.pct",
    "sm__ops_path_tensor_src_bf16_dst_fp32.sum"]
ROWS = ("copy", "reduction", "product", "attention", "convolution")


def run(*words, timeout=120):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"{words[:3]} exits {done.returncode}: {done.stderr[-600:]}")
    return done.stdout


def kernels(name, *flags, program, timeout=120):
    path = os.path.join(OUT, name)
    out = run(BATCHLIGHT, "kernels", "-f", "true", "-o", path, *flags, PYTHON, *program, timeout=timeout)
    return path + ".batchlight", out


def table(path, *flags):
    return list(csv.DictReader(io.StringIO(run(BATCHLIGHT, "kernels", path, "--format", "csv", *flags))))


def result(text):
    return json.loads(next(line for line in text.splitlines() if line.startswith('{"ms"')))


def number(text):
    return float(text.replace(",", ""))


LOOP = [os.path.join(HERE, "kernels_loop.py")]


@check("five kernels beside Nsight Compute")
def _():
    path, text = kernels("five", "--set", "essentials,roofline", program=LOOP)
    print(text[-3500:])
    flops = result(text)["flops"]
    ours = {}
    for row in table(path, "--table", "counters", "--launches"):
        ours.setdefault(row["Kernel"], {})[row["Metric"]] = float(row["Value"])
    theirs = {}
    for row in ncu([PYTHON, *LOOP], "--profile-from-start", "off", "--print-kernel-base", "demangled", "--metrics",
                   ",".join(ESSENTIALS)):
        theirs.setdefault(row["Kernel Name"], {})[row["Metric Name"]] = number(row["Metric Value"])
    far = []
    for name, values in theirs.items():
        mine = next((v for k, v in ours.items() if k.split("(")[0] == name.split("(")[0]), None)
        print("  ", name[:90], "" if mine else "NOT MEASURED")
        for metric in ESSENTIALS if mine else []:
            if metric not in mine or metric not in values:
                print(f"     {metric:70} ours {mine.get(metric)} ncu {values.get(metric)}")
                continue
            off = abs(mine[metric] - values[metric]) / max(abs(values[metric]), 1e-9)
            print(f"     {metric:70} {mine[metric]:16.6g} {values[metric]:16.6g} {off * 100:7.2f} %")
            small = max(abs(values[metric]), abs(mine[metric])) < 1
            if off > 0.05 and not small and values["gpu__time_duration.sum"] > 20_000:
                far.append((name[:40], metric, round(off * 100, 1)))
    counted = sum(v.get("sm__ops_path_tensor_src_bf16_dst_fp32.sum", 0) for v in ours.values())
    print(f"  operations counted {counted:.6g}, torch.utils.flop_counter {flops:.6g}: {counted / flops:.4f}")
    return f"further than 5 %: {far}" if far else None


@check("cost of essentials and of full")
def _():
    for sets in ("essentials", "limits", "full"):
        begin = time.time()
        program = [os.path.join(HERE, "counters_loop.py"), "train:12"]
        path, text = kernels("cost_" + sets, "--set", sets, program=program)
        steps = [ms for _, ms in json.loads(next(t for t in text.splitlines() if t.startswith('[["train')))]
        usual = sorted(steps)[len(steps) // 2]
        extra = sum(ms - usual for ms in steps[18:] if ms > 3 * usual)
        slow = [ms for ms in steps[18:] if ms > 3 * usual]
        rows = table(path)
        print(f"  {sets}: {sum(int(row['Launches']) for row in rows)} launches, usual step {usual} ms, "
              f"{len(slow)} slower ones {slow}, together {extra / 1e3:.2f} s of training time; "
              f"run {time.time() - begin:.1f} s")


@check("GPT-2 of transformers: ten longest kernels, ours beside Nsight Compute's")
def _():
    program = [os.path.join(HERE, "foreign_models.py"), "--model", "gpt2", "--steps", "30", "--warm", "4"]
    path, text = kernels("gpt2_kernels", "--set", "limits", program=program)
    print(text[:7000])
    rows = table(path)[:10]
    small = program[:-4] + ["--steps", "3", "--warm", "1"]
    theirs = {}

    def ask(names, skip, count):
        for row in ncu([PYTHON, *small], "-k", "regex:" + "|".join(sorted(names)), "--launch-skip", str(skip), "--launch-count",
                       str(count), "--kill", "yes", "--print-kernel-base", "demangled", "--metrics",
                       "sm__throughput.avg.pct_of_peak_sustained_elapsed,gpu__compute_memory_throughput.avg."
                       "pct_of_peak_sustained_elapsed,gpu__time_duration.sum,launch__waves_per_multiprocessor"):
            key = (row["Kernel Name"].split("(")[0], row["Grid Size"])
            theirs.setdefault(key, {})[row["Metric Name"].split(".")[0]] = number(row["Metric Value"])

    def key_of(row):
        return row["Kernel"].split("(")[0], "(" + row["Grid"].replace(" x ", ", ") + ")"

    def base(row):
        return key_of(row)[0].split("<")[0].split("::")[-1].split(" ")[-1]

    ask({base(row) for row in rows}, 250, 60)
    for row in rows:
        if key_of(row) not in theirs:
            ask({base(row)}, 6, 12)
    same = 0
    for row in rows:
        found = theirs.get(key_of(row))
        verdict = "not seen"
        if found:
            compute, memory = found["sm__throughput"], found["gpu__compute_memory_throughput"]
            if max(compute, memory) < 60:
                verdict = "small grid" if found.get("launch__waves_per_multiprocessor", 1) < 1 else "latency"
            elif abs(compute - memory) < 10:
                verdict = "balanced"
            else:
                verdict = "compute" if compute > memory else "memory"
            verdict += f" ({compute:.0f} %, {memory:.0f} %)"
        same += verdict.startswith(row["Bound"])
        print(f"  {row['Bound']:10} {float(row['Compute (%)'] or 0):3.0f} % {float(row['Memory (%)'] or 0):3.0f} %"
              f" | {verdict:26} | {row['Share (%)']:>6} % {row['Kernel'][:70]}")
    print(f"  {same} of {len(rows)} verdicts are the same")


@check("a CUDA graph is one measured row")
def _():
    path, _ = kernels("graph", "--set", "essentials", "--step", "30", program=[os.path.join(HERE, "stalls_loop.py"),
                                                                              "graph:2"])
    rows = [row for row in table(path) if row["Kernel"] == "CUDA graph"]
    for row in rows:
        print(f"    {row['Launches']} a step, {row['Time (ns)']} ns, memory {row['Memory (%)']} %: {row['What to Do']}")
    said = len(rows) == 1 and float(rows[0]["Time (ns)"]) > 0 and "as a whole" in rows[0]["What to Do"]
    return None if said else f"{len(rows)} such rows; " + run(BATCHLIGHT, "table", "losses", path)


def first_launches(path):
    """By name and metric, of the first launch of each kernel."""
    found = {}
    for row in table(path, "--table", "counters", "--launches"):
        found.setdefault((row["Kernel"].split("(")[0], row["Metric"]), float(row["Value"]))
    return found


def worked_out(text):
    return next(line for line in text.splitlines() if line.startswith("{"))


@check("replay of single kernels: the program's result, the same counters as from steps")
def _():
    program = [os.path.join(HERE, "stalls_loop.py"), "inplace:1"]
    alone = run(PYTHON, *program)
    begin = time.time()
    path, text = kernels("replay", "--set", "full", "--replay", "kernel", "-k", "elementwise|gemm|nvjet|cutlass|reduce",
                         program=program)
    print(text[:3000])
    print(f"  {time.time() - begin:.1f} s in all; losses: " + run(BATCHLIGHT, "table", "losses", path))
    if worked_out(alone) != worked_out(text):
        return f"the program works out {worked_out(text)}, and alone {worked_out(alone)}"
    by_steps, _ = kernels("replay_steps", "--set", "full", program=program)
    exact = ("sm__inst_executed.sum", "sm__ops_path_tensor_src_bf16_dst_fp32.sum")
    replayed, steps = [first_launches(one) for one in (path, by_steps)]
    theirs = {}
    for row in ncu([PYTHON, *program], "--print-kernel-base", "demangled", "--launch-skip", "200", "--launch-count",
                   "60", "--kill", "yes", "--metrics", ",".join(exact)):
        theirs.setdefault((row["Kernel Name"].split("(")[0], row["Metric Name"]), number(row["Metric Value"]))
    far, seen = [], 0
    for key, value in replayed.items():
        if key[1] not in exact or key not in theirs:
            continue
        seen += 1
        print(f"    {key[0][-60:]:60} {key[1]:44} replayed {value:12.0f}, steps {steps.get(key, -1):12.0f}, ncu {theirs[key]:12.0f}")
        if abs(value - theirs[key]) > 0.02 * theirs[key]:
            far.append((key[0][:50], key[1], value, theirs[key]))
    return f"further than 2 %: {far[:5]}" if far else None if seen else "nothing was replayed"


print("failed:", failed)
sys.exit(1 if failed else 0)
