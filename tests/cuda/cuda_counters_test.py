"""Hardware counters of steps on the stand-in libcupti, which counts launched kernels."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from python_session import ALL, BUILD, LIBRARY, PythonSession  # noqa: E402

FAKES = os.environ.get("BATCHLIGHT_FAKES") or os.path.join(BUILD, "test", "fakes")
TRACE_CUDA = 1 << 5

# Steps of ten kernels each, some time long; with `graphs` the sixth makes nodes of a graph. Two ranks wait for each
# other in each step, by the pipes of a folder MEET.
STEPS = """
import ctypes, os, sys, time
import _batchlight_native as native
driver = ctypes.CDLL(%r)
cuda = ctypes.CDLL(%r)
class Launch(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("grid", ctypes.c_int32 * 3), ("block", ctypes.c_int32 * 3),
                ("stream", ctypes.c_uint32), ("duration_ns", ctypes.c_uint32),
                ("graph_node", ctypes.c_uint64), ("through_driver", ctypes.c_uint32)]
copy = ctypes.CDLL(None).strdup  # records are decoded when Python's own texts are gone
copy.restype = ctypes.c_void_p
launch = Launch(copy(b"_ZN4gemmEv"), (1, 1, 1), (32, 1, 1), 7, 1000, 0, 0)
cuda.fake_cuda_init()
folder, rank = os.environ.get("MEET"), int(os.environ.get("RANK", "0"))
if folder:
    own, other = [os.open(os.path.join(folder, str(r)), os.O_RDWR) for r in (rank, 1 - rank)]
def meet():
    if folder:
        os.write(own, b".")
        os.read(other, 1)
steps, graphs = int(sys.argv[1]), sys.argv[2:] == ["graphs"]
for step in range(steps):
    for _ in range(int(os.environ.get("KERNELS", "10"))):
        cuda.fake_cuda_launch(ctypes.byref(launch))
    if graphs:
        cuda.fake_cuda_graph_node(ctypes.c_uint64(1 + step), ctypes.c_uint64(0))
    time.sleep(0.01)
    meet()
    native.phase_begin(2, "Optimizer.step#SGD.step")
    native.phase_end()
print(cuda.fake_counters_enabled())
""" % (os.path.join(FAKES, "driver", "libcuda.so.1"), os.path.join(FAKES, "libcupti.so.13"))

PLAN = ("counters.pass=essentials=gpu__time_duration.sum,sm__inst_executed.sum\n"
        "counters.pass=memory=dram__bytes_read.sum\n"
        "counters.first=5\ncounters.steps=2\n")
# Place of a metric among those of the stand-in, by which it multiplies the kernels.
DURATION, INSTRUCTIONS, DRAM = 1, 4, 7


class StepCounters(unittest.TestCase):
    def run_steps(self, *arguments, plan=PLAN, trace=ALL | TRACE_CUDA, enabled="0", **variables):
        with PythonSession(trace=trace, extra=plan) as session:
            done = session.run("/usr/bin/python3", "-c", STEPS, *arguments or ["60"],
                               env=dict({"CUDA_INJECTION64_PATH": LIBRARY, "LD_LIBRARY_PATH": FAKES},
                                        **variables))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr, "")
            self.assertIn(done.stdout.strip(), enabled, "a profiler is left enabled")
            return (session.events("CounterRange"), session.events("CounterValue"),
                    [text for feature, text in session.reasons() if feature == "counters"])

    def test_passes_take_turns(self):
        ranges, values, reasons = self.run_steps()
        self.assertEqual(reasons, [])
        self.assertEqual([(r.range, r.counter_set, r.kernels) for r in ranges],
                         [(1, "essentials", 0), (2, "essentials", 0), (3, "memory", 0), (4, "memory", 0)])
        self.assertGreaterEqual(ranges[0].iteration, 5)
        self.assertEqual(ranges[1].iteration, ranges[0].iteration + 1)
        self.assertGreater(ranges[0].switch_ns, 0)
        said = {(v.range, v.metric): v.value for v in values}
        self.assertEqual(said, {
            (1, "gpu__time_duration.sum"): 10 * DURATION, (2, "gpu__time_duration.sum"): 10 * DURATION,
            (1, "sm__inst_executed.sum"): 10 * INSTRUCTIONS,
            (2, "sm__inst_executed.sum"): 10 * INSTRUCTIONS,
            (3, "dram__bytes_read.sum"): 10 * DRAM, (4, "dram__bytes_read.sum"): 10 * DRAM})
        self.assertTrue(all(v.kernel == 0 for v in values))

    def test_rounds_follow_each_other_within_their_share_of_time(self):
        ranges, _, reasons = self.run_steps("60", plan=PLAN + "counters.share=900000\n", enabled="01")
        self.assertEqual(reasons, [])
        self.assertGreater(len(ranges), 8)
        self.assertEqual([r.range for r in ranges], list(range(1, len(ranges) + 1)))

    def test_all_of_the_switching_counts_for_the_share(self):
        ranges, _, reasons = self.run_steps("60", plan=PLAN + "counters.share=20000\n", enabled="01",
                                            FAKE_COUNTERS_SLOW_MS="100")
        self.assertEqual(reasons, [])
        self.assertEqual(len(ranges), 4, "two passes take 200 ms to begin, so the next round may begin after 10 s")

    def test_each_kernel(self):
        ranges, values, reasons = self.run_steps(plan=PLAN + "counters.kernels=100\n")
        self.assertEqual(reasons, [])
        self.assertEqual([(r.range, r.counter_set, r.kernels) for r in ranges],
                         [(1, "essentials", 10), (2, "memory", 10)])
        self.assertEqual(sorted(v.kernel for v in values if v.metric == "dram__bytes_read.sum"),
                         list(range(1, 11)))
        self.assertEqual({v.value for v in values if v.range == 2}, {DRAM})
        self.assertEqual([r.iteration for r in ranges], [22, 23], "the first that can be")
        ranges, _, _ = self.run_steps(plan=PLAN.replace("first=5", "first=30") + "counters.kernels=100\n")
        self.assertEqual([r.iteration for r in ranges], [30, 31], "the steps that were named")

    def test_a_step_of_more_kernels_than_there_is_room_for_at_first_is_measured_again(self):
        ranges, values, reasons = self.run_steps(plan=PLAN + "counters.kernels=5000\n", KERNELS="700")
        self.assertEqual(reasons, [])
        self.assertEqual([(r.range, r.iteration, r.kernels) for r in ranges], [(1, 23, 700), (2, 24, 700)])
        self.assertEqual(max(v.kernel for v in values), 700)

    def test_the_rank_that_counts(self):
        plan = PLAN + "counters.kernels=100\ncounters.rank=1\n"
        for rank, count in (("0", 0), ("1", 2)):
            ranges, _, reasons = self.run_steps(plan=plan, RANK=rank)
            self.assertEqual((len(ranges), reasons), (count, []))
        self.assertEqual(len(self.run_steps(plan=plan)[0]), 2, "no launcher says a rank")

    def test_ranks_measure_the_same_iterations(self):
        plan = PLAN + "counters.share=200000\n"
        with tempfile.TemporaryDirectory() as folder, PythonSession(trace=ALL | TRACE_CUDA, extra=plan) as session:
            for rank in "01":
                os.mkfifo(os.path.join(folder, rank))
            # The second one's switching takes longer, so that by itself it would begin its rounds later.
            done = session.run("sh", "-c", 'RANK=0 "$@" & RANK=1 FAKE_COUNTERS_SLOW_MS=30 "$@"; wait', "sh",
                               "/usr/bin/python3", "-c", STEPS, "200",
                               env={"CUDA_INJECTION64_PATH": LIBRARY, "LD_LIBRARY_PATH": FAKES, "MEET": folder,
                                    "WORLD_SIZE": "2"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            first, second = [[(r.iteration, r.counter_set) for r in process.records("CounterRange")]
                             for process in session.processes() if process.records("CounterRange")]
            self.assertEqual(session.reasons(), [])
        both = min(len(first), len(second))
        self.assertGreaterEqual(both, 8, "two rounds of two passes of two iterations")
        self.assertEqual(first[:both], second[:both])
        self.assertLessEqual(abs(len(first) - len(second)), 4, "the last one may be under way at the end")

    def test_more_kernels_than_there_is_room_for(self):
        ranges, _, reasons = self.run_steps(plan=PLAN + "counters.kernels=6\n")
        self.assertEqual([r.kernels for r in ranges], [6, 6])
        self.assertEqual(reasons, ["some kernels have no counters: a step has more than fit, which are 6"])

    def refused(self, call, result, enabled="0", **options):
        ranges, values, reasons = self.run_steps(FAKE_COUNTERS_REFUSE=f"{call}:{result}",
                                                 enabled=enabled, **options)
        self.assertEqual(values, [])
        self.assertEqual(len(reasons), 1, reasons)
        return ranges, reasons[0]

    def test_no_permission(self):
        for call in ("GetCounterAvailability", "RangeProfilerStart"):
            with self.subTest(call):
                ranges, reason = self.refused(call, 35)
                self.assertEqual(ranges, [])
                self.assertIn("hardware counters are not read: the driver lets only administrators", reason)

    def test_another_program_has_the_counters(self):
        self.assertIn("another program reads the counters", self.refused("RangeProfilerEnable", 26)[1])

    def test_what_else_has_words(self):
        for result, words in ((8, "no memory for counters"), (15, "install the whole package nvidia-cuda-cupti"),
                              (27, "lets nobody read counters"), (43, r"shared \(MIG, MPS, a virtual machine\)"),
                              (46, "update the package nvidia-cuda-cupti")):
            with self.subTest(result):
                ranges, reason = self.refused("RangeProfilerSetConfig", result)
                self.assertEqual(ranges, [])
                self.assertRegex(reason, "^hardware counters are not read: .*" + words)

    def test_whatever_else_fails(self):
        for call in ("Initialize", "HostInitialize", "RangeProfilerEnable", "RangeProfilerSetConfig",
                     "RangeProfilerPushRange"):
            with self.subTest(call):
                ranges, reason = self.refused(call, 999)
                self.assertEqual(ranges, [])
                self.assertRegex(reason, f"cupti(Profiler|){call} of CUPTI fails with result 999")

    def test_values_that_cannot_be_had(self):
        ranges, reason = self.refused("HostEvaluateToGpuValues", 999)
        self.assertEqual(len(ranges), 2, "the steps were measured")
        self.assertIn("are read no further: cuptiProfilerHostEvaluateToGpuValues", reason)
        ranges, reason = self.refused("RangeProfilerDecodeData", 999)
        self.assertEqual(len(ranges), 2)

    def test_a_metric_that_the_chip_lacks(self):
        ranges, _, reasons = self.run_steps(FAKE_COUNTERS_MISSING="dram__bytes_read.sum")
        self.assertEqual(reasons, ["counters of the set memory are not read: CUPTI refuses them with result "
                                   "17, from dram__bytes_read.sum to dram__bytes_read.sum"])
        self.assertEqual([r.counter_set for r in ranges], ["essentials"] * 2, "the other pass is read")

    def test_a_pass_that_this_gpu_takes_in_two(self):
        many = ",".join(f"sm__inst_executed.{i}" for i in range(5))
        ranges, _, reasons = self.run_steps(plan=PLAN.replace("dram__bytes_read.sum", many))
        self.assertEqual(reasons, ["counters of the set memory are not read: they take 2 passes on this GPU, "
                                   "from sm__inst_executed.0 to sm__inst_executed.4"])
        self.assertEqual([r.counter_set for r in ranges], ["essentials"] * 2)

    def test_while_a_graph_is_captured_cupti_is_left_alone(self):
        ranges, values, reasons = self.run_steps("30", "graphs")
        self.assertEqual((ranges, values), ([], []))
        self.assertEqual(len(reasons), 1)
        self.assertIn("capture of a graph", reasons[0])

    def test_a_program_that_ends_before_and_within(self):
        _, _, reasons = self.run_steps("25", plan=PLAN.replace("first=5", "first=50"))
        self.assertEqual(reasons, ["hardware counters were not read: the program ended before the first "
                                   "step that was to be measured"])
        ranges, values, reasons = self.run_steps("60", plan=PLAN.replace("steps=2", "steps=100"), enabled="1")
        self.assertGreater(len(ranges), 10)
        self.assertEqual(values, [])
        missing = "the program ended before all counters were read: missing is pass "
        self.assertEqual(reasons, [missing + "1 to 2 of 2, essentials, memory"])
        # Kernel by kernel the first pass is that of the last iteration.
        ranges, values, reasons = self.run_steps("22", plan=PLAN + "counters.kernels=100\n", enabled="01")
        self.assertEqual(reasons, [missing + "2 of 2, memory"])
        self.assertEqual({v.metric for v in values}, {"gpu__time_duration.sum", "sm__inst_executed.sum"})
        _, _, reasons = self.run_steps("60", plan=PLAN + "counters.share=900000\n", enabled="01")
        self.assertEqual(reasons, [], "all passes were read once")

    def test_no_steps(self):
        _, _, reasons = self.run_steps("0")
        self.assertEqual(len(reasons), 1)
        self.assertIn("no iteration of a training loop was seen", reasons[0])

    def test_nothing_is_asked_for(self):
        self.assertEqual(self.run_steps(plan=""), ([], [], []))


if __name__ == "__main__":
    unittest.main()
