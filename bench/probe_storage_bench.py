#!/usr/bin/env python3
"""probe_storage_bench.py FOLDER [ROUNDS]: `batchlight probe storage` beside fio for the same patterns, in turn.

fio reads a file of its own of the same size in the same folder, each of its jobs a part of its own, as the
probe's workers do; cold: it drops the file from the page cache first, warm: it reads it once before. Medians
over the rounds (3), and how far they are apart. Needs fio; BATCHLIGHT_BUILD names the build."""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BATCHLIGHT = os.path.join(os.environ.get("BATCHLIGHT_BUILD", os.path.join(SOURCE, "build", "release")), "bin",
                          "batchlight")
PATTERNS = [(pattern, block, workers, cold)
            for cold in (True, False)
            for pattern in ("sequential read", "random read")
            for block in (4096, 131072, 1048576)
            for workers in (1, 4)]
SECONDS = 90  # of the probe: a second or more for each figure


def rows_of_probe(folder, size):
    done = subprocess.run([BATCHLIGHT, "probe", "storage", folder, "--duration", str(SECONDS), "--workers", "1,4",
                           "--size", str(size), "-f", "json"], stdout=subprocess.PIPE, check=True)
    data = json.loads(done.stdout)
    rows = {(row["pattern"], row["block_bytes"], row["workers"], row.get("cache") == "cold"): row["bytes_per_s"]
            for row in data["measurements"]}
    seconds = {(row["pattern"], row["block_bytes"], row["workers"], row.get("cache") == "cold"):
               row["elapsed_ns"] / 1e9 for row in data["measurements"]}
    return rows, seconds, data["file_bytes"], data["warm_bytes"]


def fio(path, file_bytes, warm_bytes, pattern, block, workers, cold, seconds):
    size = file_bytes if cold else warm_bytes
    part = size // workers // block * block
    words = ["fio", "--output-format=json", "--name=p", "--filename=" + path, "--ioengine=psync",
             "--rw=" + ("read" if pattern == "sequential read" else "randread"), "--bs=%d" % block,
             "--size=%d" % part, "--offset_increment=%d" % part, "--numjobs=%d" % workers, "--group_reporting",
             "--runtime=%dms" % max(200, round(seconds * 1000)), "--invalidate=%d" % cold, "--gtod_reduce=1", "--norandommap"]
    words.append("--thread")  # a process of fio's leaves the session, and with it what /proc/self/autogroup says
    if not cold:
        words.append("--time_based")
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return json.loads(re.sub(rb"^[^{]*", b"", done.stdout))["jobs"][0]["read"]["bw_bytes"]


def main():
    folder = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    size = 2 << 30
    own = tempfile.mkdtemp(prefix="probe-bench-", dir=folder)
    try:
        path = os.path.join(own, "fio-data")
        measured = {case: ([], []) for case in PATTERNS}
        for _ in range(rounds):
            rows, seconds, file_bytes, warm_bytes = rows_of_probe(own, size)
            if not os.path.exists(path) or os.path.getsize(path) != file_bytes:
                subprocess.run(["fio", "--name=w", "--filename=" + path, "--rw=write", "--bs=1M",
                                "--size=%d" % file_bytes, "--end_fsync=1", "--refill_buffers"],
                               stdout=subprocess.DEVNULL, check=True)
            for case in PATTERNS:
                if case not in rows:
                    continue
                if not case[3]:
                    with open(path, "rb") as file:  # into memory, in large pages: random reads left small ones
                        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                        for _ in range(warm_bytes >> 20):
                            file.read(1 << 20)
                measured[case][0].append(rows[case])
                measured[case][1].append(fio(path, file_bytes, warm_bytes, *case, seconds[case]))
        print("| pattern | block | workers | | probe | fio | probe / fio |\n|---|---|---|---|---|---|---|")
        for (pattern, block, workers, cold), (ours, theirs) in measured.items():
            if ours:
                a, b = statistics.median(ours), statistics.median(theirs)
                print("| %s | %d KiB | %d | %s | %.0f MB/s | %.0f MB/s | %.2f |" % (
                    pattern, block >> 10, workers, "cold" if cold else "warm", a / 1e6, b / 1e6, a / b))
    finally:
        shutil.rmtree(own)


if __name__ == "__main__":
    main()
