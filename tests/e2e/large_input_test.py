"""Inputs of so many things of one kind that time by the square of their number would be minutes of
a processor, where what grows as they do takes seconds. Processor time is counted, so that a busy
machine changes nothing."""
import json
import os
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, InFolder  # noqa: E402

MOST_CPU_S = 25  # by the square each of these takes 45 to 300 s
WAIT_S = 600
CHUNK = "chunk pid=5 tid=5 index=%d attach_ns=100 clock=monotonic base_ticks=%d base_ns=%d"


class LargeInputs(InFolder):
    def read(self, *words):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
        done = subprocess.run([BATCHLIGHT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=WAIT_S, preexec_fn=limit, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace")[-2000:])
        return done.stdout.decode()

    def recording(self, lines):
        with open(self.path("large.txt"), "w") as text:
            text.write(CHUNK % (0, 100, 100) + "\n")
            text.writelines(line + "\n" for line in lines)
        self.read("trace", "assemble", "large.txt", "-o", "large.batchlight.live")
        return "large.batchlight.live"

    def trace(self, events):
        common = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "dur": 1}
        with open(self.path("large.json"), "w") as file:
            json.dump({"schemaVersion": 1, "traceEvents": [dict(common, **event) for event in events]},
                      file)
        return "large.json"

    def test_metrics_of_gpus(self):
        path = self.recording('+1 GpuMetric id=%d device=%d uuid="a" name="sm" unit="%%" source=1 '
                              "interval_ns=1000" % (i + 1, i) for i in range(400000))
        self.read("summary", path)

    def test_ranges_inside_one_another(self):
        path = self.recording('+%d RangePush message="n%d"' % (i + 1, i) for i in range(400000))
        self.read("summary", path)

    def test_operators_inside_one_another(self):
        count = 500000
        path = self.trace({"ts": i, "dur": 2 * (count - i), "name": "aten::op%d" % i, "args": {}}
                          for i in range(count))
        self.read("summary", path)

    def test_gpus_of_a_process_each(self):
        path = self.trace({"cat": "kernel", "pid": i, "tid": i, "ts": i, "name": "k%d" % i,
                           "args": {"device": i, "stream": i, "correlation": i, "context": i}}
                          for i in range(200000))
        self.read("report", "-o", "large_report", path)

    def test_processes_with_a_thread_each(self):
        path = self.trace({"pid": i + 1, "tid": i + 1, "ts": i, "name": "aten::mm", "args": {}}
                          for i in range(200000))
        self.read("report", "-o", "large_report", path)

    def test_copies_that_overlap_on_a_stream(self):
        count = 500000
        path = self.trace({"cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": i,
                           "dur": count, "args": {"device": 0, "stream": 7, "correlation": i + 1,
                                                  "bytes": 4}} for i in range(count))
        self.read("export", "-t", "perfetto", "-o", "large.perfetto", path)

    def test_one_source_file_under_many_names(self):
        with open(self.path("train.py"), "w") as file:
            file.write("x = 1  # nothing\n" * 200000)
        os.utime(self.path("train.py"), (0, 0))

        def frames():
            for i in range(20000):
                dots = "".join("./" if i >> bit & 1 else "/" for bit in range(15))
                yield '+1 PythonCode id=%d file="%s/%strain.py" function="f" first_line=1' % (
                    i + 1, self.folder, dots)
                yield "+1 PythonStack id=%d code=%d line=7" % (i + 1, i + 1)
                yield ("+2 PythonSample pid=5 tid=5 stack=%d samples=1 wall_ns=1000 cpu_ns=1000" %
                       (i + 1))
        path = self.recording(frames())
        self.read("summary", path)
        self.read("report", "-o", "large_report", path)

    def test_loops_that_ask_for_a_loader_in_each_step(self):
        def steps(count):
            for at in range(0, 1000 * count, 1000):
                for begin, end, phase, name in ((0, 50, 5, "DataLoader"), (60, 100, 4, "DataLoader"),
                                                (200, 400, 1, "backward"), (500, 600, 2, "SGD.step")):
                    yield '+%d PhaseBegin phase=%d name="%s"' % (at + begin + 1, phase, name)
                    yield "+%d PhaseEnd" % (at + end + 1)

        def chunks():
            yield from steps(150000)
            yield CHUNK % (1, 150000100, 150000100)
            yield from steps(150000)
        self.assertIn("300,000", self.read("summary", self.recording(chunks())))


if __name__ == "__main__":
    unittest.main()
