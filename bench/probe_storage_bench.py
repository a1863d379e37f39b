#!/usr/bin/env python3
"""probe_storage_bench.py FOLDER [ROUNDS [SECONDS [MIB]]]: the reads of `batchlight probe storage` beside fio's.

Both read the same file of MIB (1024) in FOLDER, in turn, for SECONDS (1) each: the probe by `storage_reads`, which runs
one row of it; fio with jobs that each read a part of their own, no block twice, into a buffer at a page's begin. Cold
reads begin when the file was dropped from the page cache and the disk has nothing left to do. Of reads from memory the
time that fio spends in its own code around them is taken off, by the shares that it prints itself (usr_cpu of usr_cpu and
sys_cpu): a fifth of the time of 4 KiB.

Medians over the rounds (3), the range of probe / fio in a round, and how many bytes of the disk each read for a byte
that it got: the system reads ahead. Needs fio; BATCHLIGHT_BUILD names the build, in which `storage_reads` is built."""
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
STORAGE_READS = os.path.join(os.environ.get("BATCHLIGHT_BUILD", os.path.join(SOURCE, "build", "release")), "bench",
                             "storage_reads")
PATTERNS = [(pattern, block, workers, cold)
            for cold in (True, False)
            for pattern in ("sequential read", "random read")
            for block in (4096, 131072, 1048576)
            for workers in (1, 4)]
REST_BYTES_PER_S = 400e6  # disks of virtual machines give some GB at full speed, then this until they have rested


class Disk:
    """The block device under a file, where the kernel counts for it."""

    def __init__(self, path):
        device = os.stat(path).st_dev
        self._folder = "/sys/dev/block/%d:%d/" % (os.major(device), os.minor(device))
        self.is_counted = os.path.exists(self._folder + "inflight")

    def bytes_read(self):
        with open(self._folder + "stat") as file:
            return int(file.read().split()[2]) * 512

    def wait_until_idle(self):
        """What an earlier reader made the system read ahead goes on after its end, some MiB for each job. Others may
        never let it be idle."""
        quiet, limit = 0, time.time() + 10
        while self.is_counted and quiet < 5 and time.time() < limit:
            time.sleep(0.05)
            with open(self._folder + "inflight") as file:
                quiet = quiet + 1 if file.read().split()[0] == "0" else 0


def probe(folder, size, case, seconds):
    """Bytes a second, and bytes."""
    pattern, block, workers, cold = case
    done = subprocess.run([STORAGE_READS, folder, pattern, str(block), str(workers), "cold" if cold else "warm",
                           str(size), str(seconds)], stdout=subprocess.PIPE, check=True)
    read, elapsed_ns = map(int, done.stdout.split())
    return read / elapsed_ns * 1e9, read


def fio(folder, size, case, seconds):
    """Bytes a second, and bytes; of reads from memory without what it spends around them."""
    path = os.path.join(folder, "data")
    pattern, block, workers, cold = case
    part = size // workers // block * block
    words = ["fio", "--output-format=json", "--name=p", "--filename=" + path, "--ioengine=psync",
             "--rw=" + ("read" if pattern == "sequential read" else "randread"), "--bs=%d" % block,
             "--size=%d" % part, "--offset_increment=%d" % part, "--numjobs=%d" % workers, "--group_reporting",
             "--runtime=%dms" % round(seconds * 1000), "--invalidate=0",
             # None twice without a map of what was read.
             "--random_generator=lfsr", "--norandommap",
             # Else its buffer begins 16 bytes after a page, and copies of 1 MiB take twice as long.
             "--iomem_align=4096",
             # Its processes would leave the session, and with it what /proc/self/autogroup says.
             "--thread"]
    if not cold:
        # Fewer looks at the clock: one in 16 reads. Of a slow disk that would be up to 15 reads too many, which the
        # system has read ahead.
        words += ["--time_based", "--gtod_reduce=1"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    job = json.loads(re.sub(rb"^[^{]*", b"", done.stdout))["jobs"][0]
    rate, read = job["read"]["bw_bytes"], job["read"]["io_bytes"]
    return rate if cold else rate * (job["usr_cpu"] + job["sys_cpu"]) / job["sys_cpu"], read


def prepare(path, disk, cold):
    """Drops the file from memory; for warm reads reads it again in large pages: random reads left small ones."""
    disk.wait_until_idle()
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while not cold and file.read(1 << 20):
            pass


class Measured:
    def __init__(self):
        self.rates, self.disk_shares = [], []

    def add(self, rate, read, from_disk):
        self.rates.append(rate)
        self.disk_shares.append(from_disk / read)


def measure(reader, folder, disk, size, case, seconds, measured):
    prepare(os.path.join(folder, "data"), disk, case[3])
    before = disk.bytes_read() if disk.is_counted else 0
    rate, read = reader(folder, size, case, seconds)
    measured.add(rate, read, disk.bytes_read() - before if disk.is_counted else 0)
    if case[3]:
        time.sleep(read / REST_BYTES_PER_S)


def row_of(case, ours, theirs):
    shares = sorted(a / b for a, b in zip(ours.rates, theirs.rates))
    a, b = statistics.median(ours.rates), statistics.median(theirs.rates)
    disk = "%.2f, %.2f" % (statistics.median(ours.disk_shares), statistics.median(theirs.disk_shares))
    return "| %s | %d KiB | %d | %s | %.0f MB/s | %.0f MB/s | %.2f | %.2f to %.2f | %s |" % (
        case[0], case[1] >> 10, case[2], "cold" if case[3] else "warm", a / 1e6, b / 1e6, a / b, shares[0], shares[-1],
        disk if case[3] else "")


def main():
    numbers = [float(word) for word in sys.argv[2:]]
    rounds, seconds, mib = (numbers + [3, 1, 1024][len(numbers):])
    size = int(mib) << 20
    folder = tempfile.mkdtemp(prefix="probe-bench-", dir=sys.argv[1])
    try:
        subprocess.run(["fio", "--name=w", "--filename=" + os.path.join(folder, "data"), "--rw=write", "--bs=1M",
                        "--size=%d" % size, "--end_fsync=1", "--refill_buffers"], stdout=subprocess.DEVNULL, check=True)
        disk = Disk(folder)
        print("| pattern | block | workers | | probe | fio | probe / fio | in a round | of the disk |\n"
              "|---|---|---|---|---|---|---|---|---|", flush=True)
        for case in PATTERNS:
            measured = {probe: Measured(), fio: Measured()}
            for number in range(int(rounds)):
                for reader in ((probe, fio), (fio, probe))[number % 2]:
                    measure(reader, folder, disk, size, case, seconds, measured[reader])
            print(row_of(case, measured[probe], measured[fio]), flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
