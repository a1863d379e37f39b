#!/usr/bin/env python3
"""Records the same loop with nsys and with batchlight and compares what each saw.

  compare_with_nsys.py --batchlight build/release/bin/batchlight --nsys nsys [--out DIR]

Compared: kernels by mangled name, copies by kind and bytes, sets, total kernel time (2 %), kernels
inside each NVTX range, and kernels of known length against CUDA events (1 us). Exit status 1 if
anything differs.
"""
import argparse
import collections
import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
failures = []


def check(what, ok, detail=""):
    print(f"{'same' if ok else 'DIFFERS':8} {what} {detail}")
    if not ok:
        failures.append(what)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def expected_of(text):
    return json.loads(re.search(r"EXPECTED (.*)", text)[1])


class Nsys:
    """What an nsys export holds."""

    def __init__(self, path):
        db = sqlite3.connect(path)
        tables = {row[0] for row in db.execute("select name from sqlite_master")}
        strings = dict(db.execute("select id, value from StringIds"))
        self.kernels = [(strings[name], end - start) for name, start, end in db.execute(
            "select mangledName, start, end from CUPTI_ACTIVITY_KIND_KERNEL order by start")]
        kinds = dict(db.execute("select id, label from ENUM_CUDA_MEMCPY_OPER"))
        self.copies = collections.Counter(
            (kinds[kind], bytes_) for kind, bytes_ in
            db.execute("select copyKind, bytes from CUPTI_ACTIVITY_KIND_MEMCPY"))
        self.sets = collections.Counter(
            row[0] for row in db.execute("select bytes from CUPTI_ACTIVITY_KIND_MEMSET")) \
            if "CUPTI_ACTIVITY_KIND_MEMSET" in tables else collections.Counter()
        self.ranges = collections.Counter()
        calls = db.execute("""select r.globalTid, r.start, r.end from CUPTI_ACTIVITY_KIND_KERNEL k
                              join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId
                              and r.globalTid >> 24 = k.globalPid >> 24""").fetchall()
        for tid, start, end, text, text_id in db.execute(
                "select globalTid, start, end, text, textId from NVTX_EVENTS where eventType = 59"):
            name = text or strings.get(text_id)
            self.ranges[name] += sum(1 for t, s, e in calls if t == tid and start <= s and e <= end)


class Ours:
    """What `batchlight stats` says of a recording."""

    def __init__(self, program, path):
        self.program, self.path = program, path
        self.kernels, self.copies, self.sets = [], collections.Counter(), collections.Counter()
        for row in self.table("cuda_gpu_trace:mangled"):
            name, duration = row["Name"], int(row["Duration (ns)"])
            if name.startswith("[CUDA mem"):
                bytes_ = round(float(row["Bytes (MB)"]) * 1e6)
                if name == "[CUDA memset]":
                    self.sets[bytes_] += 1
                else:
                    self.copies[name[len("[CUDA memcpy "):-1], bytes_] += 1
            else:
                self.kernels.append((name, duration))
        self.ranges = collections.Counter()
        for row in self.table("nvtx_kern_sum:mangled"):
            if row["NVTX Range"]:  # kernels outside every range are a row of ours
                self.ranges[row["NVTX Range"].lstrip(":")] += int(row["Kern Inst"])

    def table(self, report):
        text = subprocess.run([self.program, "stats", "-r", report, "-f", "csv", self.path],
                              capture_output=True, text=True, check=True).stdout
        lines = text.splitlines()
        first = next((i for i, line in enumerate(lines) if line.count(",") > 3), len(lines))
        return list(csv.DictReader(io.StringIO("\n".join(lines[first:]))))


def by_name(kernels):
    return collections.Counter(name for name, _ in kernels)


def compare(nsys, ours, expected):
    theirs, mine = by_name(nsys.kernels), by_name(ours.kernels)
    different = {name: (theirs[name], mine[name]) for name in theirs | mine
                 if theirs[name] != mine[name]}
    check("kernels by name", not different,
          f"{sum(mine.values())} of {len(mine)} names {different or ''}")
    rounded = collections.Counter()  # nsys counts bytes, stats prints MB with three decimals
    for (kind, bytes_), count in nsys.copies.items():
        rounded[kind, round(round(bytes_ / 1e6, 3) * 1e6)] += count
    check("copies by kind and bytes", rounded == ours.copies,
          f"{sum(ours.copies.values())} {'' if rounded == ours.copies else (rounded, ours.copies)}")
    sets = collections.Counter()
    for bytes_, count in nsys.sets.items():
        sets[round(round(bytes_ / 1e6, 3) * 1e6)] += count
    check("sets", sets == ours.sets, f"{sum(ours.sets.values())}")
    total_theirs, total_mine = (sum(d for _, d in k) for k in (nsys.kernels, ours.kernels))
    check("total kernel time", abs(total_mine / total_theirs - 1) < 0.02,
          f"{total_mine / 1e6:.3f} ms, nsys {total_theirs / 1e6:.3f} ms "
          f"({100 * (total_mine / total_theirs - 1):+.2f} %)")
    ranges = {name: (nsys.ranges[name], ours.ranges[name]) for name in nsys.ranges | ours.ranges
              if nsys.ranges[name] != ours.ranges[name]}
    check("kernels in NVTX ranges", not ranges, f"{dict(ours.ranges)} {ranges or ''}")
    check_spins("nsys", nsys.kernels, None)
    check_spins("batchlight", ours.kernels, expected)


def check_spins(who, kernels, expected):
    # Each measured spin comes after one that keeps the GPU busy while events are queued.
    spins = [duration / 1e3 for name, duration in kernels if "spin_kernel" in name][2::2]
    print(f"         spins of {who}, us: {[round(s, 2) for s in spins]}")
    if expected is None:
        return
    events = expected["spin_event_us"]
    print(f"         CUDA events, us: {[round(s, 2) for s in events]}")
    cycles = expected["spin_cycles"]
    per_cycle = (spins[-1] - spins[0]) / (cycles[-1] - cycles[0])
    off_line = max(abs(s - spins[0] - (c - cycles[0]) * per_cycle) for s, c in zip(spins, cycles))
    check("kernels of known length", off_line < 1.0,
          f"within {off_line:.2f} us of a line, {1e-3 / per_cycle:.3f} GHz")
    beyond = [e - s for e, s in zip(events, spins)]
    check("kernels against CUDA events", max(beyond) - min(beyond) < 1.0,
          f"events are {min(beyond):.2f} to {max(beyond):.2f} us longer")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batchlight", required=True)
    parser.add_argument("--nsys", required=True)
    parser.add_argument("--out", default=tempfile.mkdtemp())
    parser.add_argument("--graph", default="node", choices=["node", "graph"])
    a = parser.parse_args()
    loop = [sys.executable, os.path.join(HERE, "deterministic_loop.py")]
    run([a.nsys, "profile", "-t", "cuda,nvtx", "-s", "none", "--cpuctxsw=none",
         "--cuda-graph-trace=" + a.graph, "-f", "true", "-o", a.out + "/nsys", *loop])
    run([a.nsys, "export", "--type=sqlite", "--force-overwrite=true", "-o", a.out + "/nsys.sqlite",
         a.out + "/nsys.nsys-rep"])
    text = run([a.batchlight, "profile", "-t", "cuda,nvtx", "--control-steps=none",
                "--cuda-graph-trace=" + a.graph, "-f", "true", "-o", a.out + "/ours", "--", *loop])
    compare(Nsys(a.out + "/nsys.sqlite"), Ours(a.batchlight, a.out + "/ours.batchlight"),
            expected_of(text))
    print("all the same" if not failures else f"{len(failures)} differ: {', '.join(failures)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
