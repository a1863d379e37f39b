"""The advice on recordings of real loops: silent on well-tuned ones, not on a slow one."""
import csv
import pathlib
import tempfile
import unittest

from recorded import BATCHLIGHT, SOURCE, run

RECORDINGS = pathlib.Path(SOURCE, "tests", "recordings")


def rules(path):
    done = run(BATCHLIGHT, "table", "advice", path, "-f", "csv")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [row["Rule"] for row in csv.DictReader(done.stdout.splitlines())]


class AdviceTest(unittest.TestCase):
    # bench/gpu/foreign_models.py on an H200, the settings that the advice asks for all made.
    def test_no_rule_fires_on_a_well_tuned_loop(self):
        tuned = sorted(RECORDINGS.glob("h200_tuned_*.batchlight"))
        self.assertTrue(tuned)
        for path in tuned:
            with self.subTest(path.name):
                steps = run(BATCHLIGHT, "table", "steps", path, "-f", "csv").stdout.splitlines()
                self.assertGreater(len(steps), 10)  # there are steps to judge
                self.assertEqual(rules(path), [])
                self.assertEqual(run(BATCHLIGHT, "analyze", "--fail-on", "any", path).returncode, 0)

    def test_findings_are_the_same_from_every_kind_of_input(self):
        """A recording, an nsys-shaped SQLite and a Kineto trace of one run: the same findings with
        the same gains per step. The size of the GPU's memory is in recordings and exports only;
        what of communication is waiting for other ranks, where NCCL's message sizes are, and what
        came before the loop in recordings."""
        def gains(path):
            done = run(BATCHLIGHT, "table", "advice", path, "-f", "csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            return {row["Rule"]: row["Gain per Step (ns)"]
                    for row in csv.DictReader(done.stdout.splitlines())
                    if row["Rule"] not in ("memory-underused", "exposed-communication",
                                           "set-up-cost", "start-up", "first-batch")}

        expected = {"h200_train": {"launch-bound", "gpu-underused"},
                    "h200_two_ranks": {"launch-bound", "host-sync"}}
        with tempfile.TemporaryDirectory() as folder:
            for name, found in expected.items():
                recording = RECORDINGS / (name + ".batchlight")
                recorded = gains(recording)
                self.assertLessEqual(found, set(recorded))
                for form, end in (("sqlite", ".sqlite"), ("chrome", ".json")):
                    with self.subTest(name + end):
                        path = pathlib.Path(folder, name + end)
                        done = run(BATCHLIGHT, "export", "-q", "-t", form, "-o", path, recording)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertEqual(gains(path), recorded)

    def test_rules_fire_on_a_loop_of_short_kernels(self):
        path = RECORDINGS / "h200_train.batchlight"
        self.assertIn("launch-bound", rules(path))
        gated = run(BATCHLIGHT, "analyze", "--fail-on", "launch-bound", path)
        self.assertNotEqual(gated.returncode, 0)
        self.assertIn("launch-bound", gated.stderr)


if __name__ == "__main__":
    unittest.main()
