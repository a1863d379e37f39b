#!/usr/bin/env python3
"""Counters in a job of several GPUs: they change no result, and each rank and GPU has its own.

    check_job_counters.py BUILD [PYTHON]

BUILD has bin/batchlight; two GPUs or more. A line per check; whatever fails, the next one runs. Exit status 1 if any
failed.
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

from checks import check, failed

HERE = os.path.dirname(os.path.abspath(__file__))
BATCHLIGHT = os.path.join(os.path.abspath(sys.argv[1]), "bin", "batchlight")
PYTHON = sys.argv[2] if len(sys.argv) > 2 else sys.executable
OUT = tempfile.mkdtemp(prefix="batchlight-job-")
GPUS = len(subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, text=True).stdout.splitlines())
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # results that do not vary


def job(steps):
    return [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(GPUS),
            os.path.join(HERE, "ddp_loop.py"), str(steps)]


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200)
    if done.returncode != 0:
        raise RuntimeError(f"{words[:3]} exits {done.returncode}: {done.stderr[-1500:]}")
    return done.stdout


def result(text):
    return json.loads(next(line for line in text.splitlines() if line.startswith('{"loss"')))


def record(name, verb, *flags, steps=90):
    path = os.path.join(OUT, name)
    text = run(BATCHLIGHT, verb, "-f", "true", "-o", path, *flags, *job(steps))
    return path + ".batchlight", text


def table(path, name, *flags):
    return list(csv.DictReader(io.StringIO(run(BATCHLIGHT, "table", name, path, "-f", "csv", *flags))))


def losses(path):
    return table(path, "losses")


alone = {}


def differs(name, text, steps):
    got = result(text)
    if steps not in alone:
        alone[steps] = result(run(*job(steps)))
    print(f"  {name}: {got}, alone {alone[steps]}")
    return f"loss {got['loss']!r} is not {alone[steps]['loss']!r}" if got["loss"] != alone[steps]["loss"] else None


@check("two GPUs or more, and one result twice")
def _():
    if GPUS < 2:
        return f"{GPUS} GPUs"
    return differs("again", run(*job(90)), 90)


@check("--step-counters of all ranks")
def _():
    path, text = record("steps", "profile", "--step-counters=essentials", steps=200)
    wrong = differs("step counters", text, 200)
    print("\n".join("  " + line for line in text.splitlines() if "ounter" in line or "tensor pipe" in line))
    firsts = []
    for rank in range(GPUS):
        rows = table(path, "step_counters", "--rank", str(rank))
        print(f"  rank {rank}: {len(rows)} counters;", [list(row.values())[:6] for row in rows[:3]])
        steps = [row["Step"] for row in table(path, "steps", "--rank", str(rank)) if row["Kind"] == "counters read"]
        print(f"  rank {rank}: counters read in steps", steps)
        firsts += steps[:1]
        wrong = wrong or (None if rows else f"rank {rank} has no counters")
    print("  losses:", losses(path))
    apart = max(map(int, firsts)) - min(map(int, firsts)) if firsts else 0
    return wrong or (None if apart <= 2 else f"ranks began to count {apart} steps apart")


@check("kernels of one rank, while the others wait")
def _():
    path, text = record("kernels", "kernels", "--rank", "1", "--set", "limits", steps=90)
    wrong = differs("kernels --rank 1", text, 90)
    rows = list(csv.DictReader(io.StringIO(run(BATCHLIGHT, "kernels", path, "--format", "csv"))))
    print("\n".join("  " + line[:150] for line in text.splitlines()[-24:]))
    print(f"  {len(rows)} rows;", sorted({row["Bound"] for row in rows}), "losses:", losses(path))
    return wrong or (None if rows else "no kernel was measured")


@check("kernels of all ranks")
def _():
    path, text = record("kernels_all", "kernels", "--rank", "all", steps=90)
    wrong = differs("kernels --rank all", text, 90)
    rows = list(csv.DictReader(io.StringIO(run(BATCHLIGHT, "kernels", path, "--format", "csv"))))
    print(f"  {len(rows)} rows;", "losses:", losses(path))
    return wrong or (None if rows else "no kernel was measured")


@check("--gpu-metrics-devices=all: each GPU was sampled")
def _():
    path, text = record("metrics", "profile", "--gpu-metrics-devices=all", steps=200)
    wrong = differs("metrics", text, 200)
    rows = table(path, "gpu_metrics")
    for row in rows[:40]:
        print("  ", list(row.values()))
    seen = {row.get("GPU") or row.get("Device") for row in rows}
    print("  GPUs:", seen, "losses:", losses(path))
    return wrong or (None if len(seen) == GPUS else f"GPUs {seen}")


@check("--stalls of all ranks")
def _():
    path, text = record("stalls", "profile", "--stalls", steps=200)
    wrong = differs("stalls", text, 200)
    out = run(BATCHLIGHT, "kernels", path, "--stalls", "--table", "stalls", "--format", "csv")
    print(f"  {len(out.splitlines()) - 1} kernels; losses:", losses(path))
    return wrong


print("failed:", failed)
sys.exit(1 if failed else 0)
