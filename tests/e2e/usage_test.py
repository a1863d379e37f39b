"""What processes and the machine use: the numbers are those that the program's own system calls tell;
memory_profiler reads the export; traces and the timeline have the counters."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from readers_test import PYTHON as READERS_PYTHON  # noqa: E402
from recorded import BATCHLIGHT, SOURCE, run  # noqa: E402

DEBIAN = "/usr/bin/python3"
PROGRAM = os.path.join(SOURCE, "tests", "e2e", "usage_program.py")
READER = os.path.join(SOURCE, "tests", "e2e", "readers", "mprof_file.py")
MIB = 1 << 20
SECOND = 10 ** 9


class Usage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="bl_usage_", dir="/var/tmp")  # on a disk
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.recording = os.path.join(cls.folder, "run.batchlight")
        done = run(BATCHLIGHT, "profile", "-o", cls.recording, DEBIAN, PROGRAM, "1",
                   cwd=cls.folder)
        assert done.returncode == 0, done.stderr
        cls.said = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
        cls.rows = {row["PID"]: row for row in cls.table("process_usage")}

    @classmethod
    def table(cls, name):
        done = run(BATCHLIGHT, "table", name, "-f", "json", cls.recording)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def export(self, kind):
        path = os.path.join(self.folder, "out." + kind)
        done = run(BATCHLIGHT, "export", "-q", "-f", "-t", kind, "-o", path, self.recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_processor_time_is_that_of_getrusage(self):
        row = self.rows[self.said["pid"]]
        ours = (row["User (ns)"] + row["System (ns)"]) / SECOND
        # After it asked, it ends.
        self.assertAlmostEqual(ours, self.said["cpu_s"], delta=0.15 + 0.05 * self.said["cpu_s"])
        self.assertGreater(row["Processors"], 0.1)
        self.assertEqual(row["Allowed"], len(os.sched_getaffinity(0)))

    def test_summary_has_memory_that_no_look_saw(self):
        path = os.path.join(self.folder, "brief.batchlight")
        code = ("import resource; block = bytearray(300 << 20); del block;"
                "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
        done = run(BATCHLIGHT, "profile", "-o", path, DEBIAN, "-c", code, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        peak_kib = int(done.stdout.split()[0])
        self.assertIn("at most %.3g MiB of memory in a process" % (peak_kib / 1024),
                      done.stdout + done.stderr)

    def test_memory_is_what_was_held(self):
        row = self.rows[self.said["pid"]]
        self.assertGreater(row["Peak Memory (B)"], 256 * MIB)
        self.assertLess(row["Peak Memory (B)"], self.said["peak_kib"] * 1024 + 2 * MIB)
        self.assertLess(row["Last Memory (B)"], row["Peak Memory (B)"] - 200 * MIB)

    def test_bytes_to_disks_are_those_of_the_kernel(self):
        written = self.rows[self.said["pid"]]["Written (B)"]
        if self.said["written"] < 32 * MIB:
            self.skipTest("no disk below /var/tmp")
        self.assertGreaterEqual(written, 32 * MIB)
        self.assertLess(abs(written - self.said["written"]), 8 * MIB)

    def test_a_child_that_records_nothing_is_there(self):
        row = self.rows[self.said["child"]]
        self.assertGreater((row["User (ns)"] + row["System (ns)"]) / SECOND, 0.2)
        self.assertGreater(row["Peak Memory (B)"], 64 * MIB)

    def test_the_machine_has_what_the_program_used(self):
        (row,) = self.table("machine_usage")
        self.assertEqual(row["Processors"], len(os.sched_getaffinity(0)))
        self.assertGreater(row["Program"], 0.1)
        self.assertLess(row["Recorder"], row["Processors"])
        self.assertGreater(row["Time (ns)"], 1.5 * SECOND)

    def test_the_summary_says_it(self):
        done = run(BATCHLIGHT, "summary", self.recording)
        self.assertRegex(done.stdout, r"used [\d.]+ of \d+ processors?, at most \d+ MiB of memory")

    def test_traces_have_counters(self):
        with open(self.export("chrome"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        memory = [event for event in events if event["ph"] == "C" and
                  event["name"] == "resident memory, bytes" and event["pid"] == self.said["pid"]]
        self.assertGreater(max(event["args"]["value"] for event in memory), 256 * MIB)
        names = {event["name"] for event in events if event["ph"] == "C"}
        self.assertLessEqual({"processors used, %", "processors busy, %"}, names)
        with open(self.export("perfetto"), "rb") as file:
            trace = file.read()
        for name in (b"resident memory, bytes", b"machine: processors busy, %"):
            self.assertIn(name, trace)

    def test_memory_profiler_reads_the_export(self):
        if not os.path.exists(READERS_PYTHON) or run(READERS_PYTHON, "-c", "import memory_profiler").returncode != 0:
            self.skipTest("no memory_profiler in the readers' environment")
        done = run(READERS_PYTHON, READER, self.export("mprof"))
        self.assertEqual(done.returncode, 0, done.stderr)
        read = json.loads(done.stdout)
        self.assertIn("usage_program.py", read["cmd_line"])
        self.assertGreater(max(read["mem_usage"]), 256)
        self.assertEqual(read["timestamp"], sorted(read["timestamp"]))
        self.assertEqual(set(read["func_timestamp"]), {"fill_memory", "write", "rest"})
        ((begin, end, before, after),) = read["func_timestamp"]["fill_memory"]
        self.assertGreater(end - begin, 0.3)
        self.assertGreater(after - before, 150)
        (child,) = read["children"].values()
        self.assertGreater(max(memory for memory, _ in child), 64)

    def test_windows_have_looks_at_their_edges(self):
        """A capture that is shorter than the time between looks has its two."""
        path = os.path.join(self.folder, "short.batchlight")
        done = run(BATCHLIGHT, "profile", "-o", path, "--delay", "0.5", "--duration", "0.05",
                   "--kill=none", DEBIAN, "-c", "import time; time.sleep(1)")
        self.assertEqual(done.returncode, 0, done.stderr)
        dump = run(BATCHLIGHT, "trace", "dump", path).stdout
        self.assertGreaterEqual(dump.count("MachineUsage"), 2)
        self.assertGreaterEqual(dump.count("ProcessUsage"), 2)

    def test_programs_that_end_between_two_looks_are_the_program_s(self):
        """A loop that starts a short program in each step, as `ps` by subprocess."""
        code = ("import json, resource, subprocess, sys\n"
                "burn = 'import time\\nwhile time.process_time() < 0.05: pass'\n"
                "for step in range(40): subprocess.run([sys.executable, '-ISc', burn], check=True)\n"
                "used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]\n"
                "print(json.dumps([u.ru_utime + u.ru_stime for u in used]))\n")
        path = os.path.join(self.folder, "ended.batchlight")
        done = run(BATCHLIGHT, "profile", "-t", "none", "-o", path, DEBIAN, "-c", code)
        self.assertEqual(done.returncode, 0, done.stderr)
        own_s, children_s = json.loads(done.stdout.splitlines()[0])
        self.assertGreater(children_s, 2)
        rows = json.loads(run(BATCHLIGHT, "table", "process_usage", "-f", "json", path).stdout)
        told_s = sum(row["User (ns)"] + row["System (ns)"] for row in rows) / SECOND
        # What was used before the first look is in none.
        self.assertAlmostEqual(told_s, own_s + children_s, delta=0.15 * (own_s + children_s) + 0.1)
        for row in rows:
            self.assertLessEqual(row["Most Processors"], row["Allowed"] + 0.5)

    def test_a_script_that_ends_with_its_program_has_its_time_once(self):
        code = ("import os, time\n"
                "while time.process_time() < 2: pass\n"
                "print(sum(os.times()[:2]))\n")
        path = os.path.join(self.folder, "levels.batchlight")
        done = run(BATCHLIGHT, "profile", "-t", "none", "-o", path, "sh", "-c",
                   '(sh -c "$0 -ISc \'$1\'; true"; true); sleep 1', DEBIAN, code)
        self.assertEqual(done.returncode, 0, done.stderr)
        used_s = float(done.stdout.splitlines()[0])
        rows = json.loads(run(BATCHLIGHT, "table", "process_usage", "-f", "json", path).stdout)
        told_s = sum(row["User (ns)"] + row["System (ns)"] for row in rows) / SECOND
        self.assertAlmostEqual(told_s, used_s, delta=1)

    def test_others_on_the_machine_are_no_part_of_the_program(self):
        """Spinners outside of the run count as others, those inside as the program."""
        spin = "import time\nt = time.time()\nwhile time.time() - t < 60: pass"
        processor = str(min(os.sched_getaffinity(0)))
        outside = subprocess.Popen(["taskset", "-c", processor, DEBIAN, "-c", spin])
        try:
            path = os.path.join(self.folder, "others.batchlight")
            done = run("taskset", "-c", processor, BATCHLIGHT, "profile", "-o", path, DEBIAN,
                       "-c", spin.replace("60", "2.5"))
            self.assertEqual(done.returncode, 0, done.stderr)
        finally:
            outside.send_signal(signal.SIGKILL)
            outside.wait()
        done = run(BATCHLIGHT, "table", "machine_usage", "-f", "json", path)
        (row,) = json.loads(done.stdout)
        self.assertEqual(row["Processors"], 1)
        self.assertGreater(row["Others"], 0.2)
        self.assertGreater(row["Program"], 0.05)
        (process,) = json.loads(run(BATCHLIGHT, "table", "process_usage", "-f", "json", path).stdout)
        self.assertGreater(process["First Waited (ns)"], 0.2 * SECOND)
        self.assertIn("other programs used", run(BATCHLIGHT, "summary", path).stdout)


if __name__ == "__main__":
    unittest.main()
