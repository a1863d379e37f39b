"""batchlight probe storage: its outputs, and storage that is missing, full, read-only, slow or taken away."""
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from quota_folder import quota_folder
from recorded import BATCHLIGHT, LONG_S, on_terminal, run

QUICK = ["--duration", "3", "--size", "64M", "--workers", "1,2"]
READING = """
import os, sys, time
import batchlight
for step in range(10):
    with batchlight.annotate("step %d" % step):
        for i in range(10):
            with open(os.path.join(sys.argv[1], "%d.bin" % (step * 10 + i)), "rb") as file:
                file.read()
        time.sleep(0.02)
"""
SLOW_BYTES_PER_S = 20 << 20
BINDFS_CREDIT_S = 0.2  # rate_limiter_idle_credit of its sources
OWN_NAMESPACE = ["unshare", "--mount", "--propagation", "private"]


def can_mount():
    return os.geteuid() == 0 and run(*OWN_NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt").returncode == 0


def needs_mounts(test):
    """These need root and a mount namespace: a container often has neither."""
    return unittest.skipUnless(can_mount(), "mounting is not allowed here")(test)


class ProbeStorage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="batchlight-e2e-")
        self.point = tempfile.mkdtemp(prefix="batchlight-e2e-mount-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.rmdir, self.point)  # fails if anything was written beside a mount

    def probe(self, *words, **options):
        return run(BATCHLIGHT, "probe", "storage", *words, **options)

    def mounted(self, mount, *words, start='exec "$@"'):
        """The probe of $P, where the shell commands `mount` have put something in a namespace of its own."""
        return run(*OWN_NAMESPACE, "sh", "-c", mount + " && " + start, "sh", BATCHLIGHT, "probe", "storage",
                   self.point, *words, env=dict(os.environ, P=self.point))

    def assert_left_nothing(self):
        self.assertEqual(os.listdir(self.folder), [])

    def wait_for_files(self):
        limit = time.time() + LONG_S
        while not any(os.path.exists(os.path.join(self.folder, name, "data")) for name in os.listdir(self.folder)):
            self.assertLess(time.time(), limit, "the probe wrote nothing")
            time.sleep(0.02)

    # --- outputs ---

    def test_text_says_what_is_fed_and_how_fast_it_reads(self):
        done = self.probe(self.folder, *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "", "progress is for terminals")
        for part in ("Accelerators fed", "unet3d", "resnet50", "cosmoflow", "each needs 3.18 GB/s",
                     "sequential read 1 MiB, cold", "random read 4 KiB, cold", "small files", "checkpoint", "p50", "p99"):
            self.assertIn(part, done.stdout)
        self.assert_left_nothing()

    def test_json_csv_and_chart(self):
        chart = os.path.join(self.folder, "chart.svg")
        data = json.loads(self.probe(self.folder, *QUICK, "-f", "json").stdout)
        self.assertEqual(data["file_bytes"], 40 << 20)
        self.assertTrue(data["file_system"])
        rows = data["measurements"]
        self.assertEqual({row["workers"] for row in rows}, {1, 2})
        self.assertEqual({row["pattern"] for row in rows if "cache" in row},
                         {"sequential read", "random read", "small files"})
        for row in rows:
            self.assertGreater(row["operations_per_s"], 0)
            self.assertLessEqual(row["p50_ns"], row["p99_ns"])
            if row.get("cache") == "cold":
                self.assertLessEqual(row["in_memory"], 0.01)
        table = list(csv.DictReader(io.StringIO(self.probe(self.folder, *QUICK, "-f", "csv").stdout)))
        self.assertIn("Pattern", table[0])
        self.assertIn("In memory (%)", table[0])
        self.assertGreater(len(table), 20)
        done = self.probe(self.folder, *QUICK, "-f", "svg", "-o", chart)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        with open(chart) as file:
            picture = file.read()
        self.assertIn("rand 4 KiB", picture)
        self.assertRegex(picture, r">[0-9.]+ [kMG]B/s<")

    def test_it_keeps_to_its_time_and_size(self):
        begin = time.time()
        most = 0
        probe = subprocess.Popen([BATCHLIGHT, "probe", "storage", self.folder, "--duration", "4", "--size", "64M"],
                                 stdout=subprocess.DEVNULL)
        while probe.poll() is None:
            used = run("du", "-s", "--block-size=1", self.folder).stdout.split()
            most = max(most, int(used[0]) if used else 0)
            time.sleep(0.1)
        self.assertEqual(probe.returncode, 0)
        self.assertLess(time.time() - begin, 4 + LONG_S)
        self.assertGreater(most, 30 << 20)
        self.assertLess(most, 80 << 20)  # with the blocks of its folder
        self.assert_left_nothing()

    def test_progress_on_a_terminal(self):
        # stderr of on_terminal() is dropped, so let the shell join the two.
        code, output = on_terminal(100, "probe", "storage", self.folder, *QUICK)
        self.assertEqual(code, 0)
        self.assertIn("unet3d", output)

    def test_for_a_recording_without_reads_says_how_to_record_them(self):
        recording = os.path.join(self.folder, "run.batchlight")
        done = run(BATCHLIGHT, "profile", "-t", "nvtx", "-o", recording, "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.probe(self.folder, "--for", recording)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no steps", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_for_a_recording_says_what_its_steps_read(self):
        data = tempfile.mkdtemp(prefix="batchlight-e2e-data-")
        self.addCleanup(shutil.rmtree, data)
        for i in range(100):
            with open(os.path.join(data, "%d.bin" % i), "wb") as file:
                file.write(os.urandom(50_000))
        recording = os.path.join(data, "run.batchlight")
        done = run(BATCHLIGHT, "profile", "-t", "nvtx,osrt", "-o", recording, "/usr/bin/python3", "-c", READING, data)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.probe(self.folder, *QUICK, "--for", recording, "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        reads = json.loads(done.stdout)["run"]
        self.assertEqual(reads["steps"], 10)
        self.assertAlmostEqual(reads["bytes_per_step"], 500_000, delta=60_000)  # of the first step begins before it
        self.assertAlmostEqual(reads["files_per_step"], 10, delta=1)
        self.assertGreater(reads["step_ns"], 20e6)
        self.assertGreater(reads["times_needed"], 0)
        done = self.probe(self.folder, *QUICK, "--for", recording)
        self.assertIn("A step of ", done.stdout)
        self.assertIn("small files", done.stdout.split("Workers")[0])

    # --- faults ---

    def test_path_is_not_there(self):
        done = self.probe(self.folder + "/missing")
        self.assertEqual(done.returncode, 3)
        self.assertIn("missing: No such file or directory; name a folder", done.stderr)

    def test_path_is_a_file(self):
        path = os.path.join(self.folder, "file")
        open(path, "w").close()
        done = self.probe(path)
        self.assertEqual(done.returncode, 3)
        self.assertIn("is no folder", done.stderr)

    def test_wrong_flags(self):
        for words, reason in ((["--size", "x"], "is no size"), (["--size", "1M"], "at least 64 MiB"),
                              (["--workers", "0"], "--workers"), (["--workers", "1,x"], "--workers"),
                              (["--duration", "0"], "--duration"), (["-f", "xml"], "xml")):
            done = self.probe(self.folder, *words)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(reason, done.stderr)
        self.assert_left_nothing()

    @needs_mounts
    def test_read_only_storage(self):
        done = self.mounted("mount -t tmpfs none $P && mount -o remount,ro $P")
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot write below %s: Read-only file system" % self.point, done.stderr)

    @needs_mounts
    def test_full_storage(self):
        done = self.mounted("mount -t tmpfs -o size=20m none $P")
        self.assertEqual(done.returncode, 3)
        self.assertIn("%s has 20 MiB free; the probe uses at most half of that" % self.point, done.stderr)

    @needs_mounts
    def test_storage_in_memory_is_never_called_cold(self):
        done = self.mounted("mount -t tmpfs -o size=400m none $P", *QUICK, "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(done.stdout)
        self.assertEqual(data["file_system"], "tmpfs")
        self.assertEqual({row["cache"] for row in data["measurements"] if "cache" in row}, {"warm"})
        self.assertTrue(any("nothing could be read cold" in note for note in data["notes"]), data["notes"])
        for row in data["accelerators"]:
            self.assertNotIn("accelerators", row)

    @needs_mounts
    def test_no_room_for_more_inodes(self):
        done = self.mounted("mount -t tmpfs -o size=400m,nr_inodes=60 none $P", *QUICK,
                            "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(done.stdout)
        self.assertTrue(any("No space left" in note for note in data["notes"]), data["notes"])
        self.assertTrue(any(row["pattern"] == "sequential read" for row in data["measurements"]))

    def test_limit_of_a_file(self):
        # In units of 512 bytes. A write fails long before the storage is full.
        done = run("sh", "-c", 'ulimit -f 81920; exec "$@"', "sh", BATCHLIGHT, "probe", "storage", self.folder,
                   "--duration", "3", "--size", "256M", "--workers", "1", "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(done.stdout)
        self.assertLessEqual(data["file_bytes"], 25 << 20)
        self.assertTrue(any("File too large" in note for note in data["notes"]), data["notes"])
        self.assert_left_nothing()

    def test_quota(self):
        own = quota_folder(self, self.folder, 30)
        done = self.probe(own, "--duration", "15", "--size", "128M", "--workers", "1", "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(done.stdout)
        self.assertTrue(any("quota" in note.lower() for note in data["notes"]), data["notes"])
        self.assertLessEqual(data["file_bytes"], 25 << 20)
        self.assertEqual(os.listdir(own), [], "nothing is left to fill it")

    @needs_mounts
    def test_slow_storage(self):
        if shutil.which("bindfs") is None:
            self.skipTest("no bindfs: apt-get install bindfs")
        for seconds in (6, 20, 60):  # a busy machine writes less in the first fifth than the probe reads
            begin = time.time()
            done = self.mounted("bindfs --read-rate=%d --write-rate=30M %s $P" % (SLOW_BYTES_PER_S, self.folder),
                                "--duration", str(seconds), "--size", "96M", "--workers", "1,2", "-f", "json")
            if "a longer --duration helps" not in done.stderr:
                break
        if "bindfs" in done.stderr or "fuse" in done.stderr:
            self.skipTest("no FUSE here: " + done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(time.time() - begin, seconds + LONG_S)
        data = json.loads(done.stdout)
        cold = [row for row in data["measurements"] if row.get("cache") == "cold" and row["pattern"] != "small files"]
        self.assertTrue(cold)
        for row in cold:
            # The rate alone has no bound on a busy machine: bindfs gives BINDFS_CREDIT_S of its rate at once,
            # which is most of a short row, and workers that start apart together take longer than each. The
            # bytes have one: the rate over all workers' time, with the credit and what was in memory.
            seconds = row["elapsed_ns"] / 1e9
            most = SLOW_BYTES_PER_S * (row["workers"] * seconds + BINDFS_CREDIT_S) + 0.01 * data["file_bytes"]
            self.assertLessEqual(row["bytes_per_s"] * seconds, most, row)
        self.assert_left_nothing()

    # --- interrupted ---

    def test_signals_end_it_and_nothing_is_left(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            probe = subprocess.Popen([BATCHLIGHT, "probe", "storage", self.folder], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, universal_newlines=True)
            self.wait_for_files()
            probe.send_signal(number)
            output, error = probe.communicate(timeout=LONG_S)
            self.assertEqual(probe.returncode, 128 + number, error)
            self.assertIn("interrupted", error)
            self.assertEqual(output, "")
            self.assert_left_nothing()

    def test_after_sigkill_no_worker_runs_and_the_next_probe_cleans(self):
        probe = subprocess.Popen([BATCHLIGHT, "probe", "storage", self.folder], stdout=subprocess.DEVNULL)
        self.wait_for_files()
        probe.kill()
        probe.wait()
        self.assertEqual(len(os.listdir(self.folder)), 1, "nobody could remove it")
        left = os.path.join(self.folder, os.listdir(self.folder)[0])
        limit = time.time() + LONG_S
        while run("fuser", left).returncode == 0 or run("fuser", left + "/data").returncode == 0:
            self.assertLess(time.time(), limit, "a worker outlived the probe")
            time.sleep(0.05)
        self.assertEqual(self.probe(self.folder, *QUICK).returncode, 0)
        self.assert_left_nothing()


if __name__ == "__main__":
    if sys.platform == "linux":
        unittest.main()
