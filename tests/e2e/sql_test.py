"""The questions of docs/sql.md, asked of 1,000 ranks that were simulated: one of each 64 is 3 % slower.
DuckDB is in the environment that tools/install_readers.sh makes; without it the test is skipped."""
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, BUILD, SOURCE, run  # noqa: E402

READERS = os.environ.get("BATCHLIGHT_READERS", os.path.join(os.path.dirname(BUILD), "readers"))
PYTHON = os.path.join(READERS, "bin", "python")
MAKE_RANKS = os.path.join(BUILD, "bench", "make_ranks")
RANKS, STEPS, CALLS = 1000, 20, 5
SLOW = 21  # and those 64, 128, ... later


class Questions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="bl_sql_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        recordings, cls.job = os.path.join(cls.folder, "run"), os.path.join(cls.folder, "job")
        os.mkdir(recordings)
        made = run(MAKE_RANKS, recordings, RANKS, STEPS, CALLS)
        assert made.returncode == 0, made.stderr
        found = run(BATCHLIGHT, "ranks", recordings, "--tables", cls.job, "--json")
        assert found.returncode == 0, found.stderr
        cls.result = json.loads(found.stdout)
        asked = run(PYTHON, os.path.join(SOURCE, "tests", "e2e", "readers", "sql_answers.py"),
                    os.path.join(SOURCE, "docs", "sql.md"), cls.job, timeout=600)
        assert asked.returncode == 0, asked.stderr
        cls.answers = json.loads(asked.stdout)

    def rows(self, question, *columns):
        self.assertEqual(self.answers[question]["columns"], list(columns))
        return self.answers[question]["rows"]

    def test_ten_questions(self):
        self.assertEqual(len(self.answers), 10)

    def test_who_costs_most(self):
        rows = self.rows(0, "rank", "host", "cost_ms", "last_share")
        # The slow ranks are alike, so that the first of a call is any of them.
        self.assertEqual(rows[0][0] % 64, SLOW)
        (rank,) = [rank for rank in self.result["ranks"] if rank["rank"] == rows[0][0]]
        self.assertEqual(rows[0][1], rank["host"])
        self.assertAlmostEqual(rows[0][2], rank["cost_ns"] / 1e6, delta=0.006)

    def test_lengths_of_steps(self):
        ((quantiles, longest),) = self.rows(1, "quantiles", "longest")
        self.assertEqual(quantiles, sorted(quantiles))
        self.assertGreaterEqual(longest, quantiles[-1])
        self.assertAlmostEqual(quantiles[1], self.result["step_ns"], delta=1e6)

    def test_no_step_is_long_for_everybody(self):
        self.assertEqual(self.rows(2, "step", "median_ns", "ranks"), [])

    def test_steps_of_the_worst_rank(self):
        rows = self.rows(3, "step", "cost_ns")
        self.assertEqual(len(rows), 10)
        self.assertEqual(len({step for step, _ in rows}), 10)
        self.assertGreater(rows[0][1], 0)

    def test_hosts(self):
        for host, cost_ns, ranks, worst in self.rows(4, "host", "cost_ns", "ranks", "worst"):
            self.assertEqual((ranks, host), (8, "node%d" % (worst // 8)))
            self.assertGreaterEqual(cost_ns, 0)

    def test_phases(self):
        rows = self.rows(5, "phase", "over_median_ns", "rank")
        self.assertEqual(len(rows), 5)
        self.assertRegex(rows[0][0], "^part [0-9]+$")

    def test_kernels_are_alike(self):
        rows = self.rows(6, "rank", "times_as_long")
        self.assertEqual({round(times, 9) for _, times in rows}, {1.0})

    def test_collectives(self):
        rows = self.rows(7, "operation", "message_bytes", "calls", "transfer_ns", "waited_ns",
                         "exposed_ns")
        self.assertEqual(sum(row[2] for row in rows), STEPS * CALLS)
        ours = {(row["operation"], row["message_bytes"]): row for row in self.result["collectives"]}
        for operation, message_bytes, _, transfer_ns, waited_ns, _ in rows:
            found = ours[operation, message_bytes]
            self.assertAlmostEqual(transfer_ns / found["transfer_ns"], 1, places=3)
            self.assertAlmostEqual(waited_ns / found["waited_ns"], 1, places=3)

    def test_bandwidth(self):
        rows = self.rows(8, "message_bytes", "calls", "gb_per_s")
        self.assertEqual(sum(row[1] for row in rows), STEPS * CALLS)
        for _, _, gb_per_s in rows:
            self.assertGreater(gb_per_s, 0)

    def test_exposed_communication(self):
        rows = self.rows(9, "rank", "percent")
        self.assertEqual(len(rows), 5)
        # Whom all wait for waits least.
        self.assertNotIn(SLOW, [rank % 64 for rank, _ in rows])


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bl_sql_")
        self.addCleanup(shutil.rmtree, self.folder)
        self.run = os.path.join(self.folder, "run")
        os.mkdir(self.run)
        self.assertEqual(run(MAKE_RANKS, self.run, 4, 20, 5).returncode, 0)

    def ranks(self, *words):
        return run(BATCHLIGHT, "ranks", self.run, "--tables", os.path.join(self.folder, "job"), *words)

    def test_other_formats_and_folders_that_are_there(self):
        done = self.ranks("-f", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("(3332 rows)", done.stderr)
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "job"))),
                         ["collectives.csv", "kernels.csv", "operators.csv", "phases.csv", "ranks.csv", "steps.csv"])
        with open(os.path.join(self.folder, "job", "operators.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline().strip(), "rank,kind,name,calls,median_ns")
            self.assertEqual(len(file.readlines()), 4 * (16 + 16))  # of each rank those with most time
        with open(os.path.join(self.folder, "job", "steps.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline().strip(),
                             "rank,step,counts,step_ns,waited_ns,lost_ns,cost_ns")
        again = self.ranks("-f", "csv")
        self.assertEqual(again.returncode, 4)
        self.assertIn("--force-overwrite", again.stderr)
        self.assertEqual(self.ranks("-f", "csv", "--force-overwrite").returncode, 0)

    def test_what_is_for_people_is_no_table(self):
        for form in ("column", "paper"):
            done = self.ranks("-f", form)
            self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(os.listdir(self.folder), ["run"])


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        print("skipped: no other readers in %s (tools/install_readers.sh %s installs them)" %
              (READERS, READERS))
        sys.exit(77)
    unittest.main()
