#!/usr/bin/env python3
"""Hardware counters on a GPU: what they say of work whose counts are known, and what they cost.

    check_counters.py BUILD [PYTHON]

BUILD has lib/libbatchlight_inject.so, lib/batchlight/host_query and share/batchlight/python. A line per
check; whatever fails, the next one runs. Exit status 1 if any check failed.
"""
import json
import os
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
PYTHON = sys.argv[2] if len(sys.argv) > 2 else sys.executable
os.environ["BATCHLIGHT_BUILD"] = BUILD
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "e2e"))
from python_session import LIBRARY, NVTX, PYTHON as BRIDGE, PythonSession  # noqa: E402

HOST_QUERY = os.path.join(BUILD, "lib", "batchlight", "host_query")
LOOP = os.path.join(HERE, "counters_loop.py")
TRACE_CUDA = 1 << 5
failed = []

ALWAYS = ["gpu__time_duration.sum", "sm__cycles_elapsed.avg.per_second"]
ESSENTIALS = [
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "dram__bytes_read.sum",
    "dram__bytes_write.sum", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed.sum",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "lts__t_sectors.sum", "l1tex__t_sector_hit_rate.pct"]
FLOPS = ["sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_fp8.sum"]
SAMPLED = ["sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
           "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
           "sm__warps_active.avg.pct_of_peak_sustained_elapsed",
           "dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
           "dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
           "gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
           "lts__t_sectors.sum", "pcie__read_bytes.sum.per_second", "pcie__write_bytes.sum.per_second",
           "nvlrx__bytes.sum.per_second", "nvltx__bytes.sum.per_second",
           "gpc__cycles_elapsed.avg.per_second"]
PHASES = 1 << 7


def plan(sets, **options):
    """The lines of a plan, each set in the passes that the planner finds for it."""
    lines = []
    for name, metrics in sets:
        text = host("counters", "-", "plan", "range", "-", *["+" + metric for metric in ALWAYS], *metrics)
        passes = [line[5:] for line in text.splitlines() if line.startswith("pass=")]
        print(f"  {name}: {len(passes)} passes; " + "; ".join(
            line for line in text.splitlines() if not line.startswith(("pass=", "cupti="))))
        lines += [f"counters.pass={name} {i + 1}={names}" for i, names in enumerate(passes)]
    return "\n".join(lines + [f"counters.{key}={value}" for key, value in options.items()]) + "\n"


class Run:
    """One run of the loop, recorded."""

    def __init__(self, *arguments, extra="", timeout=40):
        with PythonSession(trace=NVTX | BRIDGE | PHASES | TRACE_CUDA, extra=extra) as session:
            begin = time.time()
            done = session.run(PYTHON, LOOP, *arguments, env={"CUDA_INJECTION64_PATH": LIBRARY},
                               timeout=timeout)
            self.seconds = time.time() - begin
            self.status, self.error = done.returncode, done.stderr[-400:]
            self.steps = json.loads(done.stdout) if done.returncode == 0 else []
            self.ranges = session.events("CounterRange")
            self.reasons = session.reasons()
            self.values = {}
            for value in session.events("CounterValue"):
                self.values.setdefault((value.range, value.kernel), {})[value.metric] = value.value

    def describe(self):
        print(f"  exit {self.status}, {self.seconds:.1f} s, {len(self.ranges)} ranges, {len(self.values)} "
              f"with values, reasons {self.reasons} {self.error}")
        for kind in dict.fromkeys(kind for kind, _ in self.steps):
            times = sorted(ms for k, ms in self.steps if k == kind)
            print(f"  {kind}: {len(times)} steps, median {times[len(times) // 2]} ms, longest {times[-8:]}")
        for r in self.ranges:
            values = self.values.get((r.range, 0), {})
            print(f"   {r.range} {r.counter_set} iteration {r.iteration} kernels {r.kernels} switch "
                  f"{r.switch_ns / 1e6:.1f} ms: " + " ".join(
                      f"{name.split('.')[0]}={value:.6g}" for name, value in values.items()))


def check(name):
    def run(function):
        print(f"== {name}", flush=True)
        try:
            wrong = function()
        except Exception as error:  # the next one is tried all the same
            wrong = f"{type(error).__name__}: {error}"
        print(f"{'FAILED' if wrong else 'ok'}: {name}{': ' + str(wrong) if wrong else ''}", flush=True)
        if wrong:
            failed.append(name)
    return run


def host(*words, **options):
    done = subprocess.run([HOST_QUERY, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=100, **options)
    return done.stdout


@check("counters of whole steps")
def _():
    extra = plan([("essentials", ESSENTIALS), ("flops", FLOPS)], first=5, steps=2, share=400000)
    run = Run("gemm:3.5", "copy:3", "train:4", extra=extra)
    run.describe()
    flops = [v[FLOPS[0]] for v in run.values.values() if FLOPS[0] in v and v[FLOPS[0]] > 0]
    read = [v["dram__bytes_read.sum"] for v in run.values.values() if "dram__bytes_read.sum" in v]
    exact = 10 * 2 * 4096 ** 3
    near = [f for f in flops if abs(f / exact - 1) < 0.01]
    gibs = [r for r in read if abs(r / (1 << 30) - 1) < 0.02]
    print(f"  {len(near)} of {len(flops)} have the operations of ten products, {len(gibs)} of {len(read)} read "
          f"1 GiB")
    return None if near and gibs else "no step has what is known of it"


def frames(data):
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, data[at + 8:at + 8 + size]
        at += 8 + size


def sample(interval_ns, names, *work):
    """Samples while the loop works: (metrics by source, samples by source, frames lost)."""
    sampler = subprocess.Popen([HOST_QUERY, "sample", "-", "all", str(interval_ns), *names],
                               stdin=subprocess.PIPE, stdout=open("/tmp/frames.bin", "wb"))
    begin = time.time()
    loop = subprocess.Popen([PYTHON, LOOP, *work], stdout=subprocess.PIPE, text=True)
    text, _ = loop.communicate(timeout=40)
    train_s = time.time() - begin
    stat = open(f"/proc/{sampler.pid}/stat").read().rsplit(")", 1)[1].split()
    cpu_s = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    alive_s = time.time() - begin
    sampler.stdin.close()
    code = sampler.wait(10)
    metrics, samples, reasons, lost = {}, {}, [], 0
    for kind, body in frames(open("/tmp/frames.bin", "rb").read()):
        if kind == 1:
            interval, device, source = struct.unpack_from("<QII", body)
            metrics.setdefault((device, source), []).append(body[16:].split(b"\0")[:3])
        elif kind == 2:
            start, device, source = struct.unpack_from("<QII", body)
            samples.setdefault((device, source), []).append(
                (start, struct.unpack(f"<{(len(body) - 16) // 4}f", body[16:])))
        elif kind == 3:
            reasons.append(body.decode())
        else:
            lost += 1
    times = [ms for _, ms in json.loads(text)]
    print(f"  sampler exit {code}, {cpu_s:.2f} s of processor in {alive_s:.1f} s; lost {lost}; reasons {reasons}; "
          f"training {train_s:.1f} s, median step {sorted(times)[len(times) // 2]} ms")
    for key, names_of in metrics.items():
        rows = samples.get(key, [])
        gaps = [b[0] - a[0] for a, b in zip(rows, rows[1:])]
        print(f"  device {key[0]} source {key[1]}: {len(names_of)} metrics, {len(rows)} samples over "
              f"{(rows[-1][0] - rows[0][0]) / 1e9 if rows else 0:.2f} s, gaps over 1.5 intervals "
              f"{sum(gap > 1.5 * interval_ns for gap in gaps)}, last sample "
              f"{(time.monotonic_ns() - rows[-1][0]) / 1e9 if rows else 0:.2f} s ago")
        for i, name in enumerate(names_of):
            column = [row[1][i] for row in rows]
            known = [value for value in column if value == value]
            print(f"    {name[1].decode()} [{name[2].decode()}] mean "
                  f"{sum(known) / len(known) if known else float('nan'):.4g} max "
                  f"{max(known) if known else float('nan'):.4g} nan {len(column) - len(known)}")
    return metrics, samples, lost


@check("metrics over time")
def _():
    _, samples, lost = sample(1_000_000, SAMPLED, "gemm:1", "copy:1", "train:3")
    return None if samples.get((0, 1)) and not lost else f"no samples or lost {lost}"


@check("each kernel of a step")
def _():
    run = Run("train:6", extra=plan([("essentials", ESSENTIALS)], first=5, kernels=1000))
    run.describe()
    for key in sorted(run.values)[:4]:
        print("  ", key, run.values[key])
    return None if len(run.values) > 100 else "no values"


print("failed:", failed)
sys.exit(1 if failed else 0)
