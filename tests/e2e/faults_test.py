"""Programs that end badly, a tool that is killed, disks that fill. In each: the program's own result
is what it would be without us, the recording opens, what is lost is counted."""
import concurrent.futures
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import (BATCHLIGHT, FAULT_PROGRAM, LONG_S, InFolder, count, dump,  # noqa: E402
                      mount_namespaces_work, run, statuses)

WARM_UP = 10  # operators that every mode of the program records first


def alone(*words):
    return run(FAULT_PROGRAM, *words).returncode


def shell_code(returncode):
    return returncode if returncode >= 0 else 128 - returncode


class TheProgramEndsBadly(InFolder):
    def check_same_result(self, *words):
        done = self.profile("-f", "-o", "run", FAULT_PROGRAM, *words)
        self.assertEqual(done.returncode, shell_code(alone(*words)), done.stderr)
        return self.opens("run.batchlight")

    def test_every_way_to_end(self):
        for words in (["exit", 0], ["exit", 7], ["_exit", 9], ["abort"],
                      ["signal", signal.SIGSEGV], ["signal", signal.SIGKILL],
                      ["signal", signal.SIGTERM]):
            with self.subTest(words=words):
                records = self.check_same_result(*words)
                self.assertEqual(count(records, "OpBegin"), WARM_UP)
                self.assertEqual(count(records, "OpEnd"), WARM_UP)
                (status,) = statuses(records).values()
                self.assertEqual(shell_code(os.waitstatus_to_exitcode(status)),
                                 shell_code(alone(*words)))

    def test_killed_at_random_moments(self):
        # 200 children of one program ...
        counter = self.path("counter")
        done = self.profile(FAULT_PROGRAM, "killed-children", 200, counter)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(counter, "rb") as file:
            (recorded,) = struct.unpack("<Q", file.read(8))
        records = self.opens()
        self.assertGreater(recorded, 10_000)  # in all
        # Nothing that was recorded before the kill is missing.
        self.assertGreaterEqual(count(records, "OpBegin"), recorded)
        self.assertGreaterEqual(count(records, "OpEnd"), recorded)
        # Short-lived processes may be gone before the tool could open them: then their parent says
        # how they ended.
        ends = statuses(records)
        self.assertEqual(set(ends.values()), {0, signal.SIGKILL})
        started = {r.pid for r in records if r.kind == "ProcessStart"}
        self.assertGreater(len(started), 50)
        self.assertEqual(started - set(ends), set())

        # ... and 20 programs, while the tool starts, records and seals.
        def kill_one(seed):
            name, file = "killed%d" % seed, self.path("counter%d" % seed)
            tool = self.begin("profile", "-t", "none", "--pytorch=autograd-nvtx", "-o", name,
                              FAULT_PROGRAM, "forever", "0", file)
            self.until(lambda: os.path.exists(file) and os.path.getsize(file), "no program")
            time.sleep(random.Random(seed).random() * 0.1)
            children = run("pgrep", "-P", tool.pid).stdout.split()
            os.kill(int(children[0]), signal.SIGKILL)
            self.assertEqual(tool.wait(LONG_S), 128 + signal.SIGKILL)
            with open(file, "rb") as counted:
                (at_least,) = struct.unpack("<Q", counted.read(8))
            self.assertGreaterEqual(count(dump(self.path(name + ".batchlight")), "OpEnd"), at_least)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(kill_one, range(20)))

    def test_thousands_of_children(self):
        done = self.profile(FAULT_PROGRAM, "children", 2000)
        self.assertEqual(done.returncode, 0, done.stderr)
        records = self.opens()
        self.assertEqual(count(records, "OpBegin"), WARM_UP + 2000 * 3)
        ended = {r.fields["pid"] for r in records if r.kind == "ProcessStatus"}
        self.assertEqual(len(ended), 2000 + 1)
        self.assertLess(os.path.getsize(self.path("report1.batchlight")), 4 << 20)

    def test_a_child_made_by_a_system_call(self):
        """Whichever of its threads records first, it writes into no chunk of its parent's."""
        done = self.profile("-f", "-o", "run", FAULT_PROGRAM, "raw-fork", 50_000)
        self.assertEqual(done.returncode, 0, done.stderr)
        records = self.opens("run.batchlight")
        pids = {r.pid for r in records if r.kind == "OpEnd"}
        self.assertEqual(sorted(count(records, "OpEnd", pid) for pid in pids),
                         [5 * 50_000, WARM_UP + 5 * 50_000])
        self.assertNotIn("damaged", self.batchlight("summary", "run.batchlight").stdout)

    def test_thousands_of_threads(self):
        done = self.profile(FAULT_PROGRAM, "threads", 4000)
        self.assertEqual(done.returncode, 0, done.stderr)
        records = self.opens()
        self.assertEqual(count(records, "OpEnd"), WARM_UP + 4000 * 3)
        self.assertEqual(len({r.tid for r in records if r.kind == "OpEnd"}) > 1000, True)
        self.assertLess(os.path.getsize(self.path("report1.batchlight")), 4 << 20)

    def test_threads_that_never_end(self):
        done = self.profile(FAULT_PROGRAM, "endless-threads", 4)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(count(self.opens(), "OpEnd"), 1000)

    def test_open_and_unbalanced_operators(self):
        done = self.profile("-o", "open", FAULT_PROGRAM, "open", 1000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(count(self.opens("open.batchlight"), "OpBegin"), WARM_UP + 1000)
        done = self.profile("-o", "unbalanced", FAULT_PROGRAM, "unbalanced", 1000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.opens("unbalanced.batchlight")

    def test_strange_ranges(self):
        """10 MB names, invalid UTF-8, pops without push, ranges open at the end."""
        for mode in ("names", "unbalanced-pops", "open-ranges"):
            done = self.batchlight("profile", "-t", "nvtx", "-o", mode, FAULT_PROGRAM, mode, 100)
            self.assertEqual(done.returncode, 0, done.stderr)
        records = self.opens("names.batchlight")
        pushed = [r.fields for r in records if r.kind.startswith("RangePush")]
        self.assertEqual(len(pushed), 3)
        self.assertEqual(pushed[0]["message"], "x" * 65536)
        self.assertIn("invalid", pushed[1]["message"])
        self.assertIn("names or payloads cut to 64 KiB", self.summary("names"))
        self.assertEqual(count(records, "Mark"), 1)
        stats = self.batchlight("stats", "-r", "nvtx_pushpop_sum", "-f", "json", "names.batchlight")
        self.assertIn("utf-8", stats.stdout)
        json.loads(stats.stdout)

        records = self.opens("unbalanced-pops.batchlight")
        self.assertEqual([r.fields["message"] for r in records if r.kind.startswith("RangePush")],
                         ["after"])
        records = self.opens("open-ranges.batchlight")
        self.assertEqual(sum(r.kind.startswith("RangePush") for r in records), 100)

    def summary(self, name):
        return self.batchlight("summary", name + ".batchlight").stdout

    def test_budget_that_is_too_small(self):
        done = self.profile("--buffer-budget=1M", FAULT_PROGRAM, "operators", 200_000)
        self.assertEqual(done.returncode, 0, done.stderr)
        records = self.opens()
        kept = count(records, "OpBegin")
        self.assertGreater(kept, 10_000)
        # One thread gives its full chunks back as it goes, so a small budget loses nothing;
        # whatever is lost has to be counted.
        dropped = max([int(r.fields["value"]) for r in records
                       if r.kind == "Counter" and r.fields["counter"] in ("1", "2")] or [0])
        self.assertGreaterEqual(kept + dropped, WARM_UP + 200_000)


class TheRecorderIsLeftInTheMiddle(InFolder):
    """A signal handler jumps out of it, a thread is cancelled in it: recording goes on, nobody waits
    for a lock whose holder is gone, and what is lost is said."""

    def record(self, *words):
        done = self.batchlight("profile", "-t", "nvtx", "--pytorch=autograd-nvtx", "-f", "-o", "run",
                               FAULT_PROGRAM, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.opens("run.batchlight"), done.stderr

    def test_by_siglongjmp(self):
        records, _ = self.record("jumps", 600)
        self.assertGreater(self.times_left(records), 10)
        # Without a way back the first jump would be the end.
        after = [r.fields for r in records if r.kind == "OpBegin"][-1]
        self.assertEqual(after["name"], "fault::deeper")
        begins = count(records, "OpBegin")
        ignored = self.counter(records, "6")
        self.assertLess(ignored, begins / 2, "most of the events are recorded")

    def test_by_siglongjmp_while_others_wait(self):
        records, _ = self.record("jumps-and-others", 300)
        self.assertGreater(self.times_left(records), 5)
        names = {r.fields["name"] for r in records if r.kind == "OpBegin"}
        self.assertIn("fault::other", names)
        self.assertGreaterEqual(count(records, "OpBegin"), 300)

    def test_by_cancelled_threads(self):
        """Each would keep its budget: after 64 MiB no thread could be recorded any more."""
        records, _ = self.record("cancelled-threads", 600)
        self.assertGreater(self.times_left(records), 10)
        self.assertGreaterEqual(count(records, "OpBegin"), WARM_UP + 100)
        self.assertEqual(self.counter(records, "1") + self.counter(records, "7"), 0, "budget")

    def test_handlers_on_a_stack_that_cannot_be_told(self):
        """What they interrupt goes on after them: nothing of it may be taken away."""
        records, _ = self.record("disarmed-stack", 300_000)
        steps = [r for r in records if r.kind == "OpBegin" and r.fields["name"] == "fault::step"]
        self.assertGreater(len(steps), 290_000)

    @staticmethod
    def counter(records, number):
        return max([int(r.fields["value"]) for r in records
                    if r.kind == "Counter" and r.fields["counter"] == number] or [0])

    def times_left(self, records):
        """How often, as the recording says."""
        said = [r.fields["text"] for r in records
                if r.kind == "Reason" and "left in the middle" in r.fields["text"]]
        self.assertEqual(len(said), 1)
        self.assertIn("left in the middle", self.batchlight("summary", "run.batchlight").stdout)
        return int(said[0].split(" times")[0].split()[-1])


IN_PID_NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]


def pid_namespaces_work():
    return run(*IN_PID_NAMESPACE, "true").returncode == 0


class TheProgramBecomesAnother(InFolder):
    def reasons(self):
        return [r.fields["text"] for r in self.opens() if r.kind == "Reason"]

    def profile_words(self, *words):
        done = self.profile(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return "\n".join(self.reasons())

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user_by_itself(self):
        text = self.profile_words(FAULT_PROGRAM, "other-user", 500)
        self.assertIn("a process became user 65534", text)
        (lost,) = re.findall(r"(\d+) events are missing, of processes that could write no file", text)
        self.assertGreaterEqual(int(lost), 500)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_user_by_setpriv_and_su(self):
        os.chmod(self.folder, 0o755)
        for words in (["setpriv", "--reuid=65534", "--clear-groups", FAULT_PROGRAM, "operators", 5],
                      ["su", "-s", "/bin/sh", "nobody", "-c", FAULT_PROGRAM + " operators 5"]):
            with self.subTest(words=words):
                text = self.profile_words("-f", "-o", "report1", *words)
                self.assertIn("a process became user 65534: of it and of what it starts, little or "
                              "nothing is recorded", text)
                self.assertIn("became user 65534",
                              self.batchlight("summary", "report1.batchlight").stdout)

    @unittest.skipUnless(pid_namespaces_work(), "no pid namespaces here: unshare is refused")
    def test_a_namespace_that_numbers_processes_by_itself(self):
        """Process 1 of the namespace is not the machine's: nothing of that one may be noted."""
        text = self.profile_words(*IN_PID_NAMESPACE, "sh", "-c",
                                  FAULT_PROGRAM + " operators 50; sleep 0.5; exit 0")
        said = re.findall(r"process \d+ numbers processes by itself", text)
        self.assertEqual(said, ["process 1 numbers processes by itself"])
        records = self.opens()
        self.assertEqual(count(records, "OpEnd"), WARM_UP + 50)
        of_the_tool = [r for r in records if r.kind in ("ProcessUsage", "ProcessStatus", "CpuThread")]
        self.assertEqual([r for r in of_the_tool if r.fields["pid"] == "1"], [])
        self.assertNotEqual(of_the_tool, [], "unshare itself is noted")
        self.assertIn("numbers processes by itself",
                      self.batchlight("summary", "report1.batchlight").stdout)

    def test_a_program_that_cannot_be_recorded(self):
        program = self.build("static", ["cc", "-static"])
        done = self.profile("-o", "alone", program)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("no process was recorded from inside: the program is statically linked", done.stderr)
        text = self.profile_words("sh", "-c", "%s; true" % program)
        self.assertIn("%s is statically linked: nothing of it is recorded" % program, text)

    def test_children_with_an_environment_of_their_own(self):
        script = ("import subprocess, sys\n"
                  "for environment in ({}, {'RANK': '0'}, None):\n"
                  "    subprocess.run([sys.executable, '-c', 'import time; time.sleep(2.5)'], env=environment)\n")
        for words, count in (((sys.executable, "-c", script), "2 processes were"),
                             (("env", "-i", "sleep", "2.5"), "a process was"),
                             (("sh", "-c", "sleep 2.5"), None)):
            text = self.profile_words("-f", "-o", "report1", *words)
            said = "%s started with an environment without batchlight's LD_PRELOAD" % count
            self.assertEqual(said in text, count is not None, text)
            summary = " ".join(self.batchlight("summary", "report1.batchlight").stdout.split())
            self.assertEqual(said in summary, count is not None, summary)

    @unittest.skipUnless(shutil.which("musl-gcc"), "no musl here")
    def test_children_of_another_c_library(self):
        for name, words in (("static", ["-static"]), ("dynamic", [])):
            program = self.build(name, ["musl-gcc"] + words)
            text = self.profile_words("-f", "-o", "report1", "sh", "-c",
                                      "%s; test $? = 7" % program)
            executables = {r.fields["executable"] for r in self.opens()
                           if r.kind == "ProcessStart"}
            self.assertEqual(program in executables, name == "dynamic")
            self.assertEqual(program + " is statically linked" in text, name == "static")
            done = self.profile("-f", "-o", "direct", program)
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertTrue(done.stdout.startswith("lives\n"))

    def build(self, name, compiler):
        source, program = self.path(name + ".c"), self.path(name)
        with open(source, "w") as file:
            file.write("#include <stdio.h>\nint main(void) { puts(\"lives\"); return 7; }\n")
        subprocess.run(compiler + ["-o", program, source], check=True)
        return program


class TheToolIsKilled(InFolder):
    def start_and_kill_tool(self):
        tool = self.begin("profile", "-t", "none", "--pytorch=autograd-nvtx", "-o", "run",
                          FAULT_PROGRAM, "forever", "0", self.path("counter"))
        self.until(lambda: self.recorded() > 1000, "nothing is recorded")
        child = int(run("pgrep", "-P", tool.pid).stdout.split()[0])
        tool.kill()
        tool.wait()
        return child

    def recorded(self):
        try:
            with open(self.path("counter"), "rb") as file:
                return struct.unpack("<Q", file.read(8) or bytes(8))[0]
        except FileNotFoundError:
            return 0

    def test_live_folder_opens_and_is_not_overwritten(self):
        child = self.start_and_kill_tool()
        try:
            before = self.recorded()
            self.until(lambda: self.recorded() > before, "the program does not run on")
            seal = self.batchlight("trace", "seal", "run.batchlight.live")
            self.assertEqual(seal.returncode, 3, "still written")
            self.assertIn("process %d" % child, seal.stderr)
            in_use = self.profile("-f", "-o", "run", FAULT_PROGRAM, "exit")
            self.assertEqual(in_use.returncode, 4)
            self.assertIn("in use by process %d" % child, in_use.stderr)
        finally:
            self.kill_and_wait(child)
        recorded = self.recorded()
        self.assertGreaterEqual(count(self.opens("run.batchlight.live"), "OpEnd"), recorded)

        refused = self.profile("-o", "run", FAULT_PROGRAM, "exit")
        self.assertEqual(refused.returncode, 4)
        self.assertIn("trace seal run.batchlight.live", refused.stderr)
        seal = self.batchlight("trace", "seal", "run.batchlight.live")
        self.assertEqual(seal.returncode, 0, seal.stderr)
        self.assertEqual(self.files(), ["counter", "run.batchlight"])
        self.assertGreaterEqual(count(self.opens("run.batchlight"), "OpEnd"), recorded)

    def test_the_next_run_names_it_and_clean_makes_a_recording(self):
        self.kill_and_wait(self.start_and_kill_tool())
        next_run = self.profile("-o", "next", FAULT_PROGRAM, "exit")
        self.assertIn("run.batchlight.live was left by a run whose tool was killed; `batchlight "
                      "clean`", next_run.stderr)
        done = self.batchlight("clean")
        self.assertEqual(done.stdout, "made run.batchlight of run.batchlight.live\n", done.stderr)
        self.assertGreater(count(self.opens("run.batchlight"), "OpEnd"), 1000)

    def kill_and_wait(self, pid):
        os.kill(pid, signal.SIGKILL)
        self.until(lambda: not self.mapped(pid), "the program does not end")

    @staticmethod
    def mapped(pid):
        try:
            with open("/proc/%d/maps" % pid) as maps:
                return ".batchlight.live" in maps.read()
        except (FileNotFoundError, ProcessLookupError):
            return False

    def test_force_records_over_what_was_left(self):
        self.kill_and_wait(self.start_and_kill_tool())
        done = self.profile("-f", "-o", "run", FAULT_PROGRAM, "exit")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(count(self.opens("run.batchlight"), "OpEnd"), WARM_UP)


# libfaketime does this, and more.
OTHER_TIME = """#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec* now) {
  syscall(SYS_clock_gettime, clock, now);
  const long long ns = (now->tv_sec * 1000000000LL + now->tv_nsec) / 2;
  now->tv_sec = ns / 1000000000;
  now->tv_nsec = ns % 1000000000;
  return 0;
}
"""


class TheProgramIsShownAnotherTime(InFolder):
    @unittest.skipUnless(shutil.which("cc"), "no C compiler here")
    def test_events_have_the_kernels_time(self):
        with open(self.path("other_time.c"), "w") as file:
            file.write(OTHER_TIME)
        self.assertEqual(run("cc", "-shared", "-fPIC", "-o", self.path("other_time.so"),
                             self.path("other_time.c")).returncode, 0)
        script = ("import batchlight, ctypes\n"
                  "with batchlight.annotate('sleeps'): ctypes.CDLL(None).usleep(300000)")
        done = run(BATCHLIGHT, "profile", "-t", "nvtx", "-o", "run", sys.executable, "-c", script, cwd=self.folder,
                   env={**self.environment, "LD_PRELOAD": self.path("other_time.so")})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.batchlight("stats", "-r", "nvtx_sum", "-f", "csv", "run.batchlight").stdout
        slept = [line.split(",") for line in rows.splitlines() if "sleeps" in line]
        self.assertEqual(len(slept), 1, rows)
        self.assertGreaterEqual(int(slept[0][1]), 290_000_000)


def memory_group(case, limit):
    """A control group of that much memory, in which the test may start processes."""
    for root, file, near in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
                             ("/sys/fs/cgroup", "memory.max", "cgroup.subtree_control")):
        if not os.path.exists(os.path.join(root, near)):
            continue
        group = os.path.join(root, "batchlight-test-%d" % os.getpid())
        try:
            os.mkdir(group)
            case.addCleanup(os.rmdir, group)
            with open(os.path.join(group, file), "w") as limits:
                limits.write(limit)
            return group
        except OSError:
            break
    return case.skipTest("no control group of memory can be made here")


class TheDiskIsFull(InFolder):
    def in_small_disk(self, megabytes, script):
        """Runs a shell script in a folder on a disk of its own of that size."""
        disk = self.path("disk")
        os.makedirs(disk, exist_ok=True)
        return run("unshare", "-rm", "sh", "-c",
                   "mount -t tmpfs -o size=%dm none %s && cd %s && %s"
                   % (megabytes, disk, disk, script), env=self.environment, cwd=self.folder)

    @unittest.skipUnless(mount_namespaces_work(), "no user namespaces here")
    def test_while_recording(self):
        done = self.in_small_disk(4, (
            "%s profile -t none --pytorch=autograd-nvtx -o run %s operators 300000;"
            " echo rc=$?; ls; %s summary run.batchlight* | head -40;"
            " %s trace dump run.batchlight* | grep -c OpEnd"
        ) % (BATCHLIGHT, FAULT_PROGRAM, BATCHLIGHT, BATCHLIGHT))
        self.assertNotIn("rc=135", done.stdout, "no SIGBUS in the program")
        # The program is fine; the recording may not have found room for its sealed form.
        self.assertRegex(done.stdout, r"rc=(0|4)\n", done.stderr)
        self.assertRegex(done.stdout, "recording stopped so that|could not grow", done.stderr)
        self.assertGreater(int(done.stdout.split()[-1]), 10_000)

    @unittest.skipUnless(mount_namespaces_work(), "no user namespaces here")
    def test_the_programs_own_checkpoint_finds_room(self):
        done = self.in_small_disk(60, (
            "%s profile -t none --pytorch=autograd-nvtx -o run sh -c '%s operators 3000000;"
            " dd if=/dev/zero of=checkpoint bs=1M count=10 2>/dev/null || exit 5'; echo rc=$?;"
        ) % (BATCHLIGHT, FAULT_PROGRAM))
        self.assertIn("rc=0\n", done.stdout, done.stderr)
        self.assertIn("recording stopped so that 30.0 MiB stay free", done.stderr)

    def test_a_disk_of_memory_leaves_the_program_its_own(self):
        # What lies in /dev/shm counts for the group; before, the kernel ended the program for it.
        group = memory_group(self, "128M")
        folder = tempfile.mkdtemp(dir="/dev/shm")
        self.addCleanup(shutil.rmtree, folder)
        done = run("sh", "-c", "echo $$ >%s/cgroup.procs && exec %s profile -t none --pytorch=autograd-nvtx"
                   " --stats=false -o run %s operators 3000000" % (group, BATCHLIGHT, FAULT_PROGRAM),
                   # Reading for the summary takes more than what it is reckoned with: not looked at here.
                   env=dict(self.environment, BATCHLIGHT_MEMORY="1000000"), cwd=folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("recording stopped so that the program keeps", done.stderr)
        self.assertIn("run.batchlight", os.listdir(folder))

    def test_recording_has_a_limit(self):
        done = self.profile("--max-size=2M", "-o", "run", FAULT_PROGRAM, "operators", 300000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("recording stopped at --max-size=2.0 MiB; the program runs on", done.stderr)
        self.assertGreater(count(self.opens("run.batchlight"), "OpEnd"), 10_000)

    @unittest.skipUnless(mount_namespaces_work(), "no user namespaces here")
    def test_what_is_lost_at_a_limit_is_counted(self):
        # The tool, which would end the capture, stands still: all that follows the limit is lost.
        for flag in ("--max-size=2M", "--keep-free=12M"):
            done = self.in_small_disk(16, (
                "%s profile -t none --pytorch=autograd-nvtx %s -o run sh -c 'kill -STOP $PPID;"
                " %s operators 300000; code=$?; kill -CONT $PPID; exit $code' >/dev/null; echo $?;"
                " %s trace dump run.batchlight >dump; grep -c OpBegin dump;"
                " sed -n 's/.*Counter counter=2 value=//p' dump | sort -n | tail -1"
            ) % (BATCHLIGHT, flag, FAULT_PROGRAM, BATCHLIGHT))
            self.assertIn("recording stopped", done.stderr, flag)
            code, recorded, lost = map(int, done.stdout.split())
            self.assertEqual(code, 0, done.stderr)
            self.assertGreater(recorded, 10_000, flag)
            self.assertIn(recorded + lost - WARM_UP - 300_000, (0, 1, 2), flag)  # the exit's records too

        # The program takes all that it can get.
        done = self.in_small_disk(8, (
            "%s profile -t none --pytorch=autograd-nvtx -o run sh -c '%s operators 20000;"
            " dd if=/dev/zero of=filler bs=4096 2>/dev/null; exit 5'; echo rc=$?; ls;"
            " %s trace dump run.batchlight | grep -c OpEnd"
        ) % (BATCHLIGHT, FAULT_PROGRAM, BATCHLIGHT))
        self.assertEqual(done.stdout.split(), ["rc=5", "filler", "run.batchlight", "20010"])

    def test_while_sealing(self):
        # The sealed file may not grow to what it needs.
        done = self.profile("-o", "run", "sh", "-c", FAULT_PROGRAM + " operators 20000;"
                            " prlimit --fsize=8192 --pid=$PPID; exit 5")
        self.assertEqual(done.returncode, 5, done.stderr)  # the program's own result wins
        self.assertEqual(self.files(), ["run.batchlight.live"])
        self.assertIn("trace seal run.batchlight.live", done.stderr)
        self.assertEqual(count(self.opens("run.batchlight.live"), "OpEnd"), 20010)

    @unittest.skipUnless(mount_namespaces_work(), "no user namespaces here")
    def test_before_the_program_starts(self):
        done = self.in_small_disk(1, (
            "dd if=/dev/zero of=filler bs=4096 2>/dev/null;"
            " %s profile -o run %s exit 0; echo rc=$?; ls" % (BATCHLIGHT, FAULT_PROGRAM)))
        self.assertIn("rc=4\n", done.stdout, done.stderr)
        self.assertNotIn("run.batchlight", done.stdout)


class NothingCanBeWritten(InFolder):
    def check_refused(self, *words, **options):
        marker = self.path("the-program-ran")
        done = self.profile(*words, "touch", marker, **options)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertFalse(os.path.exists(marker))
        return done.stderr

    def test_a_live_folder_that_the_program_removes(self):
        done = self.profile("-o", "run", "sh", "-c", "rm -r run.batchlight.live; exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("nothing of it is left: somebody removed run.batchlight.live", done.stderr)
        self.assertNotIn("opens it", done.stderr)

    def test_missing_folder(self):
        self.assertIn("create it first", self.check_refused("-o", "no/such/folder/run"))
        self.assertEqual(self.files(), [])

    @unittest.skipUnless(mount_namespaces_work(), "no user namespaces here")
    def test_read_only_folder(self):
        os.mkdir(self.path("fixed"))
        done = run("unshare", "-rm", "sh", "-c",
                   "mount --bind %s %s && mount -o remount,bind,ro %s && %s profile -o %s/run true"
                   % (self.path("fixed"), self.path("fixed"), self.path("fixed"), BATCHLIGHT,
                      self.path("fixed")), cwd=self.folder)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("choose another with -o", done.stderr)

    def test_existing_output(self):
        for name in ("run", "run.batchlight"):
            with open(self.path("run.batchlight"), "w") as file:
                file.write("precious")
            self.assertIn("-f", self.check_refused("-o", name))
            with open(self.path("run.batchlight")) as file:
                self.assertEqual(file.read(), "precious")
        self.assertEqual(self.files(), ["run.batchlight"])
        self.assertEqual(self.profile("-f", "-o", "run", "true").returncode, 0)
        self.opens("run.batchlight")

    def test_program_that_is_not_there(self):
        script = self.path("script.py")
        with open(script, "w") as file:
            file.write("print('hello')\n")
        bad = self.path("bad-interpreter")
        with open(bad, "w") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod(bad, 0o755)
        for program, code in (("no-such-program", 127), ("./no-such-program", 127), (script, 126),
                              (self.folder, 126), (bad, 127)):
            done = self.profile(program)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn("cannot run", done.stderr)
        self.assertEqual(self.files(), ["bad-interpreter", "script.py"])

    def test_script_without_interpreter_line(self):
        script = self.path("plain")
        with open(script, "w") as file:
            file.write('echo "$1"; exit 3\n')
        os.chmod(script, 0o755)
        done = self.profile(script, "two words")
        self.assertEqual((done.returncode, done.stdout), (3, "two words\n"))


if __name__ == "__main__":
    unittest.main()
