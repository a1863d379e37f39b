"""examples/train.py and quickstart.sh as a new user runs them: what lies in results/ has the real
names of the run, and its numbers add up. Exit code 77: no PyTorch here."""
import csv
import glob
import json
import os
import shutil
import sqlite3
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BUILD, SOURCE, InFolder, run  # noqa: E402

TRAIN = os.path.join(SOURCE, "examples", "train.py")
SMALL = ["--epochs", 2, "--steps", 4, "--batch-size", 2, "--seq-len", 8, "--d-model", 32]


class TrainAlone(unittest.TestCase):
    def train(self, *options, code=0):
        done = run(sys.executable, TRAIN, *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_every_option(self):
        for epochs, options in ((1, ["--amp", "--num-workers", 0, "--layers", 0]),
                                (2, ["--no-amp", "--num-workers", 1, "--layers", 1, "--d-model", 50])):
            lines = self.train(*SMALL, *options, "--epochs", epochs).stdout.splitlines()
            self.assertIn("M parameters on ", lines[0])
            self.assertEqual([line.split(":")[0] for line in lines[1:]],
                             ["epoch %d" % n for n in range(epochs)])
        self.assertIn("--steps: at least 1", self.train("--steps", 0, code=2).stderr)


class Quickstart(InFolder):
    """The script itself; what installs and builds only writes down that it was called."""

    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(SOURCE, "quickstart.sh"), self.folder)
        os.symlink(os.path.join(SOURCE, "examples"), self.path("examples"))
        os.mkdir(self.path("build"))
        os.symlink(BUILD, self.path("build/release"))
        os.mkdir(self.path("tools"))
        for name in ("install_packages.sh", "build.sh"):
            with open(self.path("tools/" + name), "w") as file:
                file.write('#!/bin/sh\necho "%s $*" >> called\n' % name)
            os.chmod(self.path("tools/" + name), 0o755)

    def quickstart(self, *words):
        done = run("./quickstart.sh", *words, cwd=self.folder,
                   env=dict(self.environment, PYTHON=sys.executable))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def results(self):
        return sorted(os.listdir(self.path("results")))

    def test_what_lies_in_results(self):
        done = self.quickstart(*SMALL, "--layers", 2)
        with open(self.path("called")) as file:
            called = file.read()
        self.assertIn("install_packages.sh tools/packages.txt\n", called)
        self.assertIn("build.sh release\n", called)
        self.assertIn("epoch 1: loss", done.stdout)
        self.assertEqual(self.results(), ["train-report", "train.batchlight", "train.sqlite"])
        for part in ("8 steps, from the end of", "backward", "encoder.layers.1.attention", "aten::"):
            self.assertIn(part, done.stderr)
        self.check_report(self.path("results/train-report"))
        self.check_database(self.path("results/train.sqlite"))

        # The same numbers wherever they stand.
        summary = json.loads(self.batchlight("summary", "--json", "results/train.batchlight").stdout)
        self.assertEqual(summary["losses"], [])
        process, = summary["steps"]["processes"]
        self.assertEqual(process["steps"], 8)
        with open(self.path("results/train-report/steps.csv"), newline="") as file:
            header, *steps = csv.reader(file)
        at = header.index("Duration (ns)")
        self.assertEqual(len(steps), 8)
        for step in steps:
            self.assertEqual(sum(int(cell or 0) for cell in step[at + 1:]), int(step[at]))
        steady = [step for step in steps if step[header.index("Kind")] == "steady"]
        self.assertEqual(sum(int(step[at]) for step in steady), process["duration"]["total_ns"])
        self.assertEqual(sum(phase["time"]["total_ns"] for phase in process["phases"]),
                         process["duration"]["total_ns"])

    def check_report(self, folder):
        self.assertLessEqual({"index.html", "top10.png", "README_snippet.md", "steps.csv",
                              "modules.csv", "operators.csv", "nvtx_ranges.csv"},
                             set(os.listdir(folder)))
        with open(os.path.join(folder, "README_snippet.md")) as file:
            snippet = file.read()
        for part in (r"\d ms", "`encoder.layers.0.attention`", "`aten::", "`optimizer_step`",
                     "top10.png"):
            self.assertRegex(snippet, part)
        self.assertNotIn("(arb)", snippet)
        with open(os.path.join(folder, "modules.csv"), newline="") as file:
            modules = {cell for row in csv.reader(file) for cell in row}
        self.assertLessEqual({"encoder.layers.1.feed_forward.2", "head", "norm"}, modules)

    def check_database(self, path):
        with sqlite3.connect(path) as database:
            ranges = dict(database.execute(
                "SELECT coalesce(text, value), count(*) FROM NVTX_EVENTS "
                "LEFT JOIN StringIds ON id = textId WHERE end IS NOT NULL GROUP BY 1"))
        for name, times in (("dataloader_setup", 1), ("batch_to_device", 8), ("forward", 8),
                            ("backward", 8), ("optimizer_step", 8), ("epoch_0", 1), ("epoch_1", 1)):
            self.assertEqual(ranges.get(name), times, name)

    def test_clean_and_noclean(self):
        options = [*SMALL, "--layers", 0, "--num-workers", 0]
        self.quickstart(*options)
        self.quickstart("noclean", *options)
        self.quickstart(*options, "noclean")
        names = ["train", "train-2", "train-3"]
        self.assertEqual(self.results(), sorted(
            name + end for name in names for end in ("-report", ".batchlight", ".sqlite")))
        self.quickstart(*options)
        self.assertEqual(self.results(), ["train-report", "train.batchlight", "train.sqlite"])
        self.assertEqual(glob.glob(self.path("results/*.live")), [])


if __name__ == "__main__":
    try:
        import torch  # noqa: F401
    except ImportError:
        sys.exit(77)
    unittest.main()
