#!/usr/bin/env python3
"""GPU memory of PyTorch's allocator by line, as tables, stacks and a snapshot that PyTorch's own memory_viz
reads: of a recording with a line, its backward, and a block that Python asked for outside of operators."""
import glob
import importlib.util
import json
import os
import pickle
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, InFolder, run  # noqa: E402

SEGMENT = 1 << 23  # its address, and its bytes
MB = 1 << 20
GPU = 140737488355328  # of times of CUPTI (kGpuTimeBias)
RECORDING = f"""\
chunk pid=0 tid=1 thread=0 attach_ns=0 clock=monotonic base_ticks=1000 base_ns=1000
+0 ClockSync monotonic_ns=1000 realtime_ns=1700000000000001000
chunk pid=41 tid=41 thread=0 index=0 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000
+0 ProcessStart parent_pid=1 executable="/usr/bin/python3" command_line="train.py" start_ns=1900
+0 PythonCode id=1 file="/home/user/train.py" function="main" first_line=1
+0 PythonStack id=1 code=1 line=7
+0 PythonStack id=2 code=1 line=20
+100 OpBegin name="aten::linear" sequence=-1 stack=1
+110 OpBegin name="aten::addmm" sequence=5
+120 MemoryAllocated address={SEGMENT} bytes=1000000 source=2
+190 OpEnd
+200 OpEnd
+500 MemoryAllocated address={SEGMENT + 2 * MB} bytes=3000000 stack=2 source=2
chunk pid=41 tid=42 thread=1 index=0 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000
+310 OpBegin name="autograd::engine::evaluate_function: AddmmBackward0" sequence=-1
+315 OpBegin name="AddmmBackward0" sequence=5 scope=1 forward_thread=1
+320 MemoryAllocated address={SEGMENT + MB} bytes=500000 source=2
+330 MemoryFreed address={SEGMENT}
+340 OpEnd
+350 OpEnd
chunk pid=41 tid=43 thread=2 index=0 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000
+0 GpuClock cupti_ns=5000000 uncertainty_ns=20
+900 GpuClock cupti_ns=5000900 uncertainty_ns=20
+900 GpuTimeBase base_ns=5000000
+{GPU + 50} GpuMemory address={SEGMENT} bytes={SEGMENT} operation=1 memory_kind=3
+{GPU + 60} GpuMemory address={4 * SEGMENT} bytes=4096 operation=1 memory_kind=3
"""


def memory_viz():
    """PyTorch's own readers of snapshots that are here: modules."""
    found = []
    folders = ["/usr/lib/python3*/dist-packages", "/usr/local/lib/python3*/dist-packages",
               *sys.path, os.environ.get("BATCHLIGHT_TORCH", "")]
    for path in sorted({path for folder in folders if folder
                        for path in glob.glob(os.path.join(folder, "torch/cuda/_memory_viz.py"))}):
        spec = importlib.util.spec_from_file_location("memory_viz_%d" % len(found), path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append(module)
    return found


class GpuMemoryLines(InFolder):
    def setUp(self):
        super().setUp()
        with open(self.path("run.txt"), "w", encoding="utf-8") as file:
            file.write(RECORDING)
        self.run = self.path("run.batchlight.live")
        self.tool("trace", "assemble", self.path("run.txt"), "-o", self.run)

    def tool(self, *words):
        done = run(BATCHLIGHT, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def snapshot(self):
        path = self.path("run.pickle")
        self.tool("export", "-q", "-f", "true", "-t", "memory-snapshot", "-o", path, self.run)
        with open(path, "rb") as file:
            return pickle.load(file)

    def test_table(self):
        rows = {row["Line"].rpartition("/")[2]: row for row in
                json.loads(self.tool("table", "memory_lines", "-f", "json", self.run))}
        self.assertEqual(set(rows), {"train.py:7", "train.py:20"})
        line = {key.removesuffix(" (B)"): value for key, value in rows["train.py:7"].items()}
        self.assertEqual(line["What"], "line")
        self.assertEqual([line[key] for key in (
            "GPU At Peak", "GPU Allocations", "GPU Allocated", "GPU Backward", "GPU At End")],
            [500000, 2, 1500000, 500000, 500000])
        self.assertNotIn("Growth/Step", line)

    def test_summary(self):
        text = self.tool("summary", self.run)
        self.assertRegex(text, r"GPU memory by line of Python, 3\.\d+ MiB at the peak")
        self.assertRegex(text, r"train\.py:20 +.*85\.7 ?%")

    def test_stacks(self):
        def folded(stacks):
            return self.tool("export", "-q", "-t", "folded", "--stacks=" + stacks, "-o", "-", self.run)
        self.assertRegex(folded("gpu-memory"), r"main \(train.py:7\);\[backward\];AddmmBackward0 500000\n")
        self.assertIn("main (train.py:7);aten::addmm 1000000\n", folded("gpu-allocations"))
        self.assertNotIn("aten::addmm", folded("gpu-memory"))
        speedscope = json.loads(self.tool(
            "export", "-q", "-t", "speedscope", "--stacks=gpu-allocations", "-o", "-", self.run))
        self.assertEqual({profile["unit"] for profile in speedscope["profiles"]}, {"bytes"})
        self.assertEqual(sum(profile["endValue"] for profile in speedscope["profiles"]), 4500000)
        refused = run(BATCHLIGHT, "export", "-t", "folded", "--stacks=memory", "-o", "-", self.run)
        self.assertIn("--python-memory=sampled", refused.stderr)

    def test_snapshot(self):
        data = self.snapshot()
        (segment,) = data["segments"]  # the other one is not PyTorch's
        self.assertEqual((segment["address"], segment["total_size"], segment["requested_size"]),
                         (SEGMENT, SEGMENT, 3500000))
        self.assertEqual(
            [(block["address"] - SEGMENT, block["size"], block["requested_size"], block["state"])
             for block in segment["blocks"]],
            [(0, MB, MB, "inactive"), (MB, 500224, 500000, "active_allocated"),
             (MB + 500224, MB - 500224, MB - 500224, "inactive"),
             (2 * MB, 3000320, 3000000, "active_allocated"),
             (2 * MB + 3000320, 6 * MB - 3000320, 6 * MB - 3000320, "inactive")])
        self.assertEqual(
            [(entry["action"], entry["addr"] - SEGMENT, entry["size"])
             for entry in data["device_traces"][0]],
            [("segment_alloc", 0, SEGMENT), ("alloc", 0, 1000000), ("alloc", MB, 500000),
             ("free_requested", 0, 1000000), ("free_completed", 0, 1000000),
             ("alloc", 2 * MB, 3000000)])
        frames = [(frame["name"], frame["filename"].rpartition("/")[2], frame["line"])
                  for frame in segment["blocks"][1]["frames"]]
        self.assertEqual(frames, [("AddmmBackward0", "[operator]", 0), ("backward of", "[forward]", 0),
                                  ("main", "train.py", 7)])
        self.assertEqual(data["device_traces"][0][1]["time_us"], 1700000000000002120 // 1000)

    def test_memory_viz(self):
        readers = memory_viz()
        if not readers:
            self.skipTest("no PyTorch here")
        data = self.snapshot()
        for viz in readers:
            is_old = not hasattr(viz, "trace_plot")  # of PyTorch 1, which takes segments alone
            flames = viz.memory(data["segments"] if is_old else data,
                                format_flamegraph=lambda lines: lines)
            self.assertRegex(flames, r"stream_0;active_allocated.*")
            if not is_old:
                self.assertIn("train.py:7:main", flames)
                self.assertIn("total_allocated: 3.3MiB", viz.segsum(data))
                self.assertIn("6 entries", viz.trace(data))
                self.assertIn("<html", viz.trace_plot(data).lower())

    def test_what_was_not_recorded_is_said(self):
        with open(self.path("run.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(line for line in RECORDING.splitlines() if "source=2" not in line))
        self.run = self.path("other.batchlight.live")
        self.tool("trace", "assemble", self.path("run.txt"), "-o", self.run)
        done = run(BATCHLIGHT, "export", "-t", "memory-snapshot", "-o", "-", self.run)
        self.assertEqual(done.returncode, 3)
        self.assertIn("--cuda-memory-usage=true --python-lines=gpu", done.stderr)


if __name__ == "__main__":
    unittest.main()
