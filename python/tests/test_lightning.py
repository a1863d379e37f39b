"""BatchlightProfiler against a stand-in for Lightning's base class (the real one where present)."""
import importlib
import pathlib
import sys
import time
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))


def stand_in():
    """Lightning's Profiler reduced to what a subclass relies on."""
    class Profiler:
        def __init__(self, dirpath=None, filename=None):
            self.dirpath, self.filename = dirpath, filename

        def teardown(self, stage=None):
            pass

    names = ("lightning", "lightning.pytorch", "lightning.pytorch.profilers")
    for name in names:
        sys.modules[name] = types.ModuleType(name)
    sys.modules[names[-1]].Profiler = Profiler


def load():
    try:
        return importlib.import_module("batchlight.lightning")
    except ImportError:
        stand_in()
        return importlib.import_module("batchlight.lightning")


class LightningTest(unittest.TestCase):
    def run_steps(self, count, **options):
        profiler = load().BatchlightProfiler(**options)
        for _ in range(count):
            profiler.start("[_TrainingEpochLoop].train_dataloader_next")
            time.sleep(0.002)
            profiler.stop("[_TrainingEpochLoop].train_dataloader_next")
            profiler.start("run_training_batch")
            profiler.start("[Strategy]Single.training_step")
            time.sleep(0.004)
            profiler.stop("[Strategy]Single.training_step")
            profiler.start("[Strategy]Single.backward")
            time.sleep(0.002)
            profiler.stop("[Strategy]Single.backward")
            profiler.stop("run_training_batch")
        return profiler

    def test_parts_add_up_to_the_step(self):
        rows = self.run_steps(5).step_table()
        self.assertAlmostEqual(sum(share for _, _, share in rows), 1.0)
        shares = {part: share for part, _, share in rows}
        self.assertGreater(shares["forward"], shares["backward"])
        self.assertGreater(shares["data loading"], 0.1)
        self.assertGreaterEqual(shares["other"], 0)

    def test_summary_has_simple_profilers_columns(self):
        text = self.run_steps(3).summary()
        for column in ("Action", "Mean duration (s)", "Num calls", "Total time (s)", "Percentage %"):
            self.assertIn(column, text)
        self.assertIn("Training steps: 3", text)
        self.assertIn("run_training_batch", text)

    def test_short_form_has_three_columns_by_mean_duration(self):
        lines = self.run_steps(2, extended=False).summary().splitlines()
        header = next(i for i, line in enumerate(lines) if line.startswith("Action"))
        self.assertEqual(lines[header].split("  ")[0], "Action")
        self.assertNotIn("Num calls", lines[header])
        means = [float(line.split()[-2]) for line in lines[header + 2:] if line]
        self.assertEqual(means, sorted(means, reverse=True))

    def test_advanced_has_the_functions_of_each_action(self):
        profiler = load().BatchlightProfiler(advanced=True)
        profiler.start("outer")
        sum(sorted([3, 1]))
        profiler.start("inner")
        time.sleep(0.001)
        profiler.stop("inner")
        max([1, 2])
        profiler.stop("outer")
        text = profiler.summary()
        if "were not measured" in text:
            self.skipTest(text.splitlines()[-1])
        outer, inner = text.split("Profile stats for: ")[1:]
        for column in ("ncalls", "tottime", "percall", "cumtime", "filename:lineno(function)"):
            self.assertIn(column, outer)
        self.assertIn("builtins.sorted", outer)
        self.assertIn("builtins.max", outer, "goes on after the action inside")
        self.assertIn("time.sleep", inner)
        self.assertNotIn("time.sleep", outer)

    def test_unbalanced_stops_are_ignored(self):
        profiler = load().BatchlightProfiler()
        profiler.stop("never started")
        profiler.start("a")
        profiler.start("b")
        profiler.stop("a")
        profiler.stop("b")
        self.assertIn("a", profiler.summary())

    def test_nothing_recorded_is_an_empty_summary(self):
        self.assertEqual(load().BatchlightProfiler().summary(), "")


if __name__ == "__main__":
    unittest.main()
