#!/usr/bin/env python3
"""--stalls on a GPU: what it says of kernels and lines, what it costs, and that it breaks no CUDA graph.

    check_stalls.py BUILD [PYTHON [PATTERN]]

BUILD has bin/batchlight. Takes less than 230 s; what there is no time for is said to be skipped. A line per check;
whatever fails, the next one runs. With a pattern only checks whose name it matches. Exit status 1 if any failed.
"""
import collections
import csv
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import checks
from checks import check, failed, ncu, skipped, started

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
PYTHON = sys.argv[2] if len(sys.argv) > 2 else sys.executable
checks.only = sys.argv[3] if len(sys.argv) > 3 else ""
os.environ["BATCHLIGHT_BUILD"] = BUILD
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "e2e"))
from python_session import LIBRARY, NVTX, PYTHON as BRIDGE, PythonSession  # noqa: E402

LOOP = os.path.join(HERE, "stalls_loop.py")
BATCHLIGHT = os.path.join(BUILD, "bin", "batchlight")
TRACE_CUDA, PHASES = 1 << 5, 1 << 7
LIMIT_S = 228
DRIVER = 1 << 31
CAPTURES = {315: "cudaStreamBeginCapture", 319: "cudaStreamEndCapture", 539 | DRIVER: "cuStreamBeginCapture_v2",
            497 | DRIVER: "cuStreamEndCapture"}
OUT = tempfile.mkdtemp(prefix="batchlight-stalls-")


class Program:
    """What a run of the loop printed."""

    def __init__(self, done):
        self.status, self.error = done.returncode, done.stderr[-700:]
        lines = done.stdout.splitlines()
        steps = [line for line in lines if line.startswith("[[")]
        results = [line for line in lines if line.startswith("{")]
        self.steps = [ms for _, ms in json.loads(steps[-1])] if steps else []
        self.worked_out = json.loads(results[-1]) if results else {}

    def describe(self, name):
        steady = self.steps[30:]
        if steady:
            print(f"  {name}: exit {self.status}, {len(self.steps)} steps, median {statistics.median(steady):.3f} ms, "
                  f"mean {statistics.mean(steady):.3f} ms, longest {sorted(steady)[-4:]}, worked out {self.worked_out}")
        else:
            print(f"  {name}: exit {self.status}, {self.error}")


def alone(*arguments, timeout=60):
    return Program(subprocess.run([PYTHON, LOOP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=timeout))


def profiled(name, *flags, program, timeout=60, verb="profile"):
    """By the tool, as people run it: what the program printed, and the recording."""
    path = os.path.join(OUT, name)
    done = subprocess.run([BATCHLIGHT, verb, "-f", "true", "-o", path, *flags, PYTHON, LOOP, *program],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)
    program = Program(done)
    program.describe(name)
    if done.returncode != 0:
        print("  " + done.stderr[-500:])
    return program, path + ".batchlight"


def table(*words):
    done = subprocess.run([BATCHLIGHT, *words, "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{words} exits {done.returncode}: {done.stderr[-400:]}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


class Windows:
    """Many windows in a row, which the tool never asks a program for: what goes wrong does so here."""

    def __init__(self, *arguments, windows=24, more="", timeout=70):
        extra = f"stalls.windows={windows}\nstalls.first=25\nstalls.share=0\n{more}"
        with PythonSession(trace=NVTX | BRIDGE | PHASES | TRACE_CUDA, extra=extra) as session:
            self.program = Program(session.run(PYTHON, LOOP, *arguments, env={"CUDA_INJECTION64_PATH": LIBRARY},
                                               timeout=timeout))
            self.windows = session.events("StallWindow")
            self.totals = {t.window: t for t in session.events("StallTotals")}
            self.samples = session.events("StallSample")
            self.reasons = [text for feature, text in session.reasons() if feature in ("counters", "cuda")]
            self.captures = collections.Counter(
                CAPTURES[call.call] for call in session.events("CudaCall") if call.call in CAPTURES)

    def describe(self, name):
        self.program.describe(name)
        functions = collections.Counter()
        for s in self.samples:
            if not s.reason.endswith("_not_issued"):
                functions[s.function] += s.samples
        cut = sum(1 for w in self.windows if w.flags & 2)
        switch = [w.switch_ns / 1e6 for w in self.windows] or [0]
        print(f"  {name}: {len(self.windows)} windows, {cut} cut short by a capture, {len(self.totals)} with totals, "
              f"{sum(functions.values())} samples, switch median {statistics.median(switch):.2f} ms, most "
              f"{max(switch):.1f} ms; reasons {self.reasons}; captures {dict(self.captures)}")
        for function, count in functions.most_common(4):
            print(f"    {count:9} {function[:90]}")

    def wrong(self, expected):
        if self.program.status != 0:
            return "THE PROGRAM FAILED"
        if expected != self.program.worked_out:
            return f"the program worked out {self.program.worked_out}, and alone {expected}"
        return None if self.windows else "no windows"


for gpu in subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, text=True).stdout.splitlines()[:1]:
    print(gpu)


@check("a loop of CUDA graphs, captured again between and within windows", 25, LIMIT_S)
def _():
    plain = alone("graph:1")
    plain.describe("alone")
    run = Windows("graph:4")
    run.describe("sampled")
    for one in (plain, run.program):
        one.worked_out.pop("captures", None)  # of as many steps as there was time for
    return run.wrong(plain.worked_out)


@check("torch.compile with CUDA graphs", 50, LIMIT_S)
def _():
    plain = alone("compiled:1")
    plain.describe("alone")
    run = Windows("compiled:2")
    run.describe("sampled")
    return run.wrong(plain.worked_out)


eager, eager_path = None, None


@check("eager: a kernel's share of samples is its share of GPU time", 20, LIMIT_S)
def _():
    global eager, eager_path
    eager, eager_path = profiled("eager", "--stalls", program=["train:5"])
    sampled = {row["Kernel"]: float(row["Share (%)"]) for row in table("kernels", eager_path, "--table", "stalls")}
    timed = {row["Kernel"]: float(row["Share (%)"]) for row in table("table", "kernels", eager_path)}
    far = 0
    for kernel, share in sorted(sampled.items(), key=lambda e: -e[1])[:8]:
        print(f"    {share:5.1f} % of samples {timed.get(kernel, 0):5.1f} % of time  {kernel[:80]}")
        far = max(far, abs(share - timed.get(kernel, 0)))
    print(f"  furthest apart: {far:.2f} points; steps of `table steps`: "
          f"{collections.Counter(row['Kind'] for row in table('table', 'steps', eager_path))}")
    print("  " + "\n  ".join(subprocess.run([BATCHLIGHT, "kernels", eager_path, "--stalls", "--rows", "3"],
                                            stdout=subprocess.PIPE, text=True).stdout[:2500].splitlines()))
    return None if sampled and far < 2 else "no samples" if not sampled else "further than 2 points"


@check("lines of a Triton kernel", 18, LIMIT_S)
def _():
    program, path = profiled("triton", "--stalls", program=["triton:3"])
    rows = [row for row in table("kernels", path, "--table", "lines") if row["Kernel"] == "gather"]
    lines = collections.Counter()
    for row in rows:
        lines[row["Line"]] += float(row["Of Kernel (%)"])
        if float(row["Of Kernel (%)"]) >= 5:
            print(f"    {row['Of Kernel (%)']:>6} % {row['Line']:22} {row['Instruction']:40} {row['Waits Mostly For']} "
                  f"| {row['Source']}")
    of_source = sum(share for line, share in lines.items() if re.fullmatch(r"triton_kernel\.py:\d+", line))
    if program.status != 0:
        return "THE PROGRAM FAILED"
    if not any(row["Source"] == "value = tl.load(table + place)  # far apart" for row in rows):
        return f"lines without their text: {[row['Source'] for row in rows]}"
    return None if of_source > 95 and any(row["Instruction"] for row in rows) else f"{of_source:.0f} % have lines"


PREFIX, RATIO = "smsp__pcsamp_warps_issue_stalled_", "smsp__average_warps_issue_stalled_"
TWIN, PER_ISSUE = "_not_issued", "_per_issue_active"


def shares(counts):
    """In percent, by reason as CUPTI and Nsight Compute both name it."""
    named = collections.Counter()
    for reason, count in counts.items():
        named[{"no_instructions": "no_instruction"}.get(reason, reason)] += count
    whole = sum(named.values())
    return {reason: 100 * count / whole for reason, count in named.items()} if whole else {}


def sampled_shares(run):
    """Of the samples of `gather`, and of those in which the scheduler issued nothing; says what adds up."""
    every, twins = collections.Counter(), collections.Counter()
    for s in run.samples:
        name = s.reason[len(PREFIX):]
        if s.function == "gather":
            (twins if name.endswith(TWIN) else every)[name.removesuffix(TWIN)] += s.samples
    both = sum(s.samples for s in run.samples)
    own = sum(s.samples for s in run.samples if not s.reason.endswith(TWIN))
    hardware = sum(t.samples - t.dropped - t.foreign for t in run.totals.values())
    print(f"  reasons add up to {own}, with their twins to {both}, of {hardware} samples of the hardware that are the "
          f"program's ({len(run.windows)} windows)")
    return shares(every), shares(twins)


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0


def ncu_shares():
    """Of the same launches: samples, those without an issue, and cycles of warps for an instruction."""
    rows = ncu([PYTHON, LOOP, "triton:1"], "--section", "WarpStateStats", "--section", "SourceCounters", "--page", "raw",
               "--print-units", "base", "-k", "regex:gather", "--launch-skip", "200", "--launch-count", "4", "--kill", "yes")
    every, twins, cycles = collections.Counter(), collections.Counter(), collections.Counter()
    for row in rows:
        for name, value in row.items():
            if not row.get("ID") or not value:
                continue
            base = name.split(".")[0].split(" ")[0]
            count = number(value)  # 0: a text, as the host's address
            if base.startswith(PREFIX) and base.endswith(TWIN):
                twins[base[len(PREFIX):-len(TWIN)]] += count
            elif base.startswith(PREFIX):
                every[base[len(PREFIX):]] += count
            elif base.startswith(RATIO) and base.endswith(PER_ISSUE):
                cycles[base[len(RATIO):-len(PER_ISSUE)]] += count
    return shares(every), shares(twins), shares(cycles)


def counted_shares():
    """Of the same kernel by the counters of `kernels --set warp`."""
    _, path = profiled("warp", "--set", "warp", program=["triton:2"], verb="kernels")
    cycles = {}
    for row in table("kernels", path, "-k", "gather", "--table", "counters"):
        if row["Metric"].startswith(RATIO):
            cycles[row["Metric"].split(".")[0][len(RATIO):-len(PER_ISSUE)]] = float(row["Value"])
    return shares(cycles)


def apart(first, second):
    return max((abs(first.get(r, 0) - second.get(r, 0)) for r in {*first, *second}), default=100)


@check("reasons beside Nsight Compute's: samples with samples, cycles with cycles", 70, LIMIT_S)
def _():
    one_by_one, one_by_one_idle = sampled_shares(Windows("triton:3", windows=10))
    continuous, _ = sampled_shares(Windows("triton:3", windows=3, more="stalls.continuous=1\n"))
    theirs, theirs_idle, their_cycles = ncu_shares()
    cycles = counted_shares()
    columns = [("ours", one_by_one), ("ours, continuous", continuous), ("ncu samples", theirs),
               ("ours, not issued", one_by_one_idle), ("ncu not issued", theirs_idle), ("our counters", cycles),
               ("ncu per issue", their_cycles)]
    print("  " + " " * 22 + "".join(f"{name:>18}" for name, _ in columns))
    for reason in sorted({r for _, column in columns for r in column}, key=lambda r: -one_by_one.get(r, 0)):
        print(f"  {reason:22}" + "".join(f"{column.get(reason, 0):17.1f}%" for _, column in columns))
    common = shares({reason: share for reason, share in their_cycles.items() if reason in cycles})
    samples, idle, counts = apart(one_by_one, theirs), apart(one_by_one_idle, theirs_idle), apart(cycles, common)
    print(f"  furthest apart, in points: samples {samples:.1f}, those without an issue {idle:.1f}, counters {counts:.1f}; "
          f"ours one by one and continuous {apart(one_by_one, continuous):.1f}, Nsight Compute's own two "
          f"{apart(theirs, their_cycles):.1f}")
    return None if samples <= 5 and counts <= 5 else "further than 5 points"


@check("step time: alone, recorded, and with --stalls", 22, LIMIT_S)
def _():
    plain = alone("train:4")
    plain.describe("alone")
    recorded, _ = profiled("recorded", program=["train:4"])
    medians = [statistics.median(run.steps[30:]) for run in (plain, recorded, eager) if run is not None]
    means = [statistics.mean(run.steps[30:]) for run in (plain, recorded, eager) if run is not None]
    print(f"  medians alone, recorded, with --stalls: {medians}; means {[round(m, 3) for m in means]} (that of "
          f"--stalls has a window, whose cost is to be 1 % of a run that is long enough)")
    return None if recorded.status == 0 else "the program failed"


@check("the capture of a graph as the first work of a process", 16, LIMIT_S)
def _():
    plain = alone("cold:1")
    plain.describe("alone")
    run = Windows("cold:2")
    run.describe("sampled")
    if plain.status != 0:
        print("  the program fails alone too")
        return None
    return "THE PROGRAM FAILED" if run.program.status != 0 else None


@check("continuous windows within graphs", 12, LIMIT_S)
def _():
    run = Windows("graph:3", more="stalls.continuous=1\n", windows=10)
    run.describe("sampled")
    return "THE PROGRAM FAILED" if run.program.status != 0 else None


print(f"{time.time() - started:.0f} s; failed: {failed}; skipped: {skipped}")
sys.exit(1 if failed else 0)
