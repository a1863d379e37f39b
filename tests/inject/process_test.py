"""Processes and threads: how they begin, fork, exec and end, and what becomes of what they said."""

import os
import signal
import subprocess
import time

import inject_case
from inject_case import InjectCase, needs_library


class ProcessTest(InjectCase):
    def messages(self, process):
        return [r.message for r in process.records("Mark", "RangePush")]

    def exits(self, process):
        return [(r.status, r.how) for r in process.records("ProcessExit")]

    def test_start_and_exit(self):
        folder = self.session()
        self.run_client(folder, "threads", 0)
        process = self.only_process(folder)
        start = process.records()[0]
        self.assertEqual(start.kind, "ProcessStart")
        self.assertEqual(os.path.realpath(inject_case.CLIENTS[0]), start.executable)
        self.assertEqual(start.command_line.split("\0"), [inject_case.CLIENTS[0], "threads", "0"])
        self.assertEqual((start.parent_pid, start.flags), (os.getpid(), 0))
        self.assertLess(abs(start.start_ns - time.monotonic_ns()), 60e9)
        self.assertEqual(self.exits(process), [(0, 0)])
        sync = process.records("ClockSync")[0]
        self.assertLess(abs(sync.realtime_ns - time.time_ns()), 60e9)
        for chunk in process.chunks:
            self.assertGreater(chunk.used_bytes, 0)
            measured = (chunk.end_ticks - chunk.base_ticks) * 1e9 / (
                chunk.end_monotonic_ns - chunk.base_monotonic_ns)
            self.assertLess(abs(chunk.ticks_per_second / measured - 1), 0.05)

    def test_exit_status(self):
        for scenario, how in (("threads", 0), ("_exit", 1)):
            folder = self.session()
            self.run_client(folder, scenario, 77, status=77)
            self.assertEqual(self.exits(self.only_process(folder)), [(77, how)])

    @needs_library
    def test_python_os_exit(self):
        folder = self.session()
        done = folder.run("/usr/bin/python3", "-c", "import os; os._exit(41)")
        self.assertEqual(done.returncode, 41)
        self.assertEqual(self.exits(self.only_process(folder)), [(41, 1)])

    @needs_library
    def test_abort(self):
        folder = self.session()
        self.run_client(folder, "abort", status=-signal.SIGABRT)
        process = self.only_process(folder)
        self.assertEqual(self.messages(process), ["open"])
        self.assertEqual(self.exits(process), [])

    def test_killed_at_any_moment(self):
        for attempt in range(30):
            folder = self.session()
            child = subprocess.Popen([inject_case.CLIENTS[0], "forever"],
                                     env=folder.environment())
            time.sleep(0.0003 * attempt)
            before = time.monotonic_ns()
            child.kill()
            child.wait()
            processes = folder.processes()  # looks at every record
            chunks = [c for process in processes for c in process.chunks if c.last_record]
            if not chunks:  # killed before main
                continue
            chunk = chunks[-1]
            # Up to the last moment (what the machine gives us to run in, here).
            age_ns = (chunk.base_monotonic_ns +
                      chunk.last_record.delta * 1e9 / chunk.ticks_per_second)
            self.assertGreater(age_ns, before - 1e9)

    def test_fork(self):
        for scenario in ("fork", "raw_fork") if inject_case.LIBRARY else ("fork",):
            folder = self.session()
            lines = self.run_client(folder, scenario)
            self.assertEqual(lines, ["child 5"])
            parent, child = folder.processes()
            self.assertEqual(self.messages(parent), ["parent"] + ["beside"] * 1000)
            self.assertEqual(len(parent.records("RangePop")), 1001)
            self.assertEqual(self.messages(child), ["child"])
            start = child.records()[0]
            self.assertEqual((start.kind, start.parent_pid, start.flags),
                             ("ProcessStart", parent.pid, 1))
            # What the parent had named holds in the child.
            self.assertEqual([r.name for r in child.records("CategoryName")],
                             ["from the parent"])
            self.assertEqual((self.exits(parent), self.exits(child)), ([(0, 0)], [(5, 0)]))
            self.assertEqual(child.chunks[0].thread_index, 0)

    def test_each_process_that_the_disk_has_no_file_for_is_counted(self):
        folder = self.session(keep_free_files=1 << 62)
        self.assertEqual(self.run_client(folder, "fork"), ["child 5"])
        self.assertEqual(folder.processes(), [])
        self.assertEqual(folder.get("processes_unfiled"), 2)
        self.assertEqual(folder.get("events_unfiled"), 0)  # for another reason

    @needs_library
    def test_vfork(self):
        folder = self.session()
        lines = self.run_client(folder, "vfork")
        self.assertEqual(lines, ["child 9"])
        process = self.only_process(folder)
        self.assertEqual(self.messages(process), ["before", "after"])
        self.assertEqual(self.exits(process), [(0, 0)])

    def test_exec(self):
        folder = self.session()
        lines = self.run_client(folder, "exec")
        self.assertEqual(lines[0], "failed -1")
        first, second = folder.processes()
        self.assertEqual(first.pid, second.pid)
        self.assertEqual(self.messages(first), ["before", "still here"])
        self.assertEqual(self.exits(first), [(0, 2)])  # the exec that failed left no trace
        self.assertEqual(self.messages(second)[0], "outer")

    def test_many_children(self):
        folder = self.session()
        self.run_client(folder, "children", 400, status=400 & 0x7F)
        parent, *children = folder.processes()
        self.assertEqual(len(children), 400)
        for child in children:
            self.assertEqual((self.messages(child), self.exits(child)), (["in child"], [(0, 1)]))
        self.assertEqual(self.messages(parent), ["children"])

    def test_short_threads(self):
        folder = self.session()
        self.run_client(folder, "threads", 2000, status=2000 & 0x7F)
        process = self.only_process(folder)
        self.assertEqual(len({chunk.thread_index for chunk in process.chunks}), 2001)
        self.assertEqual(sorted(m for m in self.messages(process) if m.startswith("worker")),
                         sorted(f"worker-{i}" for i in range(2000)))
        self.assertEqual(len(process.records("ThreadExit")), 2000)
        names = {r.name for r in process.records("ThreadName")}  # given at the very end
        self.assertTrue({f"worker-{i}" for i in range(2000)} <= names)
        self.assertLessEqual(os.path.getsize(process.path), 2010 * 8192)

    @needs_library
    def test_many_threads_at_once(self):
        folder = self.session(budget_bytes=8 << 20)
        self.run_client(folder, "many_threads", 500, status=500 & 0x7F)
        process = self.only_process(folder)
        self.assertEqual(self.messages(process).count("waiting"), 500)
        self.assertEqual(len(process.records("RangePop")), 500)
        self.assertNotIn("ThreadsUnrecorded", process.counters())

    def test_busy_threads(self):
        folder = self.session()
        self.run_client(folder, "busy", 60000, status=60000 & 0x7F)
        process = self.only_process(folder)
        for thread in (0, 1):
            records = process.records("RangePush", "RangePop", thread=thread)
            self.assertEqual(len(records), 120000)
            ticks = [record.ticks for record in records]
            self.assertEqual(ticks, sorted(ticks))
        sizes = [chunk.chunk_bytes for chunk in process.chunks if chunk.thread_index == 0]
        self.assertEqual(sizes[:4], [8192, 16384, 32768, 65536])
        self.assertEqual(max(sizes), 1 << 20)

    def test_signal_handlers(self):
        folder = self.session()
        self.run_client(folder, "signals")
        process = self.only_process(folder)
        pushes = self.messages(process).count("interrupted")
        self.assertEqual((pushes, len(process.records("RangePop"))), (100000, 100000))
        inside = self.messages(process).count("in handler")
        self.assertGreater(inside + process.counters().get("ReentryIgnored", 0), 0)

    @needs_library
    def test_shell_and_its_children(self):
        folder = self.session()
        done = folder.run("/bin/sh", "-c", "/bin/true; /bin/false; exec /bin/echo hello",
                          stdout=subprocess.PIPE)
        self.assertEqual(done.stdout, b"hello\n")
        names = sorted(os.path.basename(process.records()[0].executable)
                       for process in folder.processes())
        self.assertEqual(names, ["dash", "echo", "false", "true"])

    @needs_library
    def test_not_preloaded(self):
        folder = self.session()
        self.run_client(folder, "basics", preload=False)
        self.assertEqual(self.messages(self.only_process(folder))[0], "outer")


if __name__ == "__main__":
    inject_case.main()
