"""Other programs read our exports: Holistic Trace Analysis, PyTorch's TensorBoard plugin, nsys-ai.
They get from an export of a torch.profiler trace what they get from the trace, and from a recording
the numbers that we have.

They are in an environment that tools/install_readers.sh makes (test.sh runs it); without it the tests
are skipped, and say so."""
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from recorded import BATCHLIGHT, BUILD, SOURCE, run

READERS = os.environ.get("BATCHLIGHT_READERS", os.path.join(os.path.dirname(BUILD), "readers"))
PYTHON = os.path.join(READERS, "bin", "python")
SCRIPTS = os.path.join(SOURCE, "tests", "e2e", "readers")
KINETO = os.path.join(SOURCE, "tests", "kineto", "h200")
TWO_RANKS = os.path.join(SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")
US = 1e-3


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="bl_readers_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    @classmethod
    def export(cls, kind, name, *words):
        path = os.path.join(cls.folder, name)
        done = run(BATCHLIGHT, "export", "-q", "-t", kind, "-o", path, *words)
        assert done.returncode == 0, done.stderr
        return path

    @classmethod
    def read(cls, script, *words):
        done = run(PYTHON, os.path.join(SCRIPTS, script), *words, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @classmethod
    def rows(cls, *words):
        done = run(BATCHLIGHT, *words, "-f", "csv")
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def same(self, ours, theirs, places, where=""):
        """Equal but for the last digit of a time: PyTorch writes doubles, we write nanoseconds."""
        self.assertIs(type(ours), type(theirs), where)
        if isinstance(ours, dict):
            self.assertEqual(sorted(ours), sorted(theirs), where)
            for key in ours:
                self.same(ours[key], theirs[key], places, "%s %s" % (where, key))
        elif isinstance(ours, list):
            self.assertEqual(len(ours), len(theirs), where)
            for i, (a, b) in enumerate(zip(ours, theirs)):
                self.same(a, b, places, "%s %d" % (where, i))
        elif isinstance(ours, float):
            self.assertAlmostEqual(ours, theirs, delta=places, msg=where)
        else:
            self.assertEqual(ours, theirs, where)


class HolisticTraceAnalysis(Readers):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        traces, exports = (os.path.join(cls.folder, name) for name in ("traces", "exports"))
        for folder in (traces, exports):
            os.mkdir(folder)
        for rank in (0, 1):
            source = os.path.join(KINETO, "rank_%d.json.gz" % rank)
            with gzip.open(source) as packed, \
                    open(os.path.join(traces, "rank_%d.json" % rank), "wb") as out:
                shutil.copyfileobj(packed, out)
            cls.export("chrome", os.path.join("exports", "rank_%d.json" % rank), source)
        cls.recording = cls.export("chrome", "recording", "--per-rank", TWO_RANKS)
        found = cls.read("hta_numbers.py", traces, exports, cls.recording)
        cls.of_trace, cls.of_export = found[traces], found[exports]
        cls.of_recording = found[cls.recording]

    def test_exports_of_traces_say_what_the_traces_say(self):
        for what in ("temporal", "overlap", "kinds", "queue"):
            self.same(self.of_export[what], self.of_trace[what], 1, what)
        key = lambda row: row["correlation"]
        self.same(sorted(self.of_export["launches"], key=key),
                  sorted(self.of_trace["launches"], key=key), 0.6, "launches")

    def test_critical_path(self):
        self.assertTrue(self.of_export["critical_path"]["ok"])
        self.assertEqual(self.of_export["critical_path"]["nodes"],
                         self.of_trace["critical_path"]["nodes"])
        self.same(self.of_export["critical_path"]["bound_by"],
                  self.of_trace["critical_path"]["bound_by"], 2, "critical path")
        # A recording in which the streams that wait are not known.
        self.assertTrue(self.of_recording["critical_path"]["ok"])
        self.assertGreater(sum(self.of_recording["critical_path"]["bound_by"].values()), 100)

    def test_communication_of_a_recording(self):
        """HTA leaves out the last step with all that follows, and counts whole microseconds of each
        stretch: 17,869 us of the 18,887 us that NCCL's kernels take."""
        last_step = {}
        for row in self.rows("table", "steps", TWO_RANKS):
            rank = int(row["Rank"])
            last_step[rank] = max(last_step.get(rank, 0), int(row["Start (ns)"]))
        all_ns, kept_us = 0, 0
        for row in self.rows("stats", "-q", "-r", "cuda_gpu_trace", TWO_RANKS):
            if not row["Name"].startswith("ncclDevKernel"):
                continue
            duration = int(row["Duration (ns)"])
            all_ns += duration
            rank = {"0": 0, "1": 1}[re.search(r"\((\d)\)$", row["Device"])[1]]
            if int(row["Start (ns)"]) < last_step[rank]:
                kept_us += duration // 1000
        self.assertEqual(all_ns // 1000, 18887)
        theirs = {row["kernel_type"]: row["sum"] for row in self.of_recording["kinds"]}
        self.assertAlmostEqual(theirs["COMMUNICATION"], kept_us, delta=1)

    def test_launches_of_a_recording(self):
        """Of each kernel: the call, the execution, and the wait between them."""
        ours = {}
        for row in self.rows("stats", "-q", "-r", "cuda_kern_exec_trace", TWO_RANKS):
            if row["DevId"] == "0":
                ours.setdefault((round(int(row["API Dur (ns)"]) * US, 3),
                                 round(int(row["Kernel Dur (ns)"]) * US, 3)), []).append(
                    int(row["Kernel Start (ns)"]) - int(row["API Start (ns)"])
                    - int(row["API Dur (ns)"]))
        matched = 0
        for row in self.of_recording["launches"]:
            key = (round(row["cpu_duration"], 3), round(row["gpu_duration"], 3))
            if key in ours:
                matched += 1
                delays = [max(0, delay) * US for delay in ours[key]]
                self.assertLess(min(abs(delay - row["launch_delay"]) for delay in delays), 0.6, row)
        self.assertGreater(matched, 100)  # HTA leaves out launches by the driver's calls: NCCL's


class TensorBoardPlugin(Readers):
    def test_exports_of_traces_say_what_the_traces_say(self):
        trace = os.path.join(self.folder, "trace.json")
        source = os.path.join(KINETO, "rank_0.json.gz")
        with gzip.open(source) as packed, open(trace, "wb") as out:
            shutil.copyfileobj(packed, out)
        theirs, ours = self.read("tb_numbers.py", trace, self.export("chrome", "out.json", source))
        self.assertEqual(set(ours["steps"]), {"3", "4", "5"})  # on the CPU and on each stream
        for what in ("steps", "devices", "kernels"):
            self.same(ours[what], theirs[what], 5, what)
        self.same(ours["costs"], theirs["costs"], 10, "costs")
        names = lambda rows: {row[0]: row[1] for row in rows}
        self.assertEqual(names(ours["operators"]), names(theirs["operators"]))


class NsysAi(Readers):
    """Skills on `export -t sqlite`, beside our reports."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.database = cls.export("sqlite", "ranks.sqlite", TWO_RANKS)

    def skill(self, name):
        done = run(PYTHON, "-m", "nsys_ai", "skill", "run", "--format", "json", "--no-cache", name,
                   self.database, env=dict(os.environ, HOME=self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_top_kernels(self):
        ours = {row["Name"]: row for row in
                self.rows("stats", "-q", "-r", "cuda_gpu_kern_sum", self.database)}
        found = self.skill("top_kernels")
        self.assertGreater(len(found), 5)
        for row in found:
            own = ours[row["kernel_name"]]
            self.assertEqual(row["invocations"], int(own["Instances"]))
            self.assertAlmostEqual(row["total_ms"], int(own["Total Time (ns)"]) / 1e6, delta=0.006)

    def test_memory_transfers(self):
        ours = {row["Operation"]: row for row in
                self.rows("stats", "-q", "-r", "cuda_gpu_mem_time_sum", self.database)}
        kinds = {1: "Host-to-Device", 2: "Device-to-Host", 8: "Device-to-Device"}
        for row in self.skill("memory_transfers"):
            own = ours["[CUDA memcpy %s]" % kinds[row["copyKind"]]]
            self.assertEqual(row["count"], int(own["Count"]))
            self.assertAlmostEqual(row["total_ms"], int(own["Total Time (ns)"]) / 1e6, delta=0.006)

    def test_overlap_and_collectives(self):
        overlap = self.skill("overlap_breakdown")[0]
        self.assertEqual(overlap["overlap_ms"], 0)
        self.assertEqual((overlap["compute_kernels"], overlap["nccl_kernels"]), (142, 16))
        calls = {}
        for row in self.skill("nccl_breakdown"):
            calls[row["type"]] = calls.get(row["type"], 0) + row["count"]
        self.assertEqual(calls["allreduce"], 11)

    def test_kinds_of_waits(self):
        found = self.skill("sync_cost_analysis")[0]["sync_by_type_ms"]
        self.assertEqual(len(found), 4)


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        print("skipped: no other readers in %s (tools/install_readers.sh %s installs them)" %
              (READERS, READERS))
        sys.exit(77)
    unittest.main()
