"""Samples of GPU instructions on the stand-in libcupti, which has six for every kernel of a window."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]
from python_session import ALL, LIBRARY, PythonSession  # noqa: E402
from cuda_counters_test import FAKES, STEPS, TRACE_CUDA  # noqa: E402

CUBIN = os.path.join(HERE, "scale.cubin")
SCALE = "_Z5scalePfPKfi"
PROGRAM = STEPS.replace("_ZN4gemmEv", SCALE).replace("cuda.fake_cuda_init()", """cuda.fake_cuda_init()
code = open(os.environ["CUBIN"], "rb").read()
code += bytes(int(os.environ.get("PADDING", "0")))
cuda.fake_cuda_load_module(code, ctypes.c_uint64(len(code)))
unloads = int(os.environ.get("UNLOADS", "-1"))
captures, broken, done = os.environ.get("CAPTURES"), 0, threading.Event()
def capture():
    global broken
    while not done.wait(0.001):
        cuda.fake_cuda_begin_capture(7)
        time.sleep(0.001)
        broken += cuda.fake_cuda_end_capture()
thread = threading.Thread(target=capture)
if captures == "beside":
    thread.start()""").replace("sys, time", "sys, threading, time").replace("    if graphs:", """    if step == unloads:
        cuda.fake_cuda_unload_module()
    if "GRAPHS" in os.environ:
        cuda.fake_cuda_graph_launch(5, 7, 1000)
    if captures == "within" and step % 3 == 0 or captures == "across" and step == 30:
        cuda.fake_cuda_begin_capture(7)
        cuda.fake_cuda_launch(ctypes.byref(launch))
    if captures == "within" and step % 3 == 0 or captures == "across" and step == 40:
        broken += cuda.fake_cuda_end_capture()
    if graphs:""") + """done.set()
if captures == "beside":
    thread.join()
sys.exit(1 if broken else 0)
"""
IN_A_ROW = "stalls.windows=3\nstalls.first=30\nstalls.share=0\n"
PREFIX = "smsp__pcsamp_warps_issue_stalled_"


class Stalls(unittest.TestCase):
    def sample(self, *arguments, extra=IN_A_ROW, trace=ALL | TRACE_CUDA, **variables):
        with PythonSession(trace=trace, extra=extra) as session:
            done = session.run("/usr/bin/python3", "-c", PROGRAM, *arguments or ["60"],
                               env=dict({"CUDA_INJECTION64_PATH": LIBRARY, "LD_LIBRARY_PATH": FAKES + ":" +
                                         os.path.join(FAKES, "driver"), "CUBIN": CUBIN}, **variables))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.windows = session.events("StallWindow")
            self.samples = session.events("StallSample")
            self.totals = session.events("StallTotals")
            self.code = session.events("GpuCode")
            self.launches = session.events("Kernel")
            return [text for feature, text in session.reasons() if feature == "counters"]

    def test_windows_in_a_row(self):
        self.assertEqual(self.sample(), [])
        self.assertEqual([(w.window, w.iteration, w.period_log2, w.flags) for w in self.windows],
                         [(1, 30, 10, 1), (2, 31, 10, 1), (3, 32, 10, 1)])
        counted = {}
        for s in self.samples:
            self.assertEqual(s.function, SCALE)
            key = (s.window, s.offset, s.reason[len(PREFIX):])
            counted[key] = counted.get(key, 0) + s.samples
        self.assertEqual(counted, {
            (w, *what): 10 * samples for w in (1, 2, 3) for what, samples in (
                ((0x80, "long_scoreboard"), 4), ((0x80, "long_scoreboard_not_issued"), 3), ((0x50, "selected"), 2))})
        self.assertEqual([(t.window, t.samples, t.dropped, t.foreign, t.flags) for t in self.totals],
                         [(w, 90, 10, 20, 0) for w in (1, 2, 3)])
        self.assertEqual(len({s.correlation for s in self.samples}), 30, "each launch by itself")

    def test_code_that_was_sampled_is_kept_once(self):
        self.sample()
        with open(CUBIN, "rb") as file:
            code = file.read()
        self.assertEqual({piece.total_bytes for piece in self.code}, {len(code)})
        self.assertEqual({piece.cubin for piece in self.code}, {s.cubin for s in self.samples})
        self.assertEqual(b"".join(piece.tail for piece in sorted(self.code, key=lambda p: p.offset)), code)
        self.sample(PADDING=str(2 << 20))
        self.assertGreater(len(self.code), 60, "long, but with lines")
        self.sample(PADDING=str(17 << 20))
        self.assertEqual(self.code, [], "too long")
        self.assertEqual(len(self.windows), 3)

    def test_continuous(self):
        self.assertEqual(self.sample(extra=IN_A_ROW + "stalls.continuous=1\n"), [])
        self.assertEqual({w.flags for w in self.windows}, {0})
        self.assertEqual({s.correlation for s in self.samples}, {0})

    def test_windows_keep_to_their_share_of_time(self):
        self.assertEqual(self.sample("100", extra="stalls.share=100\nstalls.first=5\n"), [])
        few = len(self.windows)
        self.sample("100", extra="stalls.share=900000\nstalls.first=5\n")
        self.assertGreaterEqual(few, 1)
        self.assertGreater(len(self.windows), few)
        self.assertEqual([w.window for w in self.windows], list(range(1, len(self.windows) + 1)))

    def test_counters_come_first(self):
        reasons = self.sample(extra=IN_A_ROW + "counters.pass=a=sm__inst_executed.sum\ncounters.first=30\n"
                              "counters.steps=1\ncounters.kernels=100\n")
        self.assertEqual(reasons, [])
        self.assertEqual([w.iteration for w in self.windows], [31, 32, 33])

    def test_faults(self):
        for call, result, why in (("PCSamplingEnable", 35, "only administrators"),
                                  ("PCSamplingEnable", 26, "another program reads the counters"),
                                  ("PCSamplingSetConfigurationAttribute", 7, "fails with result 7"),
                                  ("PCSamplingStart", 26, "another program reads the counters"),
                                  ("PCSamplingGetData", 999, "cuptiPCSamplingGetData of CUPTI fails with result 999")):
            with self.subTest(call):
                reasons = self.sample(FAKE_COUNTERS_REFUSE=f"{call}:{result}")
                self.assertEqual(len(reasons), 1, reasons)
                self.assertIn("stalls are", reasons[0])
                self.assertIn(why, reasons[0])
                self.assertEqual(self.samples, [])

    def test_an_older_cupti(self):
        reasons = self.sample(FAKE_CUPTI_VERSION="21")
        self.assertEqual(reasons, ["stalls are not sampled: this libcupti is older than CUDA 12.4: update the package "
                                   "nvidia-cuda-cupti"])

    def test_a_full_buffer_and_an_unloaded_module(self):
        self.sample(FAKE_STALLS_FULL="1", UNLOADS="30")
        self.assertEqual({t.flags for t in self.totals}, {1})
        self.assertEqual([w.modules_unloaded for w in self.windows], [0, 1, 0])

    def test_graphs_that_are_captured_are_left_alone(self):
        self.assertIn("outside of the capture of a graph", self.sample("60", "graphs")[0])
        self.assertEqual(self.windows, [])

    def test_no_capture_is_ever_broken(self):
        """Neither one within an iteration, nor one that lasts for some, nor those of another thread."""
        self.assertEqual(self.sample("90", CAPTURES="within"), [])
        self.assertEqual(len(self.windows), 3)
        self.assertIn(3, {w.flags for w in self.windows}, "cut short by a capture")
        self.assertEqual(self.sample("60", CAPTURES="across"), [])
        self.assertEqual([(w.iteration, w.flags) for w in self.windows], [(30, 1), (31, 3), (42, 1)])
        self.assertEqual(self.sample("45", extra=IN_A_ROW.replace("windows=3", "windows=0"), CAPTURES="beside"), [])

    def test_a_lost_device_and_another_rank(self):
        self.sample(FAKE_DRIVER="lost device")
        self.assertEqual(self.windows, [])
        self.assertEqual(self.sample(extra=IN_A_ROW + "stalls.rank=3\n", RANK="0"), [])
        self.assertEqual(self.windows, [])

    def test_a_program_that_ends_before(self):
        self.assertIn("ended before the first step", self.sample("25")[0])
        self.assertIn("no iteration of a training loop was seen", self.sample("5")[0])

    def test_a_process_that_only_compiles_has_nothing_to_say(self):
        self.assertEqual(self.sample("5", FAKE_CUDA_NO_CONTEXT="1"), [])

    def test_nothing_is_sampled_unless_asked_for(self):
        self.assertEqual(self.sample(extra=""), [])
        self.assertEqual((self.windows, self.samples, self.code), ([], [], []))


if __name__ == "__main__":
    unittest.main()
