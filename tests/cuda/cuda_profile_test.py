"""`batchlight profile` of programs on the stand-in libcupti, up to what exports say."""

import csv
import io
import os
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

BUILD = os.path.abspath(os.environ["BATCHLIGHT_BUILD"])
PROGRAM = os.path.join(BUILD, "bin", "batchlight")
TRAINING = os.path.join(BUILD, "test", "fake_training")
RECORDINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recordings")


class Profile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def tool(self, *words, status=0, **variables):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, env=dict(os.environ, **variables),
                              text=True, timeout=100, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def database(self, recording):
        self.tool("export", "-t", "sqlite", recording)
        path = os.path.join(self.folder, recording.replace(".batchlight", ".sqlite"))
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        return database

    def test_waits_reach_the_database(self):
        self.tool("profile", "-t", "cuda", "-o", "run", TRAINING, "launches=1", "waits=1")
        none = 0xffffffff
        rows = self.database("run.batchlight").execute(
            "SELECT syncType, streamId, eventId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION "
            "ORDER BY start").fetchall()
        self.assertEqual(rows, [(3, 9, none), (2, 7, 77), (2, none, 78), (1, none, 79),
                                (4, none, none), (2, none, 80), (2, none, 81), (3, 7, none),
                                (3, 8, none)])

    def test_waits_without_streams_are_the_calls(self):
        self.tool("profile", "-t", "cuda", "--cuda-record=kernels,runtime,driver", "-o", "run",
                  TRAINING, "launches=1", "waits=1")
        none = 0xffffffff
        rows = self.database("run.batchlight").execute(
            "SELECT syncType, streamId, eventId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION "
            "ORDER BY start").fetchall()
        self.assertEqual(rows, [(kind, none, none) for kind in (3, 2, 2, 1, 4, 2, 2, 3, 3)])

    def test_calls_have_the_native_stack_that_they_were_made_from(self):
        self.tool("profile", "-t", "cuda", "--cudabacktrace=kernel:0,sync:0", "-o", "run", TRAINING,
                  "launches=50", "waits=1")
        table = self.tool("table", "call_stacks", "--format=csv", "run.batchlight").stdout
        rows = list(csv.DictReader(io.StringIO(table)))
        launches = [row for row in rows if "Launch" in row["Call"]]
        self.assertEqual(sum(int(row["Calls"]) for row in launches), 50)
        for row in launches:
            self.assertIn("::Launch(", row["Called By"])
            self.assertRegex(row["In"], r"main|\(inlined\)")
        waits = {row["Call"]: row for row in rows if row not in launches}
        self.assertIn("cudaStreamSynchronize_v3020", waits)
        self.assertLessEqual({row["Called By"] for row in waits.values()}, {"main", "Waits (inlined)"})
        # The runtime waits through the driver; the stack is the outer call's.
        self.assertNotIn("cuStreamSynchronize", waits)
        folded = self.tool("export", "-t", "folded", "--stacks=cuda-calls", "-o", "-",
                           "run.batchlight").stdout
        self.assertRegex(folded, r"main.*::Launch\(.*;cudaLaunchKernel_v7000 \d+")

    def test_short_calls_have_no_stack(self):
        self.tool("profile", "-t", "cuda", "--cudabacktrace=all:900000000", "-o", "run", TRAINING,
                  "launches=50")
        self.assertIn("--cudabacktrace", self.tool("table", "call_stacks", "run.batchlight").stderr)

    def test_page_faults_of_the_cpu_reach_the_database(self):
        self.tool("profile", "-t", "cuda", "--cuda-um-cpu-page-faults=true", "-o", "run", TRAINING,
                  "launches=1", "every_kind=1")
        rows = self.database("run.batchlight").execute(
            "SELECT i.value, m.value FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS "
            "JOIN StringIds i ON i.id = CpuInstruction JOIN StringIds m ON m.id = module").fetchall()
        self.assertEqual(rows, [("0x401A", "[Unknown]")])
        report = self.tool("stats", "-q", "-f", "csv", "-r", "um_cpu_page_faults_sum",
                           "run.batchlight").stdout
        self.assertIn("1,0x401A", report)

    def test_page_faults_of_a_gpu_machine(self):
        """Recorded on an H200 with bench/gpu/page_faults.py; nsys counts 576 of the CPU there too."""
        recording = os.path.join(RECORDINGS, "h200_page_faults.batchlight")
        self.tool("export", "-t", "sqlite", "-o", "faults.sqlite", recording)
        database = sqlite3.connect(os.path.join(self.folder, "faults.sqlite"))
        self.addCleanup(database.close)
        counts = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in
                  ("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS")]
        self.assertEqual(counts, [576, 88])

    RANKS = ("for RANK in 0 1; do RANK=$RANK {training} launches=$((100 * (RANK + 1))) & done; wait")

    def test_two_ranks_in_one_recording(self):
        """As torchrun starts them: correlation ids are the same in both, and do not mix."""
        self.tool("profile", "-t", "cuda", "-o", "run", "sh", "-c",
                  self.RANKS.format(training=TRAINING))
        rows = self.database("run.batchlight").execute(
            "SELECT k.globalPid, count(*), count(DISTINCT k.correlationId), sum(EXISTS("
            " SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.correlationId = k.correlationId"
            " AND r.globalTid / 0x1000000 = k.globalPid / 0x1000000)) "
            "FROM CUPTI_ACTIVITY_KIND_KERNEL k GROUP BY 1 ORDER BY 2").fetchall()
        self.assertEqual([row[1:] for row in rows], [(100, 100, 100), (200, 200, 200)])

    def test_one_recording_a_rank(self):
        for rank, launches in (("0", 100), ("1", 200)):
            self.tool("profile", "-t", "cuda", "-o", "r%q{RANK}", TRAINING, f"launches={launches}",
                      RANK=rank)
        for rank, launches in (("0", 100), ("1", 200)):
            count, = self.database(f"r{rank}.batchlight").execute(
                "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
            self.assertEqual(count, launches)

    def test_the_gpu_is_known(self):
        self.tool("profile", "-t", "cuda", "-o", "run", TRAINING, "launches=10")
        database = self.database("run.batchlight")
        gpu = database.execute("SELECT name, smCount FROM TARGET_INFO_GPU").fetchall()
        self.assertEqual(gpu, [("Fake H200", 132)])

    def test_a_libcupti_that_is_none(self):
        """A process without CUPTI finds one that has no functions."""
        fake = os.path.join(self.folder, "libcupti.so.13")
        source = os.path.join(self.folder, "empty.c")
        open(source, "w").close()
        if shutil.which("cc") is None:
            self.skipTest("no C compiler")
        subprocess.run(["cc", "-shared", "-o", fake, source], check=True)
        done = self.tool(
            "profile", "-t", "cuda", "-o", "run", "/usr/bin/python3", "-c",
            "import ctypes, os; print('ran'); "
            "ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH']).InitializeInjection()",
            LD_LIBRARY_PATH=self.folder)
        self.assertIn("ran", done.stdout)
        self.assertIn("! cuda: libcupti lacks functions", " ".join(done.stderr.split()))

    PROFILER = """
import ctypes, os
ctypes.CDLL(os.environ["STAND_IN"]).fake_cuda_init()
import torch
profiler = torch.autograd.profiler.profile()
if os.environ["WITH"] == "CUDA":
    profiler.kineto_activities.add(torch.profiler.ProfilerActivity.CUDA)
with profiler:
    torch.ones(2) + 1
print("ran")
"""

    def test_torch_profiler_in_the_script(self):
        """It finds CUPTI taken and gets no GPU events: the summary says so, if it wanted any."""
        if subprocess.run(["/usr/bin/python3", "-c", "import torch"],
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no PyTorch")
        stand_in = os.path.join(BUILD, "test", "fakes", "libcupti.so.13")
        for wanted in ("CUDA", "CPU"):
            done = self.tool("profile", "-t", "cuda,python", "-f", "true", "-o", "run",
                             "/usr/bin/python3", "-c", self.PROFILER, STAND_IN=stand_in, WITH=wanted)
            self.assertIn("ran", done.stdout)
            said = "! torch.profiler: the program started torch.profiler, which got no GPU events"
            self.assertEqual(said in " ".join(done.stderr.split()), wanted == "CUDA", done.stderr)

    def test_no_libcupti(self):
        if any(os.path.exists(path) for path in ("/usr/local/cuda/lib64/libcupti.so",
                                                 "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so")):
            self.skipTest("this machine has a libcupti")
        done = self.tool(
            "profile", "-t", "cuda", "-o", "run", "/usr/bin/python3", "-c",
            "import ctypes, os; print('ran'); "
            "ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH']).InitializeInjection()")
        self.assertIn("ran", done.stdout)
        self.assertIn("! cuda: libcupti.so.12 or .13 was not found", " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()
