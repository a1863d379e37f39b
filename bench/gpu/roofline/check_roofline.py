#!/usr/bin/env python3
"""The measured roofline of `batchlight kernels` on a GPU, beside work that is known (kernels_loop.py).

    check_roofline.py --build FOLDER [--python PYTHON] [--run RECORDING]

FOLDER has bin/batchlight. A line per check, PASS or FAIL; exit status 1 if any failed. The recording stays in $OUT
(/tmp) as roofline.batchlight; with --run that one is checked and nothing is run.
"""
import argparse
import csv
import io
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRODUCT = 2 * 4096 ** 3          # torch.mm of two 4096 x 4096
MOVED = 2 * 4 * 2 ** 26          # torch.add(source, 1, out=target) of 2^26 floats: read once, written once
ADDED = 2 ** 26                  # its additions; 64 for each instruction of the pipe at most, and as many for addresses
DATA_SHEET = {"H200": (4800, 989.4), "H100": (3350, 989.4)}  # GB/s, TFLOP/s of bf16
failed = []


def say(passes, text):
    print(f"{'PASS' if passes else 'FAIL'}: {text}", flush=True)
    if not passes:
        failed.append(text)


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"FAIL: {' '.join(words)} exits {done.returncode}: {done.stderr[-800:]}")
    return done.stdout


def number(row, column):
    return float(row[column]) if row.get(column) else float("nan")


def near(what, got, wanted, by):
    say(abs(got / wanted - 1) <= by, f"{what}: {got:.6g}, known {wanted:.6g} ({(got / wanted - 1) * 100:+.2f} %, at most {by * 100:g})")


def check_product(row, name):
    say(row["Type"] == "Tensor bf16", f"the product's operations are of bf16 tensor cores: {row['Type']!r}")
    near("operations of the product", number(row, "Operations"), PRODUCT, 0.001)
    near("its TFLOP/s", number(row, "TFLOP/s"), PRODUCT / number(row, "Time (ns)") / 1e3, 0.02)
    near("its operations a byte of DRAM", number(row, "FLOP/B DRAM"), PRODUCT / number(row, "DRAM Bytes (B)"), 0.01)
    say(row["Roof"] == "Tensor bf16", f"its lowest roof is the peak of its type: {row['Roof']!r}")
    say(60 < number(row, "Attained (%)") <= 101, f"it attains {row['Attained (%)']} % (60 to 101)")
    sheet = next((peaks for gpu, peaks in DATA_SHEET.items() if gpu in name), None)
    if sheet is None:
        print(f"      {name}: no data sheet here; peaks {row['Peak TFLOP/s']} TFLOP/s, {row['DRAM Peak GB/s']} GB/s")
        return
    near("peak of DRAM in GB/s", number(row, "DRAM Peak GB/s"), sheet[0], 0.05)
    # NVIDIA's figure is at 1.83 GHz: 132 multiprocessors x 4,096 operations a cycle.
    near("peak of bf16 in TFLOP/s at this clock", number(row, "Peak TFLOP/s"),
         sheet[1] * number(row, "Clock GHz") / 1.83, 0.03)


def check_addition(row, limits):
    near("bytes of DRAM that the addition moves", number(row, "DRAM Bytes (B)"), MOVED, 0.04)
    say(row["Roof"] == "DRAM", f"its lowest roof is DRAM: {row['Roof']!r}")
    say(0.5 * ADDED <= number(row, "Operations") <= 8 * ADDED and row["Counted"] == "at most",
        f"its operations, at most: {number(row, 'Operations'):.6g}, known {ADDED:.6g} (0.5 to 8 times)")
    say(70 < number(row, "Attained (%)") <= 101, f"it attains {row['Attained (%)']} % (70 to 101)")
    if limits:
        off = number(row, "Attained (%)") - number(limits, "DRAM (%)")
        say(abs(off) <= 5, f"that is the hardware's own share of the bandwidth, {limits['DRAM (%)']} % ({off:+.1f} points, at most 5)")
    say(number(row, "L2 Bytes (B)") >= 0.45 * MOVED, f"L2 sent what it read: {number(row, 'L2 Bytes (B)'):.6g} bytes")


flags = argparse.ArgumentParser()
flags.add_argument("--build", required=True)
flags.add_argument("--python", default=sys.executable)
flags.add_argument("--run")
flags = flags.parse_args()
tool = os.path.join(os.path.abspath(flags.build), "bin", "batchlight")
recording = flags.run or os.path.join(os.environ.get("OUT", "/tmp"), "roofline.batchlight")
if not flags.run:
    run(tool, "kernels", "-f", "true", "-o", recording.removesuffix(".batchlight"), "--set", "limits,roofline",
        flags.python, os.path.join(HERE, "kernels_loop.py"))


def table(name):
    return list(csv.DictReader(io.StringIO(run(tool, "kernels", recording, "--table", name, "--format", "csv"))))


rows = table("roofline")
print(run(tool, "kernels", recording, "--table", "roofline"))
limits = {(row["Kernel"], row["Grid"]): row for row in table("limits")}
product = next((row for row in rows if row["Operator"] == "aten::mm"), None)
addition = next((row for row in rows if row["Operator"] == "aten::add"), None)
say(product is not None and addition is not None, f"{len(rows)} kernels, the product and the addition among them")
gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], stdout=subprocess.PIPE, text=True).stdout
if product:
    check_product(product, gpu)
if addition:
    check_addition(addition, limits.get((addition["Kernel"], addition["Grid"])))
for row in rows:
    attained = number(row, "Attained (%)")
    say(not attained > 105, f"no more than a roof allows: {attained:6.2f} % {row['Roof']:12} {row['Kernel'][:70]}")
print("failed:", failed)
sys.exit(1 if failed else 0)
