#!/usr/bin/env python3
"""probe_storage_bench.py FOLDER [ROUNDS]: `batchlight probe storage` beside fio for the same patterns, in turn.

fio reads a file of its own of the same size in the same folder, each of its jobs a part of its own and no block
twice, as the probe's workers do, into a buffer at a page's begin; for as long as the probe read, after the file was
dropped from the page cache (cold) or read once from begin to end (warm). What fio spends around a read is measured
with its null engine, which reads nothing, and is taken off: a tenth of the time of 4 KiB from memory.

Medians over the rounds (3), and the range of probe / fio in a round. Needs fio; BATCHLIGHT_BUILD names the build."""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BATCHLIGHT = os.path.join(os.environ.get("BATCHLIGHT_BUILD", os.path.join(SOURCE, "build", "release")), "bin",
                          "batchlight")
PATTERNS = [(pattern, block, workers, cold)
            for cold in (True, False)
            for pattern in ("sequential read", "random read")
            for block in (4096, 131072, 1048576)
            for workers in (1, 4)]
SECONDS = 45  # of the probe: half a second or more for each figure
SIZE = 1 << 30
REST_BYTES_PER_S = 400e6  # disks of virtual machines give some GB at full speed, then this until they have rested


def rows_of_probe(folder):
    done = subprocess.run([BATCHLIGHT, "probe", "storage", folder, "--duration", str(SECONDS), "--workers", "1,4",
                           "--size", str(SIZE), "-f", "json"], stdout=subprocess.PIPE, check=True)
    data = json.loads(done.stdout)
    rows = {(row["pattern"], row["block_bytes"], row["workers"], row.get("cache") == "cold"): row["bytes_per_s"]
            for row in data["measurements"]}
    seconds = {(row["pattern"], row["block_bytes"], row["workers"], row.get("cache") == "cold"):
               row["elapsed_ns"] / 1e9 for row in data["measurements"]}
    return rows, seconds, data["file_bytes"], data["warm_bytes"]


def fio(engine, path, size, pattern, block, workers, cold, seconds):
    """Bytes a second."""
    part = size // workers // block * block
    words = ["fio", "--output-format=json", "--name=p", "--filename=" + path, "--ioengine=" + engine,
             "--rw=" + ("read" if pattern == "sequential read" else "randread"), "--bs=%d" % block,
             "--size=%d" % part, "--offset_increment=%d" % part, "--numjobs=%d" % workers, "--group_reporting",
             "--runtime=%dms" % max(200, round(seconds * 1000)), "--invalidate=0", "--gtod_reduce=1",
             # None twice without a map of what was read.
             "--random_generator=lfsr", "--norandommap",
             # Else its buffer begins 16 bytes after a page, and copies of 1 MiB take twice as long.
             "--iomem_align=4096",
             # Its processes would leave the session, and with it what /proc/self/autogroup says.
             "--thread"]
    if not cold:
        words.append("--time_based")
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return json.loads(re.sub(rb"^[^{]*", b"", done.stdout))["jobs"][0]["read"]["bw_bytes"]


def prepare(path, warm_bytes):
    """Drops the file from memory, then reads so much of it again in large pages: random reads left small ones."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for _ in range(warm_bytes >> 20):
            file.read(1 << 20)


def storage_rate(path, file_bytes, warm_bytes, case, seconds):
    """Of fio, without what it spends around the reads."""
    cold = case[3]
    size = file_bytes if cold else warm_bytes
    prepare(path, 0 if cold else warm_bytes)
    rate = fio("psync", path, size, *case, seconds)
    if cold:
        time.sleep(min(size, rate * seconds) / REST_BYTES_PER_S)
    return 1 / (1 / rate - 1 / fio("null", path, size, *case[:3], False, 0.3))


def main():
    folder = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    own = tempfile.mkdtemp(prefix="probe-bench-", dir=folder)
    try:
        path = os.path.join(own, "fio-data")
        measured = {case: ([], []) for case in PATTERNS}
        for _ in range(rounds):
            time.sleep(3 * SIZE / REST_BYTES_PER_S)
            rows, seconds, file_bytes, warm_bytes = rows_of_probe(own)
            if not os.path.exists(path) or os.path.getsize(path) != file_bytes:
                subprocess.run(["fio", "--name=w", "--filename=" + path, "--rw=write", "--bs=1M",
                                "--size=%d" % file_bytes, "--end_fsync=1", "--refill_buffers"],
                               stdout=subprocess.DEVNULL, check=True)
            for case in PATTERNS:
                if case in rows:
                    measured[case][0].append(rows[case])
                    measured[case][1].append(storage_rate(path, file_bytes, warm_bytes, case, seconds[case]))
        print("| pattern | block | workers | | probe | fio | probe / fio | in a round |\n|---|---|---|---|---|---|---|---|")
        for (pattern, block, workers, cold), (ours, theirs) in measured.items():
            if ours:
                a, b = statistics.median(ours), statistics.median(theirs)
                shares = sorted(x / y for x, y in zip(ours, theirs))
                print("| %s | %d KiB | %d | %s | %.0f MB/s | %.0f MB/s | %.2f | %.2f to %.2f |" % (
                    pattern, block >> 10, workers, "cold" if cold else "warm", a / 1e6, b / 1e6, a / b, shares[0],
                    shares[-1]))
    finally:
        shutil.rmtree(own)


if __name__ == "__main__":
    main()
