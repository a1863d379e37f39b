"""A recording with all that nsys users ask for at once (-t cuda,nvtx,osrt,cublas,cudnn -s process-tree
--cpuctxsw=process-tree --cudabacktrace=all --python-backtrace=cuda), of examples/train.py on an H200, steps 12 to 17: each
kind is there, on one clock, and idle time of the GPU has names."""
import bisect
import json
import pathlib
import sqlite3
import unittest

from recorded import BATCHLIGHT, SOURCE, InFolder, run

RECORDINGS = pathlib.Path(SOURCE, "tests", "recordings")
RECORDING = RECORDINGS / "h200_documents.batchlight"
LAUNCHING = ("aten::mm", "aten::addmm", "aten::mul", "aten::add", "aten::sum")


class AllFlags(InFolder):
    def database(self, recording):
        done = self.batchlight("export", "-f", "--type", "sqlite", "-o", self.path("run.sqlite"), recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        database = sqlite3.connect(self.path("run.sqlite"))
        self.addCleanup(database.close)
        return database

    def test_each_kind_is_there(self):
        database = self.database(RECORDING)
        for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUDA_CALLCHAINS", "NVTX_EVENTS", "OSRT_API",
                      "OSRT_CALLCHAINS", "CUBLAS_EVENTS", "CUDNN_EVENTS", "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS",
                      "SCHED_EVENTS", "BATCHLIGHT_PYTHON_SAMPLES"):
            with self.subTest(table):
                self.assertGreater(database.execute("SELECT count(*) FROM " + table).fetchone()[0], 0)

    def test_operators_have_their_launches(self):
        """Operators are on our clock, calls on CUPTI's: in a window the two were 130 us apart."""
        for name in ("h200_documents", "h200_tuned_gpt2"):
            with self.subTest(name):
                database = self.database(RECORDINGS / (name + ".batchlight"))
                calls = sorted(database.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME"))
                starts = [start for start, _ in calls]
                words = dict(database.execute("SELECT id, value FROM StringIds"))
                operators = [(start, end) for start, end, word in database.execute(
                    "SELECT start_ns, end_ns, name FROM BATCHLIGHT_OPERATOR_CALLS")
                    if words.get(word, word) in LAUNCHING]
                self.assertGreater(len(operators), 200)

                def launches(start, end):
                    place = bisect.bisect_left(starts, start)
                    return place < len(calls) and calls[place][1] <= end

                without = [operator for operator in operators if not launches(*operator)]
                self.assertLess(len(without), 0.01 * len(operators))
                database.close()

    def test_idle_time_has_names(self):
        done = run(BATCHLIGHT, "summary", "--json", RECORDING)
        self.assertEqual(done.returncode, 0, done.stderr)
        parts = json.loads(done.stdout)["gpu"]["devices"][0]["parts"]
        idle = {name: part["mean_ns"] for name, part in parts.items() if name.startswith("idle_")}
        self.assertGreater(sum(idle.values()), 10_000_000)
        for name, share in (("idle_python", 0.1), ("idle_elsewhere", 0.1), ("idle_cpu_tensors", 0.01)):
            self.assertLess(idle[name], share * sum(idle.values()), idle)


if __name__ == "__main__":
    unittest.main()
