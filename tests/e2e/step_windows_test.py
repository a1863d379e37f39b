"""--steps and --every record the steps they name and nothing else, counted by optimizer or range."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BATCHLIGHT_BUILD") or os.path.join(HERE, "..", "..", "build", "dev")
PROGRAM = os.path.join(os.path.abspath(BUILD), "bin", "batchlight")

RANGES = """
import batchlight
for i in range(20):
    with batchlight.annotate("step"):
        batchlight.mark("in step %d" % (i + 1))
"""
OPTIMIZER = """
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(20):
    optimizer.zero_grad()
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
"""


class StepWindows(unittest.TestCase):
    def dump(self, script, *flags):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        output = os.path.join(folder, "a.batchlight")
        subprocess.run([PROGRAM, "profile", "-t", "nvtx,python", "-o", output, *flags, "--",
                        sys.executable, "-c", script], check=True, timeout=120,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(os.listdir(folder), ["a.batchlight"], "one recording for all windows")
        return subprocess.run([PROGRAM, "trace", "dump", output], check=True, text=True,
                              timeout=120, stdout=subprocess.PIPE).stdout.splitlines()

    def steps(self, *flags):
        lines = self.dump(RANGES, "--step-range", "step", *flags)
        return [int(line.split("in step ")[1].split('"')[0]) for line in lines if " Mark " in line]

    def test_ranges(self):
        self.assertEqual(self.steps("--steps", "3:5"), [3, 4, 5])
        self.assertEqual(self.steps("--steps", "1:2"), [1, 2])
        self.assertEqual(self.steps("--every", "5", "--window", "2"),
                         [4, 5, 9, 10, 14, 15, 19, 20])

    def test_optimizer(self):
        try:
            __import__("torch")
        except ImportError:
            self.skipTest("no PyTorch")
        lines = self.dump(OPTIMIZER, "--steps", "10:14")
        self.assertEqual(sum("PhaseBegin phase=2 " in line for line in lines), 5)
        for pytorch in ("none", "autograd-nvtx"):
            lines = self.dump(OPTIMIZER, "--steps", "10:14", "--pytorch", pytorch)
            self.assertEqual(sum("PhaseBegin phase=2 " in line for line in lines), 5, pytorch)
            self.assertFalse(any(" ModuleBegin " in line for line in lines), pytorch)

    def test_operators_of_windows(self):
        """PyTorch calls nobody between windows, and everybody in all of a window's steps: those of
        the program itself, and of a child that has no steps of its own."""
        try:
            __import__("torch")
        except ImportError:
            self.skipTest("no PyTorch")
        child = OPTIMIZER.replace("    optimizer.zero_grad()", """
    import os, time
    if i == 2 and os.fork() == 0:
        for _ in range(400):
            torch.ones(3).cumsum(0)
            time.sleep(0.002)
        os._exit(0)
    time.sleep(0.03)
    optimizer.zero_grad()""").replace("optimizer.step()", "optimizer.step()\nos.wait()", 1)
        names = [line.split('"')[1] for line in self.dump(OPTIMIZER, "--every", "5", "--window", "2")
                 if " OpBegin " in line]
        self.assertEqual(names.count("aten::addmm") + names.count("aten::linear"), 2 * 8, names)
        self.assertEqual(names.count("aten::randn"), 8)
        self.assertEqual(sum("SGD.step" in name for name in names), 8)
        names = [line.split('"')[1] for line in self.dump(child, "--steps", "5:8")
                 if " OpBegin " in line]
        self.assertEqual(names.count("aten::randn"), 4)
        self.assertGreater(names.count("aten::cumsum"), 10)

    def test_steps_that_begin_with_their_window_are_whole(self):
        try:
            __import__("torch")
        except ImportError:
            self.skipTest("no PyTorch")
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "a.batchlight")
            script = OPTIMIZER.replace("    model(", "    time.sleep(0.005)\n    model(")
            subprocess.run([PROGRAM, "profile", "-t", "python", "--every", "5", "--window", "2", "-o",
                            output, "--", sys.executable, "-c", "import time\n" + script],
                           check=True, timeout=120, stderr=subprocess.DEVNULL)
            done = subprocess.run([PROGRAM, "summary", "--json", output], check=True, text=True,
                                  timeout=120, stdout=subprocess.PIPE)
        durations = json.loads(done.stdout)["steps"]["processes"][0]["durations_ns"]
        self.assertEqual(len(durations), 8)  # 4, 5; 9, 10; 14, 15; 19, 20
        for duration in durations:
            self.assertGreater(duration, 5e6)

    def test_mistakes(self):
        for flags in (["--steps", "5:3"], ["--steps", "5"], ["--window", "3"],
                      ["--every", "3", "--window", "4"], ["--step-range", "x"],
                      ["--steps", "1:2", "-c", "cudaProfilerApi"]):
            done = subprocess.run([PROGRAM, "profile", *flags, "--", "true"], text=True,
                                  stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 2, flags)
            self.assertIn("--", done.stderr)


if __name__ == "__main__":
    unittest.main()
