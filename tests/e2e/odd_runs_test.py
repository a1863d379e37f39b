"""Runs that are not a plain training loop: no step, one step, nested and overlapping ranges, several
models and processes, inference, no GPU, no shapes, an unknown GPU. Each as a Kineto trace and as an
nsys database: a line that says what is odd, and the rest of the analysis."""
import json
import pathlib
import tempfile
import unittest

from recorded import BATCHLIGHT, run

SHAPES = {"Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"]}


def event(category, name, ts, dur, pid=1, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}


def marked(name, ts, dur):
    return event("user_annotation", name, ts, dur)


class Run:
    """Events of a loop; every piece is one step's forward on CPU and GPU, then an optimizer's step."""

    def __init__(self):
        self.correlation = 0
        self.events = []

    def piece(self, ts, model="Net_0", pid=1, shapes=True, gpu=True, optimizer=True):
        self.events += [
            event("python_function", "nn.Module: " + model, ts, 300, pid, **{"Python id": 1}),
            event("cpu_op", "aten::mm", ts + 10, 100, pid, **(SHAPES if shapes else {})),
            event("cpu_op", "aten::relu", ts + 150, 50, pid)]
        if gpu:
            self.kernel("sm80_xmma_gemm_f32f32", ts + 20, ts + 60, pid)
            self.kernel("elementwise_kernel", ts + 160, ts + 170, pid)
        if optimizer:
            self.events.append(
                event("user_annotation", "Optimizer.step#SGD.step", ts + 400, 100, pid))
        return self

    def kernel(self, name, launched, ts, pid):
        self.correlation += 1
        self.events += [
            event("cuda_runtime", "cudaLaunchKernel", launched, 2, pid,
                  correlation=self.correlation),
            event("kernel", name, ts, 40, 0, 7, device=0, context=1, stream=7, grid=[10, 1, 1],
                  block=[128, 1, 1], correlation=self.correlation)]


class OddRuns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def kinds(self, events, gpu="NVIDIA H200"):
        trace = self.folder / "run.json"
        trace.write_text(json.dumps({
            "schemaVersion": 1, "traceEvents": events,
            "deviceProperties": [{"id": 0, "name": gpu, "computeMajor": 9, "numSms": 132}]}))
        database = self.folder / "run.sqlite"
        done = run(BATCHLIGHT, "export", "-q", "-f", "true", "-t", "sqlite", "-o", database, trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return trace, database

    def summaries(self, events, **options):
        """The summary of each kind as one line of words, after every other command has worked."""
        for path in self.kinds(events, **options):
            with self.subTest(kind=path.suffix):
                for words in (["tree", path], ["analyze", path], ["diff", path, path],
                              ["table", "operators", path], ["table", "steps", path],
                              ["report", path, "-f", "-o", self.folder / "page"],
                              ["dlprof", f"--nsys_database={path}", "--reports=all", "--force=true",
                               f"--output_path={self.folder}"]):
                    done = run(BATCHLIGHT, *words)
                    self.assertEqual(done.returncode, 0, (words, done.stderr))
                rows = (self.folder / "dlprof_detailed.csv").read_text().splitlines()
                self.assertGreater(len(rows), 2)
                done = run(BATCHLIGHT, "summary", path)
                self.assertEqual(done.returncode, 0, done.stderr)
                yield " ".join(done.stdout.split())

    def loop(self, **piece):
        loop = Run()
        for i in range(8):
            loop.piece(1000 * i, **piece)
        return loop

    def test_no_step(self):
        for text in self.summaries(Run().piece(100, optimizer=False).events):
            self.assertIn("no steps: nothing repeats", text)
            self.assertIn("aten::mm", text)
            self.assertIn("elementwise_kernel", text)
        for path in self.kinds(Run().piece(100, optimizer=False).events):
            done = run(BATCHLIGHT, "diff", path, path)
            self.assertIn("cannot compare steps", done.stdout)
            self.assertIn("aten::mm", done.stdout, "whole runs are compared")
            gate = run(BATCHLIGHT, "diff", path, path, "--fail-on", "step>1%")
            self.assertEqual(gate.returncode, 3, gate.stderr)

    def test_one_step(self):
        for text in self.summaries(Run().piece(100).events):
            self.assertIn("1 step,", text)
        for path in self.kinds(Run().piece(100).events):
            self.assertIn("one step proves nothing", run(BATCHLIGHT, "diff", path, path).stdout)

    def test_nested_ranges_are_one_step(self):
        loop = self.loop()
        loop.events += [marked("step", 1000 * i + at, length)
                        for i in range(8) for at, length in ((0, 900), (100, 700))]
        for text in self.summaries(loop.events):
            self.assertIn('8 steps, from the end of the NVTX range "step" to the next median 1.00 ms', text)

    def test_overlapping_ranges_are_said(self):
        loop = self.loop()
        loop.events += [marked("step", 1000 * i, 1200) for i in range(8)]
        for text in self.summaries(loop.events):
            self.assertIn('4 steps, from the end of the NVTX range "step" to the next; 4 of that name begin before', text)

    def test_two_models(self):
        loop = Run()
        for i in range(8):
            loop.piece(1000 * i, "Generator_0", optimizer=False)
            loop.piece(1000 * i + 400, "Discriminator_0")
        for text in self.summaries(loop.events):
            self.assertIn("8 steps", text)
            self.assertIn("Generator", text)
            self.assertIn("Discriminator", text)

    def test_two_processes(self):
        loop = Run()
        for i in range(8):
            loop.piece(1000 * i, pid=1).piece(1000 * i + 5, pid=2)
        for text in self.summaries(loop.events):
            self.assertIn("2 processes", text)
            self.assertIn("pid 2", text)

    def test_only_inference(self):
        loop = self.loop(optimizer=False)
        loop.events += [marked("enumerate(DataLoader)#Iter.__next__", 1000 * i + 950, 20)
                        for i in range(8)]
        for text in self.summaries(loop.events):
            self.assertIn("(no optimizer step was seen)", text)
            self.assertIn("data loading", text)

    def test_no_gpu(self):
        for text in self.summaries(self.loop(gpu=False).events):
            self.assertIn("8 steps", text)
            self.assertNotIn("on the GPU", text)

    def test_no_shapes(self):
        for text in self.summaries(self.loop(shapes=False).events):
            self.assertIn("MFU not known: operators were recorded without the sizes", text)
            self.assertIn("A step on the GPU", text)

    def test_unknown_gpu(self):
        for text in self.summaries(self.loop().events, gpu="NVIDIA QX-9000"):
            self.assertIn("no peak is known of NVIDIA QX-9000", text)
            self.assertIn("A step on the GPU", text)


if __name__ == "__main__":
    unittest.main()
