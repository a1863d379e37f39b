"""-t osrt on programs whose waits, reads and locks are known, and on what makes profilers of the C
library crash: cancelled threads, signal handlers that jump, vfork, sanitizers, thousands of threads."""
import csv
import io
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, BUILD, InFolder, dump, run  # noqa: E402

PROGRAM = os.path.join(BUILD, "test", "os_program")
LIBRARY_PROGRAM = os.path.join(BUILD, "test", "library_program")
MS = 1_000_000


class Osrt(InFolder):
    def record(self, *words, flags=()):
        done = self.batchlight("profile", "-t", "osrt", "-f", "-o", "run", *flags, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def calls(self):
        """{name: row of os_calls}"""
        return {row["Call"]: row for row in self.table("os_calls")}

    def database(self):
        done = self.batchlight("export", "-t", "sqlite", "-f", "-o", "run.sqlite", "run.batchlight")
        self.assertEqual(done.returncode, 0, done.stderr)
        database = sqlite3.connect(self.path("run.sqlite"))
        self.addCleanup(database.close)
        return database


class KnownWaits(Osrt):
    # What each waits for at least; the machine may make it longer, or of the last ones shorter.
    WAITS = ("usleep", "nanosleep", "clock_nanosleep", "pthread_mutex_lock", "pthread_cond_wait",
             "sem_wait", "read", "futex", "poll")
    UNTIL = ("sem_clockwait", "sem_timedwait", "pthread_cond_clockwait", "pthread_cond_timedwait")

    def test_every_wait_has_its_time_and_who_ended_it(self):
        out = self.record(PROGRAM, "waits")
        waker = int(re.search(r"waker (\d+)", out)[1])
        rows = self.calls()
        for name in self.WAITS + self.UNTIL:
            self.assertIn(name, rows)
            longest = rows[name]["Longest"]
            self.assertGreaterEqual(longest, (5 if name in self.UNTIL else 19) * MS, name)
            self.assertLess(longest, 20_000 * MS, name)
        records = [r.fields for r in dump(self.path("run.batchlight")) if r.kind == "OsCall"]
        long = [r for r in records if int(r["ticks"]) > 0 and int(r.get("released_by", 0)) == waker]
        woken = {int(r["call"]) for r in long}
        # pthread_mutex_lock (its holder), pthread_cond_wait and sem_wait (who signalled)
        self.assertTrue({70, 75, 78} <= woken, woken)
        released = {row["Call"]: row["Releaser TID"] for row in self.table("lock_waits") if row["Longest"] > 19 * MS}
        for name in ("pthread_mutex_lock", "pthread_cond_wait", "sem_wait"):
            self.assertEqual(released[name], waker, name)

        report = self.batchlight("stats", "-q", "-r", "osrt_sum", "-f", "csv", "run.batchlight")
        header, *lines = filter(None, csv.reader(io.StringIO(report.stdout)))
        self.assertEqual(header, ["Time (%)", "Total Time (ns)", "Num Calls", "Avg (ns)", "Med (ns)",
                                  "Min (ns)", "Max (ns)", "StdDev (ns)", "Name"])
        self.assertTrue(set(self.WAITS + self.UNTIL) <= {line[8] for line in lines})
        trace = self.batchlight("stats", "-q", "-r", "osrt_trace", "-f", "csv", "run.batchlight")
        header, *lines = filter(None, csv.reader(io.StringIO(trace.stdout)))
        self.assertEqual(header, ["Start (ns)", "Duration (ns)", "Name", "Result", "Pid", "Tid",
                                  "Thread Name"])
        self.assertEqual([line[2] for line in lines if int(line[1]) >= 19 * MS][:3],
                         ["usleep", "nanosleep", "clock_nanosleep"])
        rows = self.database().execute(
            "SELECT s.value, end - start, returnValue, eventClass FROM OSRT_API "
            "JOIN StringIds s ON s.id = nameId").fetchall()
        self.assertEqual({row[3] for row in rows}, {27})
        self.assertEqual([row[2] for row in rows if row[0] == "sem_clockwait"], [-1])

    def test_long_calls_have_the_functions_that_made_them(self):
        self.record(PROGRAM, "waits")
        callers = {row["Call"]: row for row in self.table("call_stacks")}
        self.assertLessEqual(set(self.WAITS) - {"futex"}, set(callers))
        for name in ("usleep", "nanosleep", "poll", "sem_wait"):
            self.assertIn("os_program", callers[name]["Library"], name)
            self.assertGreaterEqual(callers[name]["Longest"], 19 * MS, name)
        self.assertIn("main", {part for row in callers.values()
                               for part in (row["Called By"], row["In"], row["In Turn In"])})
        folded = self.batchlight("export", "-t", "folded", "--stacks=os-calls", "-o", "-",
                                 "run.batchlight").stdout
        self.assertRegex(folded, r"(?m);main;(Waits \(inlined\);)?usleep \d+$")
        self.record(PROGRAM, "waits", flags=("--osrt-backtrace-depth=0",))
        none = self.batchlight("table", "call_stacks", "run.batchlight")
        self.assertIn("--cudabacktrace", none.stdout + none.stderr)

    def test_python_waits_have_their_lines_and_those_of_who_held_the_lock(self):
        path = self.path("waits.py")
        with open(path, "w") as file:
            file.write("import threading, time\n"
                       "lock = threading.Lock()\n"
                       "def hold():\n"
                       "    with lock:\n"
                       "        time.sleep(0.3)\n"
                       "thread = threading.Thread(target=hold, name='holder')\n"
                       "thread.start()\n"
                       "time.sleep(0.05)\n"
                       "with lock:\n"
                       "    pass\n"
                       "thread.join()\n")
        self.record("/usr/bin/python3", path)
        (row,) = [row for row in self.table("lock_waits") if row["Longest"] > 150 * MS]
        self.assertEqual((row["Line"], row["Its Line"]), ("waits.py:9", "waits.py:5"))
        calls = [row for row in self.table("call_stacks") if row["Call"] in ("clock_nanosleep", "sem_wait")]
        self.assertEqual({row["Python Line"] for row in calls if row["Longest"] > 150 * MS},
                         {"waits.py:5", "waits.py:9"})

    def test_a_thread_with_little_stack_left_is_not_walked(self):
        """The walk would take the rest of it, and the program would end."""
        self.record(PROGRAM, "little-stack", flags=("--osrt-backtrace-threshold=1",))
        self.assertEqual(self.calls()["nanosleep"]["Calls"], 2)

    def test_a_thread_begins_with_its_first_call(self):
        self.record("/bin/sleep", "0.2")
        (row,) = [row for row in self.table("os_calls") if row["Longest"] > 150 * MS]
        self.assertLess(row["Longest"], 5000 * MS)


class Counts(Osrt):
    def test_counts_are_exact(self):
        path = self.path("data.bin")
        rows = []
        for count in (0, 500):
            self.record(PROGRAM, "counts", count, path)
            calls = self.calls()
            rows.append({name: row["Calls"] for name, row in calls.items()})
            files = {row["File"]: row for row in self.table("files")}
        more = {name: calls - rows[0].get(name, 0) for name, calls in rows[1].items()}
        self.assertEqual(more["pthread_mutex_lock"], 1000)
        self.assertEqual(more["sched_yield"], 1500)
        self.assertEqual(more["write"], 500)
        self.assertEqual(more["read"], 500 + 2_048_000 // 65536 + 1)
        self.assertEqual(more["fread"], 2_048_000 // 1024)
        self.assertEqual(rows[1]["fsync"], 1)
        # Bytes of each file, also of calls that are not recorded one by one.
        self.assertEqual(files["/dev/zero"]["Bytes Read"], 500)
        self.assertEqual(files["/dev/zero"]["Reads"], 500)
        data = files[path]
        self.assertEqual(data["Bytes Written"], 500 * 4096)
        self.assertEqual(data["Bytes Read"], 2 * 500 * 4096)
        self.assertEqual(data["Opened"], 2)

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_as_strace_counts(self):
        path = self.path("data.bin")

        def strace(count):
            done = run("strace", "-f", "-c", "-o", self.path("counts"), PROGRAM, "counts", count, path)
            if done.returncode != 0:
                self.skipTest("strace cannot trace here")
            with open(self.path("counts")) as file:
                return {line.split()[-1]: int(line.split()[3]) for line in file
                        if re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+\d+", line)}

        before, after = strace(0), strace(300)
        ours = []
        for count in (0, 300):
            self.record(PROGRAM, "counts", count, path)
            ours.append({name: row["Calls"] for name, row in self.calls().items()})
        for name in ("write", "sched_yield"):
            self.assertEqual(ours[1][name] - ours[0].get(name, 0), after[name] - before.get(name, 0), name)

    def uncounted(self):
        # Each chunk repeats the total of its process.
        return max([int(r.fields["value"]) for r in dump(self.path("run.batchlight"))
                    if r.kind == "Counter" and int(r.fields["counter"]) == 19], default=0)

    def test_calls_of_threads_without_a_buffer_are_told(self):
        self.record(PROGRAM, "crowd", 400, flags=["--buffer-budget=4M"])
        uncounted = self.uncounted()
        self.assertGreater(uncounted, 100)
        # usleep ends when the others have come: of it there may be any number.
        self.assertGreaterEqual(self.calls()["sched_yield"]["Calls"] + uncounted, 40_000)
        losses = self.batchlight("table", "losses", "run.batchlight").stdout
        self.assertIn("calls of the C library that are neither recorded nor counted", losses)

    def test_calls_in_signal_handlers_are_counted_or_told(self):
        for threshold in (0, 1000):
            with self.subTest(threshold=threshold):
                made = int(self.record(PROGRAM, "handler", flags=[f"--osrt-threshold={threshold}"]))
                self.assertEqual(self.calls()["sched_yield"]["Calls"] + self.uncounted(), made)

    def test_the_threshold_moves_calls_between_the_two(self):
        self.record(PROGRAM, "counts", 200, self.path("data.bin"), flags=["--osrt-threshold=0"])
        all_of_them = self.calls()
        self.assertEqual(all_of_them["write"]["Recorded"], 200)
        self.record(PROGRAM, "counts", 200, self.path("data.bin"),
                    flags=["--osrt-threshold=1000000000"])
        none = self.calls()
        self.assertEqual(none["write"]["Recorded"], 0)
        self.assertEqual(none["write"]["Calls"], 200)
        self.assertGreater(none["write"]["Total"], 0)

    def test_nothing_is_recorded_that_was_not_asked_for(self):
        done = self.batchlight("profile", "-t", "none", "-o", "run", "/usr/bin/env")
        self.assertNotIn("libbatchlight_osrt", re.search(r"LD_PRELOAD=(.*)", done.stdout)[1])
        self.assertEqual([r for r in dump(self.path("run.batchlight")) if r.kind.startswith("Os")], [])


class WhatProgramsDo(Osrt):
    def test_they_go_on_as_without_us(self):
        for words in (["errors"], ["robust"], ["cancel"], ["signals"], ["fork"], ["threads", 2000]):
            with self.subTest(words=words):
                self.record(PROGRAM, *words, flags=["--osrt-threshold=0"])
                self.assertTrue(self.table("os_calls"))

    def test_vfork(self):
        self.record(PROGRAM, "vfork")
        rows = self.calls()
        self.assertEqual(rows["vfork"]["Calls"], 50)
        self.assertEqual(rows["waitpid"]["Calls"], 50)
        self.assertNotIn("dup2", rows)  # the child's
        processes = self.table("processes")
        self.assertEqual(len(processes), 51)

    def test_a_program_without_proc(self):
        shell = ["unshare", "-m", "/bin/sh", "-c", 'umount -l /proc && exec "$@"', "sh"]
        if run(*shell, "/bin/true").returncode != 0:
            self.skipTest("needs a name space of its own")
        self.record(*shell, PROGRAM, "counts", 200, self.path("data.bin"))
        self.assertEqual(self.calls()["write"]["Calls"], 200)
        names = [row["Name"] for row in self.table("processes")]
        self.assertIn("os_program", names)

    def test_a_killed_program_keeps_its_counts(self):
        program = ("import os, signal, time\n"
                   "for i in range(300): os.sched_yield()\n"
                   "time.sleep(0.01)\n"
                   "os.kill(os.getpid(), signal.SIGKILL)\n")
        done = self.batchlight("profile", "-t", "osrt", "-o", "run", sys.executable, "-c", program)
        self.assertEqual(done.returncode, 137)
        self.assertGreaterEqual(self.calls()["sched_yield"]["Calls"], 300)

    def test_sanitizers(self):
        source = self.path("asan.cpp")
        with open(source, "w") as file:
            file.write("#include <unistd.h>\n#include <fcntl.h>\n#include <thread>\n"
                       "int main() { char b; int f = open(\"/dev/zero\", 0);\n"
                       "  for (int i = 0; i < 1000; ++i) if (read(f, &b, 1) != 1) return 1;\n"
                       "  std::thread([] { usleep(1000); }).join(); return 0; }\n")
        for sanitizer in ("address", "thread"):
            built = run("g++", "-fsanitize=" + sanitizer, "-pthread", source, "-o", self.path("asan"))
            if built.returncode != 0 or run(self.path("asan")).returncode != 0:
                continue
            with self.subTest(sanitizer=sanitizer):
                self.record(self.path("asan"))
                reasons = [r.fields["text"] for r in dump(self.path("run.batchlight"))
                           if r.kind == "Reason" and r.fields["feature"] == "osrt"]
                self.assertEqual(len(reasons), 1, reasons)
                # A program that sets the options anew for what it starts.
                self.record("env", "ASAN_OPTIONS=detect_leaks=0", self.path("asan"))

    def test_python(self):
        program = ("import threading, time, queue\n"
                   "q = queue.Queue()\n"
                   "t = threading.Thread(target=lambda: (time.sleep(0.05), q.put(1)))\n"
                   "t.start(); q.get(timeout=5); t.join()\n"
                   "open('out.txt', 'wb').write(b'x' * 100000)\n"
                   "assert len(open('out.txt', 'rb').read()) == 100000\n")
        self.record(sys.executable, "-c", program)
        rows = self.calls()
        waits = [row["Longest"] for name, row in rows.items()
                 if name in ("sem_clockwait", "sem_timedwait", "pthread_cond_timedwait")]
        self.assertGreater(max(waits), 40 * MS)
        files = {row["File"]: row for row in self.table("files")}
        self.assertEqual(files[self.path("out.txt")]["Bytes Written"], 100000)
        self.assertEqual(files[self.path("out.txt")]["Bytes Read"], 100000)


class Libraries(Osrt):
    def calls_of(self, *flags, **variables):
        done = self.batchlight("profile", "-f", "-o", "run", *flags, LIBRARY_PROGRAM,
                               env=dict(self.environment, **variables))
        self.assertEqual(done.returncode, 0, done.stderr)
        return {(row["Library"], row["Call"]): row["Calls"] for row in self.table("library_calls")}

    def ranges(self):
        done = self.batchlight("stats", "-q", "-r", "nvtx_sum", "-f", "csv", "run.batchlight")
        return {row["Range"]: int(row["Instances"]) for row in csv.DictReader(io.StringIO(done.stdout))
                if "Range" in row}

    def test_only_what_was_asked_for(self):
        self.assertEqual(self.calls_of("-t", "nvtx"), {})
        self.assertEqual(self.calls_of("-t", "nvtx,cublas"),
                         {("cuBLAS", "cublasLtMatmul"): 3, ("cuBLAS", "cublasGemmEx"): 3})
        self.assertEqual(self.ranges(), {":step": 3})
        self.assertEqual(self.calls_of("-t", "cublas-verbose,cudnn"),
                         {("cuBLAS", "cublasLtMatmul"): 3, ("cuBLAS", "cublasGemmEx"): 3,
                          ("cuBLAS", "cublasSetStream_v2"): 3, ("cuDNN", "cudnnBackendExecute"): 3})
        self.assertEqual(self.ranges(), {})
        self.assertEqual(self.calls_of("-t", "cusparse,nvtx", "--nvtx-domain-include=default"),
                         {("cuSPARSE", "cusparseSpMM"): 3})
        self.assertEqual(self.ranges(), {":step": 3})

    def test_the_tables_of_nsys(self):
        self.calls_of("-t", "cublas,cudnn")
        database = self.database()
        for table, names, event_class in (
                ("CUBLAS_EVENTS", {"cublasLtMatmul", "cublasGemmEx"}, 29),
                ("CUDNN_EVENTS", {"cudnnBackendExecute"}, 28)):
            rows = database.execute("SELECT s.value, eventClass FROM %s JOIN StringIds s "
                                    "ON s.id = nameId" % table).fetchall()
            self.assertEqual({row[0] for row in rows}, names)
            self.assertEqual({row[1] for row in rows}, {event_class})


if __name__ == "__main__":
    unittest.main()
