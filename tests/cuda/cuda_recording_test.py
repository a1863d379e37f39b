"""Records a program on the stand-in libcupti and compares the recording with what it did."""

import collections
import os
import re
import resource
import struct
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "inject"))
from live_folder import LiveFolder  # noqa: E402

BUILD = os.environ.get("BATCHLIGHT_BUILD") or os.path.join(HERE, "..", "..", "build", "dev")
SANITIZER = os.environ.get("BATCHLIGHT_SANITIZER", "")  # its runtime, where there is one
BUILD = os.path.abspath(BUILD)
LIBRARY = os.path.join(BUILD, "lib", "libbatchlight_inject.so")
PROGRAM = os.path.join(BUILD, "test", "fake_training")
TRACE_CUDA = 1 << 5
GPU_TIME_BIAS = 1 << 47
BUDGET = 64 << 20


class Run:
    """One run of fake_training. Its words go to it; `environment` to the fake."""

    def __init__(self, *words, environment=None, before=None, **members):
        members.setdefault("trace", TRACE_CUDA)
        members.setdefault("budget_bytes", BUDGET)
        self.folder = LiveFolder(LIBRARY, **members)
        variables = self.folder.environment()
        if SANITIZER:
            variables["LD_PRELOAD"] = SANITIZER + ":" + LIBRARY
        variables["CUDA_INJECTION64_PATH"] = LIBRARY
        variables.update(environment or {})
        self.result = subprocess.run([PROGRAM, *words], env=variables, text=True, timeout=250,
                                     preexec_fn=before, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = dict(re.findall(r"(\w+)=(\S+)", self.result.stdout))
        self.processes = self.folder.processes()

    def records(self, *kinds):
        return [r for process in self.processes for r in process.records(*kinds)]

    def counter(self, name):
        return sum(process.counters().get(name, 0) for process in self.processes)

    def reasons(self):
        return [(r.feature, r.text) for r in self.records("Reason")]


def launch_key(record):
    """Device, context, stream, grid and block of a kernel."""
    raw = record.raw["launch"]
    return struct.unpack_from("<9I", raw)


class Recording(unittest.TestCase):
    def test_every_launch_and_its_call(self):
        run = Run("threads=4", "launches=5000", "names=12")
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        kernels = run.records("Kernel")
        calls = run.records("CudaCall")
        self.assertEqual(len(kernels), 20000)
        self.assertEqual(len(calls), 20000)
        self.assertEqual({r.correlation for r in kernels}, {r.correlation for r in calls})
        names = collections.Counter(r.name for r in kernels)
        self.assertEqual(len(names), 12)
        self.assertEqual(names["_ZN4fake7kernel0IfEEvPT_i"], 4 * 417)
        streams = collections.Counter(launch_key(r)[2] for r in kernels)
        self.assertEqual(streams, {7: 5000, 8: 5000, 9: 5000, 10: 5000})
        through_driver = sum(1 for r in calls if r.call >> 31)
        self.assertEqual(through_driver, 2000)
        self.assertEqual(len({r.tid for r in calls}), 4)
        self.assertEqual(run.said["dirty"], "0", "a buffer was handed out that was not zeroed")
        self.assertEqual(run.counter("CudaRecordsDropped"), 0)

    def test_what_is_copied_again_unchanged_is_said(self):
        # What is copied once, as a model's weights, is not looked at: that would read files that are mapped, page by
        # page, and leave no look for the loop.
        run = Run("launches=10", "weights=2500", "copies=10")
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        said = [r.value for r in run.records("Property") if r.key == "copies.repeated"]
        self.assertEqual(said, ["4 6 2097152", "8 10 2097152"])

    def test_the_cost_of_decoding_is_of_many_records(self):
        for launches, known in ((2000, True), (10, False)):
            costs = [r.what for r in Run(f"launches={launches}").records("RecordCost")]
            self.assertEqual("decode" in costs, known, costs)

    def test_times_lie_on_the_axis(self):
        begin = time.time_ns()
        run = Run("launches=100")
        end = time.time_ns()
        clocks = run.records("GpuClock")
        self.assertGreaterEqual(len(clocks), 2)
        for clock in clocks:
            self.assertLess(clock.uncertainty_ns, 100_000)
        for chunk in run.processes[0].chunks:
            base = None
            for record in chunk.records:
                if record.kind == "GpuTimeBase":
                    base = record.base_ns
                elif record.kind in ("Kernel", "CudaCall"):
                    start = base + record.delta - GPU_TIME_BIAS
                    self.assertTrue(begin <= start <= end, (begin, start, end))

    def test_clocks_are_read_when_their_chunk_is_there(self):
        """Also where the record is the first of a chunk, as at the begin of a window."""
        run = Run("launches=100", "captures=3", state=0, trigger=2)
        sync = run.records("ClockSync")[0]
        apart = sync.realtime_ns - sync.monotonic_ns
        clocks = run.records("GpuClock")
        self.assertGreaterEqual(len(clocks), 3)
        for clock in clocks:
            chunk = clock.chunk
            read_ns = chunk.base_monotonic_ns + clock.delta * 1e9 / chunk.ticks_per_second
            self.assertGreater(clock.delta, 0)
            self.assertLess(abs(clock.cupti_ns - apart - read_ns), 10_000 + 2 * clock.uncertainty_ns)  # a chunk takes more

    def test_every_kind(self):
        run = Run("launches=10", "every_kind=1",
                  extra="cuda.memory_usage=1\ncuda.event_trace=1\ncuda.um_cpu_page_faults=1\n"
                        "cuda.graph_trace=node\n")
        kinds = collections.Counter(r.kind for r in run.records())
        self.assertEqual(kinds["Memcpy"], 3)
        self.assertEqual(kinds["Memset"], 2, "one of them is a node of the graph")
        self.assertEqual(kinds["GpuWait"], 1)
        self.assertEqual(kinds["CudaEvent"], 1)
        self.assertEqual(kinds["GraphNode"], 2)
        self.assertEqual(kinds["GraphLaunch"], 0, "node level has the kernels instead")
        self.assertEqual(kinds["GpuMemory"], 2)
        self.assertEqual(kinds["UnifiedMemory"], 1)
        self.assertEqual(kinds["GpuDevice"], 1)
        self.assertEqual(kinds["GpuContext"], 1)
        self.assertEqual(kinds["GpuStream"], 1)
        self.assertEqual([r.node for r in run.records("GraphNode")], [100, 200])
        self.assertEqual([r.original for r in run.records("GraphNode")], [0, 100])
        in_graph = [r for r in run.records("Kernel") if r.graph_node]
        self.assertEqual([r.graph_node for r in in_graph], [5 << 32 | 2, 5 << 32 | 3, 200])
        device = run.records("GpuDevice")[0]
        self.assertEqual((device.name, device.sm_count), ("Fake H200", 132))
        get_device = 17
        self.assertNotIn(get_device, [r.call for r in run.records("CudaCall")])

    def test_all_apis(self):
        run = Run("launches=1", "every_kind=1", extra="cuda.all_apis=1\n")
        self.assertIn(17, [r.call for r in run.records("CudaCall")])

    def test_graph_level_is_the_default(self):
        run = Run("launches=1", "every_kind=1")
        launches = run.records("GraphLaunch")
        self.assertEqual([(r.graph, r.duration_ns) for r in launches], [(5, 60000)])
        self.assertEqual(run.records("GraphNode"), [])

    @staticmethod
    def kernels_alone_and_in_graphs(run):
        nodes = [r.graph_node for r in run.records("Kernel")]
        return nodes.count(0), len(nodes) - nodes.count(0)

    def test_graphs_of_late_windows_are_not_traced_as_a_whole(self):
        """CUPTI crashes a replay when that is enabled late; the fake does, too."""
        run = Run("launches=10", "captures=2", "graphs=3", state=0, trigger=2)
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        self.assertEqual(run.records("GraphLaunch"), [])
        self.assertEqual(self.kernels_alone_and_in_graphs(run), (20, 2 * 2 * 3))

    def test_graphs_of_windows_are_never_traced_as_a_whole(self):
        """Not in a first window that begins with the program either: it ends, others come."""
        run = Run("launches=10", "graphs=3", trigger=3,
                  extra="window.first=1\nwindow.last=2\n")
        self.assertEqual(run.records("GraphLaunch"), [])
        self.assertEqual(self.kernels_alone_and_in_graphs(run), (10, 2 * 3))

    def test_only_some_kinds(self):
        run = Run("launches=10", "every_kind=1", extra="cuda.record=kernels,copies\n")
        kinds = {r.kind for r in run.records()}
        self.assertIn("Kernel", kinds)
        self.assertIn("Memcpy", kinds)
        self.assertNotIn("CudaCall", kinds)
        self.assertNotIn("GpuWait", kinds)

    def test_waits_on_request(self):
        run = Run("launches=1", "every_kind=1", extra="cuda.record=runtime,waits\n")
        self.assertEqual([(r.type, r.duration_ns) for r in run.records("GpuWait")], [(3, 5000)])

    WAITS = ("launches=1", "waits=1")

    def check_waits(self, run, events):
        none, default = 0xffffffff, 0xfffffffe
        waits = run.records("GpuWait")
        # The driver's part of cudaStreamSynchronize is no second wait. The stream is known where it
        # cannot be in a capture, which asking would break. The default one is known without asking;
        # the thread's is number 8.
        self.assertEqual([(w.type, w.stream, w.event) for w in waits],
                         [(3, 9, none), (2, default, events[0]), (2, none, events[1]),
                          (1, none, events[2]), (4, none, none), (2, none, events[3]),
                          (2, none, events[4]), (3, default, none), (3, 8, none)])
        self.assertEqual(run.said["capture"], "0")
        self.assertEqual({w.context for w in waits}, {1})
        calls = {c.correlation: c for c in run.records("CudaCall")}
        for wait in waits:
            call = calls[wait.correlation]
            self.assertLessEqual(wait.duration_ns, call.duration_ns)
        self.assertEqual([calls[w.correlation].call for w in waits],
                         [131, 147, 436 | 1 << 31, 137, 165, 147, 147, 131, 131])

    def test_waits_know_their_stream_or_event(self):
        self.check_waits(Run(*self.WAITS), (77, 78, 79, 80, 81))

    def test_events_of_waits_do_not_mix_with_recorded_ones(self):
        self.check_waits(Run(*self.WAITS, extra="cuda.event_trace=1\n"), (0xffffffff,) * 5)

    def test_waits_without_streams(self):
        for extra in ("cuda.record=kernels,runtime,driver\n", "cuda.record=kernels,streams\n"):
            self.assertEqual(Run(*self.WAITS, extra=extra).records("GpuWait"), [], extra)

    def test_waits_outside_a_capture(self):
        self.assertEqual(Run(*self.WAITS, state=0).records("GpuWait"), [])

    def test_older_cupti(self):
        run = Run("launches=200", "every_kind=1", environment={"FAKE_CUPTI_VERSION": "19"})
        self.assertEqual(len(run.records("Kernel")), 201)
        self.assertIn(("cuda.cupti", "12.0"), [(r.key, r.value) for r in run.records("Property")])

    def test_not_collecting_costs_nothing(self):
        run = Run("launches=1000", state=0)
        self.assertEqual(run.records("Kernel", "CudaCall"), [])

    def test_profiler_ranges(self):
        run = Run("threads=2", "launches=500", "captures=3", state=0, trigger=2)
        per_capture = collections.Counter(r.chunk.capture_index for r in run.records("Kernel"))
        self.assertEqual(per_capture, {0: 1000, 1: 1000, 2: 1000})
        launches = [r for r in run.records("CudaCall") if r.call in (211, 652 | 1 << 31)]
        self.assertEqual(collections.Counter(r.chunk.capture_index for r in launches),
                         {0: 1000, 1: 1000, 2: 1000})
        self.assertEqual(run.folder.get("captures_done"), 3)
        # What describes the machine is in every capture.
        self.assertEqual({r.chunk.capture_index for r in run.records("GpuDevice")}, {0, 1, 2})

    def test_long_names_are_cut(self):
        run = Run("launches=50", "names=3", "name_bytes=100000")
        kernels = run.records("Kernel")
        self.assertEqual(len(kernels), 50)
        self.assertEqual({len(r.name) for r in kernels}, {64 * 1024})
        self.assertGreater(run.counter("StringsTruncated"), 0)


class Ends(unittest.TestCase):
    def end(self, how, launches="2000"):
        return Run("launches=" + launches, "end=" + how)

    def test_exit(self):
        run = self.end("exit")
        self.assertEqual(run.result.returncode, 3)
        self.assertEqual(len(run.records("Kernel")), 2000)

    def test_quick_exit(self):
        run = self.end("quick_exit")
        self.assertEqual(run.result.returncode, 4)
        self.assertEqual(len(run.records("Kernel")), 2000)

    def test_killed_keeps_what_was_delivered(self):
        run = Run("launches=15000", "per_second=10000", "end=kill",
                  extra="cuda.flush_interval_ms=100\n")
        self.assertEqual(run.result.returncode, -9)
        self.assertGreater(len(run.records("Kernel")), 13000)

    def test_fork(self):
        run = self.end("fork")
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        self.assertEqual(run.said["child"], "0")
        self.assertEqual(len(run.records("Kernel")), 2000)
        self.assertNotIn("in_child", {r.name for r in run.records("Kernel")})

    def test_a_flush_that_hangs_does_not_keep_the_program(self):
        begin = time.monotonic()
        run = Run("launches=10", "end=exit", environment={"FAKE_CUPTI_FLUSH_HANGS": "1"})
        self.assertEqual(run.result.returncode, 3)
        self.assertLess(time.monotonic() - begin, 100)  # it hangs for an hour


    def test_an_end_during_another_flush_has_a_flush_of_its_own(self):
        """Launched while cudaProfilerStop waits for its flush, 100 ms before the program ends."""
        run = Run("threads=0", "stops_beside=1", trigger=2, environment={"FAKE_CUPTI_FLUSH_MS": "400"})
        self.assertEqual(len(run.records("Kernel")), 50)

    def test_without_a_thread_of_our_own(self):
        """The program has no memory for another thread: its stacks are too large."""
        huge = 1 << 50
        begin = time.monotonic()
        run = Run("threads=0", "streams=20", before=lambda: resource.setrlimit(
            resource.RLIMIT_STACK, (huge, resource.RLIM_INFINITY)))
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        self.assertEqual(len(run.records("Kernel")), 20)
        self.assertIn("records come at the end only", " ".join(t for _, t in run.reasons()))
        self.assertLess(time.monotonic() - begin, 2)

    def test_aborted_by_a_watchdog_while_the_gpu_hangs(self):
        """As NCCL's does: SIGABRT, with a collective that never ends."""
        run = Run("launches=15000", "per_second=10000", "end=abort",
                  extra="cuda.flush_interval_ms=100\n")
        self.assertEqual(run.result.returncode, -6)
        self.assertGreater(len(run.records("Kernel")), 12000)

    def test_device_reset(self):
        run = self.end("reset")
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        names = collections.Counter(r.name for r in run.records("Kernel"))
        self.assertEqual(names.pop("after_reset"), 1)
        self.assertEqual(sum(names.values()), 2000)


class Faults(unittest.TestCase):
    def test_out_of_memory(self):
        run = Run("launches=10", "fails=1")
        self.assertEqual([c.result for c in run.records("CudaCall") if c.call == 20], [2])
        self.assertEqual(len(run.records("Kernel")), 10)

    def test_thousands_of_streams(self):
        run = Run("launches=1", "streams=5000")
        streams = {launch_key(r)[2] for r in run.records("Kernel") if r.name == "on_a_stream"}
        self.assertEqual(streams, set(range(100, 5100)))
        self.assertEqual(run.counter("CudaRecordsDropped"), 0)


    def check_reason(self, part, extra="", **environment):
        run = Run("launches=100", environment=environment, extra=extra)
        self.assertEqual(run.result.returncode, 0, run.result.stderr)
        texts = [text for feature, text in run.reasons() if feature == "cuda"]
        self.assertTrue(any(part in text for text in texts), texts)
        return run

    def test_another_profiler(self):
        run = self.check_reason("another profiler", FAKE_CUPTI_SUBSCRIBE="39")
        self.assertEqual(run.records("Kernel"), [])

    def test_no_permission(self):
        self.check_reason("administrators", FAKE_CUPTI_ENABLE="35")

    def test_what_cupti_refuses(self):
        memory, peer = "49", "22"
        extra = "cuda.memory_usage=1\n"
        self.check_reason("allocations are not recorded: ", extra, FAKE_CUPTI_REFUSES=memory)
        self.check_reason("peer copies are not recorded: ", FAKE_CUPTI_REFUSES=peer)
        self.check_reason("page faults of unified memory are not recorded: ",
                          "cuda.um_gpu_page_faults=1\n", FAKE_CUPTI_PAGE_FAULTS="29")
        for run in (Run("launches=1", extra=extra), Run("launches=1", trigger=2, state=0)):
            self.assertEqual(run.reasons(), [])

    def test_too_old(self):
        self.check_reason("older than CUDA 12.0", FAKE_CUPTI_VERSION="18")

    def test_too_new(self):
        self.check_reason("newer than CUDA 13", FAKE_CUPTI_VERSION="140000")


class Memory(unittest.TestCase):
    def test_bounded_at_100_000_launches_a_second(self):
        """Twelve seconds stand for thirty minutes: the peak is reached in the first one."""
        if SANITIZER:
            self.skipTest("sanitizers take memory of their own")
        without = Run("threads=2", "launches=1000", "per_second=50000", trace=0)
        short = Run("threads=2", "launches=100000", "per_second=50000")
        long = Run("threads=2", "launches=600000", "per_second=50000")
        self.assertEqual(len(long.records("GpuTimeBase")) > 0, True)
        self.assertEqual(long.counter("CudaRecordsDropped"), 0)
        self.assertEqual(long.counter("EventsDroppedBudget"), 0)
        self.assertEqual(sum(1 for _ in long.records("Kernel")), 1_200_000)
        base, peak_short, peak = (int(r.said["peak_kb"]) for r in (without, short, long))
        self.assertLess(peak - base, 256 * 1024)
        self.assertLess(peak - peak_short, 48 * 1024, "memory grows with the run")


if __name__ == "__main__":
    unittest.main()
