"""Time of the lines of a real program: `table lines`, and `table imports` beside -X importtime."""
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import pprof_file
import speedscope_file
from recorded import BATCHLIGHT, run

PYTHON = os.environ.get("BATCHLIGHT_TORCH_PYTHON", "/usr/bin/python3")

# Times its own lines: an operator's time is part of its line's.
PROGRAM = """
    import json, time
    import torch
    from torch.utils.checkpoint import checkpoint
    torch.set_num_threads(1)
    x = torch.rand(300, 300, requires_grad=True)
    heavy = torch.rand(300, 300)
    seconds = {}
    def timed(line, call):
        begin = time.perf_counter()
        result = call()
        seconds[line] = seconds.get(line, 0) + time.perf_counter() - begin
        return result
    for step in range(8):
        a = timed("once", lambda: x @ heavy)                                              # once
        b = timed("four", lambda: [a @ heavy, a @ heavy, a @ heavy, a @ heavy])           # four
        c = checkpoint(lambda y: (y @ heavy), b[0], use_reentrant=False)                  # again
        sum(c.sum() + one.sum() for one in b).backward()                                  # backward
    print(json.dumps(seconds))
"""


def has_torch():
    return run(PYTHON, "-c", "import torch").returncode == 0


@unittest.skipUnless(has_torch(), "needs PyTorch")
class PythonLinesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.script = os.path.join(cls.folder.name, "train.py")
        with open(cls.script, "w") as file:
            file.write(textwrap.dedent(PROGRAM))
        cls.recording = os.path.join(cls.folder.name, "run.batchlight")
        done = run(BATCHLIGHT, "profile", "--python-lines=gpu", "-o", cls.recording, PYTHON, cls.script,
                   cwd=cls.folder.name, timeout=600)
        assert done.returncode == 0, done.stderr
        cls.seconds = json.loads(re.search(r"^\{.*\}$", done.stdout, re.M)[0])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def table(self, name):
        done = run(BATCHLIGHT, "table", name, "-f", "json", self.recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def rows(self):
        """Comment of the line -> its row; without the time of lines without a comment."""
        rows = {}
        for row in self.table("lines"):
            comment = re.search(r"# (\w+)$", row["Source"] or "")
            if comment and row["What"] == "line":
                rows[comment[1]] = row
        return rows

    def time_of(self, row, name):
        for key, value in row.items():
            if key == name or key.startswith(name + " ("):
                return value
        raise KeyError((name, sorted(row)))

    def test_lines_have_the_time_and_calls_of_their_operators(self):
        rows = self.rows()
        self.assertEqual(rows["once"]["Calls"], 8)
        self.assertEqual(rows["four"]["Calls"], 32)
        for comment in ("once", "four"):
            forward_s = self.time_of(rows[comment], "CPU Forward") / 1e9
            self.assertLessEqual(forward_s, self.seconds[comment])
            self.assertGreater(forward_s, self.seconds[comment] / 3)
            self.assertTrue(rows[comment]["Line"].startswith(self.script + ":"))

    def test_backward_is_that_of_the_forward_line(self):
        rows = self.rows()
        for comment in ("once", "four", "again"):
            self.assertGreater(self.time_of(rows[comment], "CPU Backward"), 0, comment)

    def test_checkpointed_lines_are_run_again(self):
        rows = self.rows()
        self.assertGreater(self.time_of(rows["again"], "CPU Recompute"), 0)
        self.assertEqual(self.time_of(rows["once"], "CPU Recompute"), 0)

    def test_rows_add_up(self):
        shares = [self.time_of(row, "CPU %") for row in self.table("lines")]
        self.assertAlmostEqual(sum(shares), 100, delta=0.01 * len(shares))

    def export(self, *words):
        done = subprocess.run([BATCHLIGHT, "export", "-q", "-o", "-", *words, self.recording],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_stacks_add_up_to_the_lines(self):
        whole_ns = sum(self.nanoseconds(row, "CPU") for row in self.table("lines"))
        folded = self.export("-t", "folded", "--stacks=python").decode().splitlines()
        self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in folded), whole_ns)
        self.assertTrue(any("train.py" in line and line.rpartition(" ")[0].endswith(";backward")
                            for line in folded))
        self.assertFalse([line for line in folded if "_bridge" in line or "_torch_modules" in line])
        drawn = json.loads(self.export("-t", "speedscope", "--stacks=python"))
        speedscope_file.check(self, drawn)
        cpu, gpu = drawn["profiles"]
        self.assertEqual((sum(cpu["weights"]), cpu["endValue"], gpu["endValue"]), (whole_ns, whole_ns, 0))
        frames = [frame["name"] for frame in drawn["shared"]["frames"]]
        stacks = {";".join(frames[i] for i in sample) for sample in cpu["samples"]}
        self.assertTrue({line.rpartition(" ")[0] for line in folded} <= stacks)

    def nanoseconds(self, row, name):
        return next(value for key, value in row.items() if key == name + " (ns)")

    def test_pprof(self):
        profile = pprof_file.Profile(self.export("-t", "pprof"))
        self.assertEqual(profile.types, [["calls", "count"], ["cpu", "nanoseconds"], ["gpu", "nanoseconds"]])
        self.assertEqual(profile.total(1), sum(self.nanoseconds(row, "CPU") for row in self.table("lines")))
        self.assertIn(("<module>", self.script), {stack[-1][:2] for stack, _, _ in profile.samples if stack})
        self.assertIn({"part": "backward"}, [labels for _, _, labels in profile.samples])

    def test_pprof_opens_it(self):
        if not pprof_file.PPROF:
            self.skipTest("no pprof here (golang-1.19-go)")
        path = os.path.join(self.folder.name, "run.pb")
        with open(path, "wb") as file:
            file.write(self.export("-t", "pprof"))
        whole_ns = sum(self.nanoseconds(row, "CPU") for row in self.table("lines"))
        top = pprof_file.shown(self, path, "-top", "-lines", "-unit=ns", "-nodefraction=0")
        self.assertRegex(top, r"Type: cpu\n")  # nothing ran on a GPU
        self.assertIn(" of %dns total" % whole_ns, top)
        self.assertRegex(top, r" <module> %s:\d+\n" % re.escape(self.script))
        self.assertRegex(pprof_file.shown(self, path, "-tags"), r" part: .*(\n.*)* backward\n")
        self.assertIn("Type: calls\n", pprof_file.shown(self, path, "-top", "-sample_index=calls"))

    def test_without_a_gpu_there_are_no_gpu_columns(self):
        self.assertEqual([key for key in self.table("lines")[0] if "GPU" in key], [])

    def test_imports_are_those_of_importtime(self):
        plain = run(PYTHON, "-X", "importtime", "-c", "import torch", timeout=600)
        expected = re.findall(r"import time: +\d+ \| +\d+ \| +(\S+)", plain.stderr)
        text = run(BATCHLIGHT, "export", "-t", "importtime", "-o", "-", self.recording)
        self.assertEqual(text.returncode, 0, text.stderr)
        found = re.findall(r"import time: +\d+ \| +\d+ \| +(\S+)", text.stdout)
        self.assertGreater(len(found), 500)
        # What site loads comes before us, and the bridge itself needs atexit; the rest comes with torch.
        missing = set(expected[expected.index("site") + 1:]) - set(found) - {"atexit"}
        self.assertEqual(missing, set())
        imports = {row["Module"].strip(): row for row in self.table("imports")}
        self.assertEqual(imports["torch"]["Depth"], 0)
        self.assertTrue(imports["torch.nn"]["File"].endswith("/torch/nn/__init__.py"))
        size = os.path.getsize(imports["torch.nn"]["File"])
        self.assertEqual(imports["torch.nn"]["Size (B)"], size)
        self.assertGreater(imports["torch"]["Total Size (B)"], 50_000_000, "with its libraries")
        # Those that PyTorch's own extension needs came with it, and its file is none beside it.
        self.assertIn("/_C.", imports["torch._C"]["File"])
        libraries = [name.partition(".so")[0] for name in
                     imports["torch._C"]["Shared Libraries"].split(", ")]
        self.assertIn("libtorch_python", libraries)
        self.assertNotIn("_C", {name.partition(".")[0] for name in libraries})


if __name__ == "__main__":
    sys.exit(unittest.main())
