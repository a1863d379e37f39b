"""--sample and --cpuctxsw on a program whose functions burn known shares and whose threads wait for known
times; on stripped, static, dying and deep ones. Shares are of the program's own processor time, so a busy machine
changes none. Where the kernel does not allow it: cpu_timers_test.py."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, BUILD, LONG_S, InFolder, dump, why_no_samples  # noqa: E402

PROGRAM = os.path.join(BUILD, "test", "cpu_program")
STATIC_PROGRAM = os.path.join(BUILD, "test", "cpu_program_static")
FAKES = os.path.join(BUILD, "test", "fakes")
MS = 1_000_000
# Of 199 samples of a second two thirds of a tenth are 13: the least of the shares is known to a half.
SHARES = {"BurnSix": 0.6, "BurnThree": 0.3, "BurnOne": 0.1}


class CpuCase(InFolder):
    def setUp(self):
        super().setUp()
        why = why_no_samples()
        if why:
            self.skipTest(why)

    def record(self, *words, flags=("-s", "process-tree", "--cpuctxsw=process-tree"), trace="none", code=0):
        done = self.batchlight("profile", "-t", trace, "--pytorch=none", "-f", "-o", "run", *flags, *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def burned(self):
        """Shares of the three functions in what they burned together, inclusive."""
        rows = {row["Function"]: row["Total"] for row in self.table("samples")}
        times = {name: rows.get(name, 0) for name in SHARES}
        return {name: time / max(1, sum(times.values())) for name, time in times.items()}

    def expect_shares(self):
        burned = self.burned()
        for name, share in SHARES.items():
            self.assertAlmostEqual(burned[name], share, delta=0.1, msg=burned)


class KnownShares(CpuCase):
    def test_functions_have_the_time_that_they_burned(self):
        self.record(PROGRAM, "shares", "3")
        self.expect_shares()
        rows = {row["Function"]: row for row in self.table("samples")}
        self.assertGreater(rows["main"]["Total"], 2500 * MS)
        self.assertLess(rows["main"]["Total"], 3500 * MS)
        (module,) = [row for row in self.table("sample_modules") if row["Library"] == "cpu_program"]
        self.assertGreater(module["Self"], 2000 * MS)
        (thread,) = self.table("threads")
        self.assertAlmostEqual(thread["Sampled"] / thread["Running"], 1, delta=0.1)

    def test_the_same_functions_as_perf(self):
        if shutil.which("perf") is None:
            self.skipTest("perf is not installed")
        data = self.path("perf.data")
        done = subprocess.run(["perf", "record", "-q", "-e", "task-clock:u", "-c", "5000000", "-o", data, PROGRAM,
                               "shares", "3"], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(done.stderr)
        text = subprocess.run(["perf", "report", "-i", data, "--stdio", "--no-children", "-F", "overhead,sym"],
                              capture_output=True, text=True, check=True).stdout
        perf = {name: float(re.search(r"([\d.]+)%%\s.*\b%s\b" % name, text)[1]) / 100 for name in SHARES}
        self.record(PROGRAM, "shares", "3")
        burned = self.burned()
        for name in SHARES:
            self.assertAlmostEqual(burned[name], perf[name] / sum(perf.values()), delta=0.08)

    def test_nothing_of_timers_is_in_the_program(self):
        done = self.record("/bin/sh", "-c", "echo $LD_PRELOAD; grep -c timers /proc/self/maps; true")
        self.assertIn("libbatchlight_inject", done.stdout)
        self.assertNotIn("libbatchlight_timers", done.stdout)
        self.assertEqual(done.stdout.splitlines()[1], "0")

    def test_a_killed_program_and_its_children(self):
        self.record(PROGRAM, "kill", "1", code=128 + 9)
        self.expect_shares()
        self.record(PROGRAM, "fork", "1")
        burned = self.burned()  # a child burns as BurnThree, one that executed the program as all three
        self.assertAlmostEqual(burned["BurnThree"], (1 + 0.3) / 2, delta=0.12)

    def test_functions_of_a_stripped_program_are_told_apart(self):
        """By where they begin, which the unwind tables say."""
        stripped = self.path("stripped")
        subprocess.run(["strip", "-o", stripped, PROGRAM], check=True)
        self.record(stripped, "shares", "1")
        rows = self.table("samples")
        own = [row for row in rows if row["Library"] == "stripped"]
        for row in own:
            self.assertRegex(row["Function"], r"^stripped\+0x[0-9a-f]+$")
        totals = sorted((row["Total"] for row in own), reverse=True)
        self.assertGreater(totals[0], 700 * MS)  # main
        for share in SHARES.values():
            self.assertTrue(any(abs(total / totals[0] - share) < 0.1 for total in totals), (share, own))
        self.assertTrue(any("libc_start" in row["Function"] for row in rows), rows)

    def test_a_static_program_is_sampled_though_nothing_enters_it(self):
        done = self.record(STATIC_PROGRAM, "shares", "1")
        self.assertIn("no process was recorded from inside", done.stderr)
        self.assertIn("taken from outside", done.stderr)
        self.expect_shares()
        self.assertRegex(self.batchlight("summary", "run.batchlight").stdout.split("\n")[0], r"\d samples?$")
        self.assertEqual({row["End"] for row in self.table("processes")}, {"end unknown"})

    def test_a_stack_deeper_than_the_copy_keeps_its_inner_part(self):
        self.record(PROGRAM, "deep", "1")
        rows = {row["Function"]: row for row in self.table("samples")}
        self.assertGreater(rows["BurnOne"]["Total"], 700 * MS)
        samples = [r.fields for r in dump(self.path("run.batchlight")) if r.kind == "CpuSample"]
        deep = [sample for sample in samples if sample.get("stack_end") == "1"]
        self.assertGreater(len(deep), len(samples) * 0.8)


class Phases(CpuCase):
    PROGRAM = """
import batchlight, hashlib, zlib
data = bytes(range(256)) * 4000
for step in range(12):
    with batchlight.annotate("step"):
        with batchlight.annotate("dataloader"):
            for _ in range(15): zlib.compress(data, 9)
        with batchlight.annotate("forward"):
            for _ in range(240): hashlib.sha256(data)
"""

    def test_functions_and_stacks_have_the_phase_that_they_lie_in(self):
        self.record(sys.executable, "-c", self.PROGRAM, trace="nvtx", flags=("-s", "process-tree"))
        by_phase = {}
        for row in self.table("sample_phases"):
            by_phase.setdefault(row["Phase"], []).append(row)
        loading, forward = by_phase["data loading"], by_phase["forward"]
        self.assertGreater(sum(row["Share"] for row in loading if "libz" in row["Library"]), 80, loading)
        self.assertGreater(sum(row["Share"] for row in forward if "libcrypto" in row["Library"] or
                               "hash" in row["Library"] or "sha" in row["Function"].lower()), 80, forward)
        done = self.batchlight("export", "-q", "-t", "folded", "--stacks=native-phases", "-o", "-", "run.batchlight")
        self.assertEqual(done.returncode, 0, done.stderr)
        phases = {line.split(";")[1] for line in done.stdout.splitlines()}
        self.assertLessEqual({"[data loading]", "[forward]"}, phases)
        done = self.batchlight("export", "-q", "-t", "folded", "--stacks=native-idle", "-o", "-", "run.batchlight")
        self.assertIn("no CPU sample of a thread that launches", done.stderr)
        advice = self.batchlight("analyze", "run.batchlight").stdout
        if "(cpu-taken)" in advice:  # most of a step it had no processor
            return
        self.assertRegex(advice, r"(libcrypto|_sha\S*|_hash\S*)\S*: \d+ % of a step is in its native code \(native-work\)")


@unittest.skipUnless(os.path.isdir(FAKES), "built without GPU")
class WaitingGpu(CpuCase):
    """On a stand-in: a step hashes for some 15 ms, launches a kernel of 8 ms, and compresses while that runs."""
    PROGRAM = """
import batchlight, ctypes, hashlib, time, zlib
ctypes.CDLL(%r)
cuda = ctypes.CDLL(%r)
class Launch(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("grid", ctypes.c_int32 * 3), ("block", ctypes.c_int32 * 3),
                ("stream", ctypes.c_uint32), ("duration_ns", ctypes.c_uint32),
                ("graph_node", ctypes.c_uint64), ("through_driver", ctypes.c_uint32)]
copy = ctypes.CDLL(None).strdup
copy.restype = ctypes.c_void_p
launch = Launch(copy(b"_ZN4gemmEv"), (1, 1, 1), (32, 1, 1), 7, 8_000_000, 0, 0)
cuda.fake_cuda_init()
data = bytes(1 << 20)
for step in range(40):
    with batchlight.annotate("step"):
        with batchlight.annotate("forward"):
            end = time.thread_time_ns() + 15_000_000
            while time.thread_time_ns() < end: hashlib.sha256(data)
            end = time.perf_counter_ns() + 7_500_000  # before: a wait in between is not compressed after
            cuda.fake_cuda_launch(ctypes.byref(launch))
        while time.perf_counter_ns() < end: zlib.compress(data[:10_000], 9)
""" % (os.path.join(FAKES, "driver", "libcuda.so.1"), os.path.join(FAKES, "libcupti.so.13"))

    def test_only_what_ran_while_it_waited(self):
        self.environment.update(BATCHLIGHT_CUPTI=FAKES, LD_LIBRARY_PATH=FAKES + ":" + os.path.join(FAKES, "driver"))
        self.record(sys.executable, "-c", self.PROGRAM, trace="cuda,nvtx",
                    flags=("-s", "process-tree", "--python-sampling=false"))
        rows = self.table("sample_idle")
        # Not shares: they are of each cause, and one look at an edge may be all of a small one.
        def spent(library):
            return sum(row["Self per Step"] for row in rows if re.search(library, row["Library"]))
        self.assertGreater(spent("libcrypto|_sha|_hash"), 0.8 * spent(""), rows)
        self.assertLess(spent("libz"), 0.1 * spent(""), rows)
        advice = self.batchlight("analyze", "run.batchlight").stdout
        self.assertRegex(advice, r"\d+ % of a step is in its native code while the GPU waits \(native-work\)")
        done = self.batchlight("export", "-q", "-t", "folded", "--stacks=native-idle", "-o", "-", "run.batchlight")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[", done.stdout.splitlines()[0].split(";")[1])


class Options(CpuCase):
    def test_stacks_for_flame_graphs(self):
        self.record(PROGRAM, "shares", "1")
        done = self.batchlight("export", "-q", "-t", "folded", "--stacks=native", "-o", "-", "run.batchlight")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
        self.assertTrue(any(";main;BurnShares;BurnSix" in frames for frames, _ in lines))
        total = sum(int(ns) for _, ns in lines)
        self.assertTrue(700 * MS < total < 1500 * MS, total)
        done = self.batchlight("export", "-q", "-t", "speedscope", "--stacks=native", "-o", "-", "run.batchlight")
        (profile,) = json.loads(done.stdout)["profiles"]
        self.assertEqual(sum(profile["weights"]), total)
        self.assertEqual(profile["endValue"], total)

    def test_no_stacks_no_names(self):
        self.record(PROGRAM, "shares", "0.5", flags=("-s", "cpu", "-b", "none"))
        self.expect_shares()
        self.record(PROGRAM, "shares", "0.5", flags=("-s", "cpu", "--resolve-symbols=false"))
        self.assertEqual({row["Function"] for row in self.table("samples")}, {"[unknown]"})

    def test_the_rate_is_that_of_the_processor(self):
        self.record(PROGRAM, "shares", "0.5", flags=("-s", "cpu", "--sampling-frequency=1000"))
        samples = [r for r in dump(self.path("run.batchlight")) if r.kind == "CpuSample"]
        self.assertTrue(350 < len(samples) < 650, len(samples))
        self.assertFalse(self.table("threads")[0]["Running"])  # switches were not asked for

    def test_what_the_kernel_drops_is_counted(self):
        for flags in ((), ("--cpuctxsw=process-tree",)):
            with self.subTest(flags=flags):
                self.expect_drops_counted(flags)

    def expect_drops_counted(self, flags):
        tool = subprocess.Popen([BATCHLIGHT, "profile", "-t", "none", "--pytorch=none", "-f", "-o", "run", "-s", "cpu",
                                 "--sampling-frequency=5000", *flags, PROGRAM, "shares", "2"], cwd=self.path(""),
                                stderr=subprocess.DEVNULL)
        try:
            time.sleep(0.3)
            # The rings hold less than a second: nobody reads them while the tool is stopped.
            os.kill(tool.pid, signal.SIGSTOP)
            children = pathlib.Path(f"/proc/{tool.pid}/task/{tool.pid}/children").read_text()
            status = pathlib.Path(f"/proc/{children.split()[0]}/status")
            limit = time.time() + LONG_S
            while time.time() < limit and not re.search(r"State:\s+Z", status.read_text()):
                time.sleep(0.1)
        finally:
            os.kill(tool.pid, signal.SIGCONT)
        self.assertEqual(tool.wait(LONG_S), 0)
        losses = self.batchlight("table", "losses", "run.batchlight").stdout
        self.assertIn("CPU samples and switches that the kernel dropped", losses)
        records = dump(self.path("run.batchlight"))
        dropped = sum(int(r.fields["value"]) for r in records if r.kind == "Counter" and int(r.fields["counter"]) == 16)
        samples = sum(r.kind == "CpuSample" for r in records)
        # Where the kernel says it in its records alone, what was dropped at the end is not known.
        if tuple(int(part) for part in os.uname().release.split(".")[:1]) >= (6,):
            self.assertGreater(dropped + samples, 9000, (dropped, samples))

    def test_only_what_was_captured(self):
        self.record(PROGRAM, "shares", "1", flags=("-s", "cpu", "--delay=600"))
        self.assertEqual(self.table("samples"), [])

    def test_nothing_unless_asked_for(self):
        self.record(PROGRAM, "shares", "0.1", flags=())
        # A process that does not speak is named by such a record as well: that is of its usage.
        kinds = {r.kind for r in dump(self.path("run.batchlight")) if r.kind.startswith("Cpu")}
        self.assertLessEqual(kinds, {"CpuThread"})


class Switches(CpuCase):
    def test_waits_are_blocked_time(self):
        self.record(PROGRAM, "waits", flags=("--cpuctxsw=process-tree",), trace="osrt")
        rows = {row["Thread"]: row for row in self.table("threads")}
        waiter = rows["waiter"]
        self.assertGreaterEqual(waiter["Blocked"], 850 * MS)
        self.assertLess(waiter["Running"], 200 * MS)
        self.assertGreaterEqual(waiter["Waits"], 3)
        self.assertIn(waiter["Blocked In"], ("nanosleep", "pthread_mutex_lock", "read"))
        self.assertGreaterEqual(waiter["Blocked In Time"], 280 * MS)

    def test_threads_on_one_processor_are_ready_in_turn(self):
        one = str(min(os.sched_getaffinity(0)))
        script = f"taskset -c {one} {PROGRAM} shares 1 & taskset -c {one} {PROGRAM} shares 1; wait"
        self.record("/bin/sh", "-c", script, flags=("--cpuctxsw=process-tree",))
        rows = [row for row in self.table("threads") if (row["Running"] or 0) > 500 * MS]
        self.assertEqual(len(rows), 2, rows)
        self.assertGreater(min(row["Ready"] for row in rows), 500 * MS)
        self.assertGreater(min(row["Preempted"] for row in rows), 5)


if __name__ == "__main__":
    unittest.main()
