#!/usr/bin/env python3
"""stats, import and export on a large nsys export: about 380,000 NVTX and API rows and 57,000
kernels, made from the real one in tests/recordings by repetition, with a distinct text per operator
as nsys writes them with --pytorch=autograd-shapes-nvtx.

    bench/nsys_bench.py [build folder] [repetitions]

nsys 2025.3 took 8.4 s on 16 cores for four reports on a file of this size (its own `stats`).
"""
import lzma
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORDING = os.path.join(SOURCE, "tests", "recordings", "nsys-2025.3", "train5.sqlite.xz")
REPORTS = "nvtx_sum,cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum"
SHIFT_NS = 10_000_000_000
OPERATORS = ("aten::view", "aten::linear", "aten::addmm", "aten::add", "aten::mul", "aten::copy_",
             "aten::to", "aten::empty", "aten::native_layer_norm", "aten::gelu")
TABLES = ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL",
          "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
          "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")


def repeat(database, table, times):
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    (count,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
    for i in range(1, times):
        shown = [f'"{c}"+{i * SHIFT_NS}' if c in ("start", "end") else
                 f'"{c}"+{i * 30000}' if c == "correlationId" else f'"{c}"' for c in columns]
        database.execute(f"INSERT INTO {table} SELECT {','.join(shown)} FROM "
                         f"(SELECT * FROM {table} LIMIT {count})")


def make(path, times):
    with lzma.open(RECORDING) as packed, open(path, "wb") as out:
        shutil.copyfileobj(packed, out)
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous=off")
    for table in TABLES:
        repeat(database, table, times)
    ranges = database.execute("SELECT * FROM NVTX_EVENTS").fetchall()
    (calls,) = database.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()
    inside = (380_000 - calls) // (times * 16)
    rows, number = [], 0
    for i in range(times):
        for row in ranges:
            start, end, rest = row[0] + i * SHIFT_NS, row[1] + i * SHIFT_NS, row[2:]
            if i > 0:
                rows.append((start, end) + rest)
            if row[6] not in ("forward", "backward"):
                continue
            step = (end - start) // (inside + 1)
            for j in range(inside):
                number += 1
                text = (f"{OPERATORS[number % 10]}, seq = {number}, op_id = {number * 3}, sizes = "
                        "[[64, 2, 768], []], input_op_ids = [(373,0), (0,-1)]")
                begin = start + j * step
                rows.append((begin + 1, begin + step - number % 977, 59, None, None, None, text,
                             row[7], None, None, 0) + (None,) * (len(row) - 11))
    rows.sort(key=lambda row: row[0])
    database.executemany(f"INSERT INTO NVTX_EVENTS VALUES ({','.join('?' * len(ranges[0]))})",
                         rows)
    database.commit()
    counts = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
              for table in TABLES + ("NVTX_EVENTS",)]
    database.close()
    return sum(counts)


def measure(*command):
    """The best wall and CPU seconds of five runs."""
    best = None
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or (wall, cpu), (wall, cpu))
    return best


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(SOURCE, "build", "release")
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    program = os.path.join(build, "bin", "batchlight")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.sqlite")
        rows = make(path, times)
        print(f"{rows} rows, {os.path.getsize(path) / 1e6:.1f} MB")
        for name, command in (
                ("stats, four reports", ("stats", "-q", "-f", "csv", "-r", REPORTS, path)),
                ("stats, smallest report (import)",
                 ("stats", "-q", "-f", "csv", "-r", "cuda_gpu_mem_time_sum", path)),
                ("export -t sqlite (import included)",
                 ("export", "-q", "-f", "-t", "sqlite", "-o", path + ".again", path))):
            wall, cpu = measure(program, *command)
            print(f"{name}: {wall:.3f} s, {cpu:.3f} s of CPU, {wall / rows * 1e6:.2f} us a row")


if __name__ == "__main__":
    main()
