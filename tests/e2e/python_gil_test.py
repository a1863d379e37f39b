"""Who waits for the GIL and who has it, by every Python that there is: as long as the loop's own clocks say that it
was kept from running, and by the thread and function that kept it. A thread that sleeps keeps nobody. A free-threaded
one has no GIL, unless something brings it back."""
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_hook_test import interpreters, is_free_threaded  # noqa: E402
from recorded import BATCHLIGHT, SOURCE, run  # noqa: E402

PROGRAM = os.path.join(SOURCE, "tests", "e2e", "gil_program.py")
S = 10 ** 9


class Gil(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="bl_gil_")
        self.addCleanup(shutil.rmtree, self.folder)

    def fight(self, python, how, gil="1"):
        """What the program said, and the rows of `table python_gil`. `gil`: of free-threaded Pythons."""
        path = os.path.join(self.folder, "run.batchlight")
        free_threaded = ["--env-var=PYTHON_GIL=" + gil] if is_free_threaded(python) else []
        done = run(BATCHLIGHT, "profile", *free_threaded, "-f", "-o", path, python, PROGRAM, how)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
        done = run(BATCHLIGHT, "table", "python_gil", "-f", "json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return said, json.loads(done.stdout or "[]")

    def samples(self):
        """Rows of `table python_samples` by the last part of the function's name."""
        path = os.path.join(self.folder, "run.batchlight")
        done = run(BATCHLIGHT, "table", "python_samples", "-f", "json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["Function"].rpartition(".")[2]: {key.removesuffix(" (ns)"): value for key, value in row.items()}
                for row in json.loads(done.stdout)}

    def test_the_wait_is_what_the_loops_clocks_say(self):
        for python in interpreters():
            with self.subTest(python=python):
                said, rows = self.fight(python, "fight")
                # The loop's thread is that of the process; the other one waits for it in turn.
                rows = [row for row in rows if row["TID"] == row["PID"]]
                waited = sum(row["Waited (ns)"] for row in rows) / S
                self.assertAlmostEqual(waited, said["kept_s"], delta=0.15 * said["wall_s"])
                self.assertGreater(waited, 0)
                # A thread that waits for the GIL does not sleep.
                self.assertLess(self.samples()["train"]["Waited"] / S, 0.15 * said["wall_s"])
                self.assertAlmostEqual(self.samples()["train"]["GIL"] / S, said["kept_s"], delta=0.15 * said["wall_s"])
                # Where the machine leaves the two hardly any time at once, they hardly fight.
                if said["kept_s"] < 0.1 * said["wall_s"]:
                    continue
                by_other = sum(row["Waited (ns)"] for row in rows if row["Function"] == "count_up")
                self.assertGreater(by_other / S, 0.5 * waited)

    def test_a_free_threaded_python_has_none(self):
        pythons = list(filter(is_free_threaded, interpreters()))
        if not pythons:
            self.skipTest("no free-threaded Python is here")
        for python in pythons:
            with self.subTest(python=python):
                said, rows = self.fight(python, "fight", gil="0")
                self.assertEqual(rows, [])
                done = run(BATCHLIGHT, "table", "python_gil", os.path.join(self.folder, "run.batchlight"))
                self.assertIn("free-threaded builds of Python have no GIL", done.stderr)

    def test_a_thread_that_rests_keeps_nobody_waiting(self):
        for python in interpreters():
            with self.subTest(python=python):
                said, rows = self.fight(python, "rest")
                waited = sum(row["Waited (ns)"] for row in rows if row["TID"] == row["PID"]) / S
                self.assertLess(waited, 0.2 * said["wall_s"])  # whoever has it may wait for a processor


if __name__ == "__main__":
    unittest.main()
