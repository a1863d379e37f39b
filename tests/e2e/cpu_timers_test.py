"""--sample where the kernel refuses perf_event_open: by timers in the program, which must go on as it does alone."""
import math
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, BUILD, LONG_S, REFUSE_PERF, SOURCE, InFolder, dump, run  # noqa: E402

CPU_PROGRAM = os.path.join(BUILD, "test", "cpu_program")
STATIC_PROGRAM = os.path.join(BUILD, "test", "cpu_program_static")
INLINED_PROGRAM = os.path.join(BUILD, "test", "inlined_program")
TIMER_PROGRAM = os.path.join(BUILD, "test", "timer_program")
MS = 1_000_000
SHARES = {"BurnSix": 0.6, "BurnThree": 0.3, "BurnOne": 0.1}


class TimerCase(InFolder):
    def refused(self, *words, **options):
        """The tool where the kernel refuses."""
        return run(sys.executable, "-c", REFUSE_PERF, BATCHLIGHT, *words, cwd=self.path(""), env=self.environment,
                   **options)

    def record(self, *words, flags=("-s", "process-tree"), trace="none", code=0, **options):
        done = self.refused("profile", "-t", trace, "--pytorch=none", "-f", "-o", "run", *flags, *words, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn("CPU samples are taken by timers", done.stderr)
        return done

    def as_alone(self, *words, **options):
        """Recorded, the program says what it says alone."""
        alone = run(TIMER_PROGRAM, *words, **options)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        done = self.record(TIMER_PROGRAM, *words, **options)
        self.assertIn(alone.stdout, done.stdout)
        return done

    def totals(self):
        return {row["Function"]: row["Total"] for row in self.table("samples")}

    def losses(self):
        return "\n".join(row["Text"] for row in self.table("losses"))

    def expect_shares(self):
        totals = self.totals()
        times = {name: totals.get(name, 0) for name in SHARES}
        looks = max(1, sum(times.values()) / (1000 * MS / 199))
        for name, share in SHARES.items():
            chance = 4 * math.sqrt(share * (1 - share) / looks)  # of a hundred looks not each share is as it is
            self.assertAlmostEqual(times[name] / max(1, sum(times.values())), share, delta=max(0.1, chance), msg=times)


class Samples(TimerCase):
    def test_functions_have_the_time_that_they_burned(self):
        self.record(CPU_PROGRAM, "shares", "2")
        self.expect_shares()
        main = self.totals()["main"]
        self.assertTrue(1700 * MS < main < 2300 * MS, main)
        samples = [r.fields for r in dump(self.path("run.batchlight")) if r.kind == "CpuSample"]
        whole = [sample for sample in samples if sample.get("stack_end", "0") == "0"]
        self.assertGreater(len(whole), 0.9 * len(samples))
        self.assertGreater(len(samples), 50)  # of 400: a busy machine has fewer ticks, each stands for more

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_a_library_that_takes_the_place_of_an_unloaded_one_has_its_own_time(self):
        burn = ("#include <time.h>\nvoid NAME(double s) { struct timespec t; do { for (volatile int i = 0; i < 100000; ++i);"
                "clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); } while (t.tv_sec + t.tv_nsec * 1e-9 < s); }\n")
        for number, name in enumerate(("first_work", "other_work")):
            with open(self.path(f"lib{number}.c"), "w") as file:
                file.write(burn.replace("NAME", name))
            built = run("gcc", "-O1", "-shared", "-fPIC", "-o", self.path(f"lib{number}.so"), self.path(f"lib{number}.c"))
            self.assertEqual(built.returncode, 0, built.stderr)
        with open(self.path("main.c"), "w") as file:
            file.write('#include <dlfcn.h>\n#include <stdio.h>\nint main(void) { for (int i = 0; i < 2; ++i) {\n'
                       'void* l = dlopen(i ? "./lib1.so" : "./lib0.so", RTLD_NOW);\n'
                       'void (*work)(double) = (void (*)(double))dlsym(l, i ? "other_work" : "first_work");\n'
                       'work(0.8 * (i + 1)); printf("%p\\n", (void*)work); dlclose(l); } return 0; }\n')
        self.assertEqual(run("gcc", "-o", self.path("main"), self.path("main.c"), "-ldl").returncode, 0)
        done = self.record("./main")
        addresses = {line for line in done.stdout.splitlines() if line.startswith("0x")}
        totals = self.totals()
        for name in ("first_work", "other_work"):
            self.assertGreater(totals.get(name, 0), 500 * MS, (addresses, totals))
            self.assertLess(totals[name], 1100 * MS, (addresses, totals))

    def test_inlined_functions_are_functions_of_their_own(self):
        self.record(INLINED_PROGRAM, "2")
        rows = {row["Function"]: row for row in self.table("samples")}
        mix = next(row for name, row in rows.items() if "Mix<" in name)
        self.assertTrue(mix["Function"].startswith("(anonymous namespace)::Mix<"), mix)
        self.assertTrue(mix["Function"].endswith("> (inlined)"), mix)
        self.assertGreater(mix["Self %"], 90, rows)
        for name in ("Mixer::Stir(unsigned long) (inlined)", "Burn(double)", "main"):
            self.assertGreater(rows[name]["Total"], 1700 * MS, rows)
            self.assertLess(rows[name]["Self"], 100 * MS, rows)
        done = self.batchlight("export", "-q", "-t", "folded", "--stacks=native", "-o", "-", "run.batchlight")
        self.assertIn(f";Burn(double);Mixer::Stir(unsigned long) (inlined);{mix['Function']} ", done.stdout)
        # A file of Nsight Systems has the frames that are on the stack; ours beside them has all.
        self.batchlight("export", "-t", "sqlite", "-f", "-o", "stacks.sqlite", "run.batchlight")
        with sqlite3.connect(self.path("stacks.sqlite")) as database:
            symbols = {name for (name,) in database.execute(
                "SELECT DISTINCT value FROM SAMPLING_CALLCHAINS JOIN StringIds ON StringIds.id = symbol")}
        self.assertIn("Burn(double)", symbols)
        self.assertNotIn(mix["Function"].removesuffix(" (inlined)"), symbols)
        told = [self.batchlight("table", "samples", "-f", "json", name).stdout
                for name in ("run.batchlight", "stacks.sqlite")]
        self.assertEqual(*told)

    def test_names_can_be_left_out(self):
        self.record(INLINED_PROGRAM, "0.3", flags=("-s", "process-tree", "--resolve-symbols=false"))
        self.assertNotIn("Mix", str(self.table("samples")))

    def test_a_killed_program_and_its_children(self):
        self.record(CPU_PROGRAM, "kill", "1", code=128 + 9)
        self.expect_shares()
        self.record(CPU_PROGRAM, "fork", "1")
        totals = self.totals()  # a child burns as BurnThree, one that executed the program as all three
        self.assertAlmostEqual(totals["BurnThree"] / (1300 * MS), 1, delta=0.15, msg=totals)

    def test_threads_that_the_program_makes(self):
        self.record(TIMER_PROGRAM, "threads", "100")
        totals = self.totals()  # the last of a thread's 10 ms is after its last sample, more where ticks are few
        self.assertTrue(200 * MS < totals["Burn"] < 1100 * MS, totals)

    def test_only_what_was_captured(self):
        self.record(CPU_PROGRAM, "shares", "1", flags=("-s", "cpu", "--delay=600"))
        self.assertEqual(self.table("samples"), [])

    def test_beside_other_shims(self):
        self.record(TIMER_PROGRAM, "threads", "50", trace="osrt",
                    flags=("-s", "process-tree", "--python-memory=sampled"))
        self.assertGreater(self.totals()["Burn"], 80 * MS)
        calls = {row["Call"]: row["Calls"] for row in self.table("os_calls")}
        self.assertEqual(calls["pthread_create"], 50)

    def test_a_process_that_goes_by_another_number_here(self):
        """In a namespace of its own: its samples are not taken for code of whoever has its number."""
        alone = run("unshare", "-pf", CPU_PROGRAM, "shares", "0")
        if alone.returncode != 0:
            self.skipTest(alone.stderr)
        self.record("unshare", "-pf", CPU_PROGRAM, "shares", "0.5")
        self.assertLessEqual({row["Library"] for row in self.table("samples") if row["Self"] > 100 * MS},
                             {"[no file]"})

    def test_a_session_that_is_told_when(self):
        launch = ("launch", "-t", "none", "--session-new=told", "-s", "process-tree", "--wait=all")
        tool = subprocess.Popen([sys.executable, "-c", REFUSE_PERF, BATCHLIGHT, *launch, CPU_PROGRAM, "shares", "6"],
                                cwd=self.path(""), env=self.environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        limit = time.time() + LONG_S
        while self.batchlight("start", "-o", "run", "--session=told").returncode != 0:
            self.assertLess(time.time(), limit)
            time.sleep(0.1)
        time.sleep(1)
        self.assertEqual(self.batchlight("stop", "--session=told").returncode, 0)
        totals = self.totals()
        self.assertEqual(tool.wait(4 * LONG_S), 0)  # six seconds of a processor that others use
        self.assertTrue(100 * MS < totals["main"] < 3000 * MS, totals)

    def test_no_stacks(self):
        self.record(CPU_PROGRAM, "shares", "0.5", flags=("-s", "cpu", "-b", "none"))
        self.expect_shares()
        self.assertNotIn("main", self.totals())

    def test_a_filter_that_refuses_the_clock_of_a_thread(self):
        refuse = REFUSE_PERF.replace("298", "228").replace("241", "113").rpartition("os.execv")[0]
        burn = "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: sum(range(1000))\n"
        self.record(sys.executable, "-c", refuse + burn)
        total = sum(int(r.fields["cpu_ns"]) for r in dump(self.path("run.batchlight")) if r.kind == "CpuSample")
        self.assertTrue(0 < total < 3000 * MS, total)

    def test_python(self):
        self.record(sys.executable, "-c", "sum(i * i for i in range(5_000_000))")
        self.assertTrue([name for name in self.totals() if "PyEval" in name or "python" in name], self.totals())


class Said(TimerCase):
    def test_by_doctor_and_in_the_recording(self):
        doctor = self.refused("doctor")
        (line,) = [line for line in doctor.stdout.splitlines() if "CPU samples" in line]
        self.assertTrue(line.startswith("note") and "perf_event_open" in line and "timers" in line, line)
        done = self.record("/bin/sh", "-c", "exit 3", flags=("-s", "process-tree", "--cpuctxsw=process-tree"), code=3)
        self.assertIn("the kernel refuses (perf_event_open", done.stderr)
        self.assertIn("context switches are not recorded", done.stderr)
        self.assertIn("code in the kernel", self.losses())
        self.assertIn("taken by timers", self.batchlight("summary", "run.batchlight").stdout.replace("\n   ", " "))

    def test_a_static_program_has_no_samples(self):
        done = self.record(STATIC_PROGRAM, "shares", "0.1")
        self.assertIn("no process was recorded", done.stderr)
        table = self.batchlight("table", "samples", "run.batchlight")
        self.assertIn("no rows: CPU samples are taken by timers", table.stderr)

    def test_switches_alone_need_the_kernel(self):
        done = self.refused("profile", "-f", "-o", "run", "--cpuctxsw=process-tree", "/bin/true")
        self.assertIn("context switches are not recorded: the kernel refuses", done.stderr)

    def test_threads_beyond_what_a_process_may_have(self):
        self.as_alone("many", "1200")
        self.assertIn("had no timer", self.losses())


class AsAlone(TimerCase):
    def test_no_call_is_interrupted(self):
        done = self.as_alone("calls", "4")
        self.assertIn("0 interrupted", done.stdout)
        self.assertGreater(self.totals().get("Burn", 0), 300 * MS)

    def test_threads_leave_no_timer_behind(self):
        self.as_alone("threads", "300", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_SIGPENDING, (40, 40)))
        self.assertNotIn("had no timer", self.losses())

    def test_a_small_stack(self):
        self.as_alone("small")
        self.assertGreater(self.totals().get("BurnSmall", 0), 100 * MS)

    def test_a_program_that_handles_the_signal(self):
        for how in ("sigaction", "signal", "__sigaction", "sysv_signal", "__sysv_signal", "bsd_signal", "ssignal",
                    "sigset"):
            self.as_alone("own", how)
            self.assertIn("handles SIGURG", self.losses(), how)
            self.assertLess(self.totals().get("Burn", 0), 120 * MS)

    def test_a_program_that_asks_what_the_signal_does(self):
        self.as_alone("views")
        self.assertGreater(self.totals().get("Burn", 0), 200 * MS)

    def test_programs_that_wait_for_all_signals(self):
        for how in ("sigwait", "signalfd"):
            done = self.as_alone(how)
            self.assertIn("User defined signal 1", done.stdout)
            self.assertIn("waits for SIGURG", self.losses())

    def test_a_program_that_samples_itself(self):
        self.as_alone("prof")
        self.assertGreater(self.totals().get("Burn", 0), 350 * MS)

    def test_processes_that_threads_start(self):
        self.as_alone("spawn", TIMER_PROGRAM)

    def test_a_sanitized_program_is_left_alone(self):
        built = run("gcc", "-fsanitize=address", "-pthread", "-o", self.path("asan"),
                    os.path.join(SOURCE, "tests", "e2e", "timer_program.c"))
        if built.returncode != 0 or run(self.path("asan"), "small").returncode != 0:
            self.skipTest("no address sanitizer here")
        self.environment["ASAN_OPTIONS"] = "detect_leaks=0"
        done = self.record(self.path("asan"), "threads", "10")
        self.assertIn("10 threads, 0 failed", done.stdout)
        self.assertIn("has a sanitizer", self.losses())


if __name__ == "__main__":
    unittest.main()
