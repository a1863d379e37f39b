"""Limits of the machine: no more descriptors, processes, inotify watches, or larger files. The
program's result is what it would be without us; what is lost is said with its true reason."""
import os
import shutil
import signal
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, FAULT_PROGRAM, LONG_S, SOURCE, InFolder, count, run  # noqa: E402

WARM_UP = 10
COUNT = 50_000


class Limits(InFolder):
    def shell(self, script, *flags, **options):
        done = self.profile("-o", "run", *flags, "sh", "-c", script + "; exit $?", **options)
        return done, self.opens("run.batchlight")

    def test_no_more_descriptors(self):
        done, records = self.shell("ulimit -n 30; %s no-descriptors 300000" % FAULT_PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(count(records, "OpBegin"), WARM_UP)
        summary = self.batchlight("summary", "run.batchlight").stdout
        self.assertIn("could not grow: Too many open files", " ".join(summary.split()))
        (dropped,) = {max(int(r.fields["value"]) for r in records if r.kind == "Counter"
                          and r.fields["counter"] == "2")}
        self.assertGreaterEqual(count(records, "OpBegin") + dropped, WARM_UP + 300000)

    def test_more_processes_than_the_tool_may_have_descriptors(self):
        """What they use is told all the same, and some descriptors are left to record with."""
        script = ("preload=$LD_PRELOAD; unset LD_PRELOAD; i=0; "
                  "while [ $i -lt 120 ]; do sleep 4 & i=$((i + 1)); done; sleep 2; "
                  "LD_PRELOAD=$preload sh -c 'exit 0'; ls /proc/$PPID/fd | wc -l; wait")
        done = run("prlimit", "--nofile=256:256", BATCHLIGHT, "profile", "-o", "run", "sh", "-c",
                   script, env=self.environment, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(int(done.stdout.split()[0]), 200)
        self.assertNotIn("numbers processes by itself", done.stderr + done.stdout)
        self.assertGreaterEqual(len(self.table("process_usage")), 120)

    def test_more_python_threads_than_the_tool_may_have_descriptors(self):
        """Looking at them takes half of the descriptors; the others are there to record with."""
        script = ("import os, threading, time\n"
                  "over = threading.Event()\n"
                  "threads = [threading.Thread(target=over.wait) for _ in range(200)]\n"
                  "for thread in threads: thread.start()\n"
                  "time.sleep(3)\n"
                  "print(len(os.listdir('/proc/%d/fd' % os.getppid())))\n"
                  "over.set()\n")
        done = run("prlimit", "--nofile=256:256", BATCHLIGHT, "profile", "-o", "run",
                   "/usr/bin/python3", "-c", script, env=self.environment, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(int(done.stdout.split()[0]), 200)
        self.assertGreater(count(self.opens("run.batchlight"), "PythonSample"), 200)

    def test_more_captures_than_the_tool_may_have_descriptors(self):
        done = run("prlimit", "--nofile=80:80", BATCHLIGHT, "profile", "-t", "nvtx", "-c", "nvtx", "-p", "step",
                   "--capture-range-end=repeat:120", "--export=jsonlines", "-o", "run", FAULT_PROGRAM, "steps", 130,
                   env=self.environment, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sum(name.endswith(".jsonl") for name in os.listdir(self.folder)), 120)

    def test_a_tool_with_hardly_any_descriptor_says_so(self):
        for limit in range(4, 40, 3):
            done = run("sh", "-c", "ulimit -n %d; exec %s profile -f -t nvtx -o run sh -c 'exit 7'"
                       % (limit, BATCHLIGHT), env=self.environment, cwd=self.folder)
            if done.returncode != 7:
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn("Too many open files", done.stderr, limit)
        self.assertEqual(done.returncode, 7, done.stderr)

    def test_hardly_any_descriptor(self):
        alone = run("sh", "-c", "ulimit -n 4; %s exit 7" % FAULT_PROGRAM).returncode
        done, _ = self.shell("ulimit -n 4; %s exit 7" % FAULT_PROGRAM)
        self.assertEqual(done.returncode, alone, done.stderr)

    def test_started_by_one_who_ignores_signals(self):
        """As some daemons do: the end of the program is heard, and it ignores the same ones as alone."""
        script = "grep SigIgn /proc/self/status; exit 7"
        ignored = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
        for numbers in ({signal.SIGCHLD}, {signal.SIGBUS}, ignored, set()):
            ignore = lambda: [signal.signal(number, signal.SIG_IGN) for number in numbers]  # noqa: E731
            alone = run("sh", "-c", script, preexec_fn=ignore).stdout
            done, _ = self.shell(script, preexec_fn=ignore, timeout=LONG_S)
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertIn(alone, done.stdout)
            os.remove(self.path("run.batchlight"))

    def test_waits_that_may_not_write(self):
        """The kernel says so, and nothing of ours writes there."""
        with open(self.path("waits.py"), "w") as file:
            file.write("import ctypes, os\n"
                       "libc = ctypes.CDLL(None, use_errno=True)\n"
                       "for wait in (lambda: libc.wait(8), lambda: libc.waitpid(-1, 8, 0), lambda: libc.wait4(-1, 8, 0, None),\n"
                       "             lambda: libc.waitid(0, 0, 8, os.WEXITED)):\n"
                       "    if os.fork() == 0: os._exit(3)\n"
                       "    print(wait(), ctypes.get_errno())\n")
        done, _ = self.shell("/usr/bin/python3 waits.py")
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["-1", "14"] * 4), done.stderr)

    def test_hardly_any_stack(self):
        """The tool takes what it needs; the program has what it would have."""
        recording = os.path.join(SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")
        little = ("prlimit", "--stack=65536:65536", BATCHLIGHT)
        for words in (("summary", recording), ("report", "-o", "report", recording),
                      ("export", "-t", "sqlite", "-o", "run.sqlite", recording)):
            done = run(*little, *words, env=self.environment, cwd=self.folder)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        done = run(*little, "profile", "-t", "nvtx", "-o", "run", "sh", "-c", "ulimit -s; exit 7",
                   env=self.environment, cwd=self.folder)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(done.stdout.split()[0], "64")

    def test_no_memory_for_the_timeline(self):
        done = self.profile("-o", "run", FAULT_PROGRAM, "operators", "1000000")
        self.assertEqual(done.returncode, 0, done.stderr)
        for limit in (40_000_000, 60_000_000, 80_000_000):
            done = run("prlimit", "--data=%d" % limit, BATCHLIGHT, "view", "--no-browser",
                       "run.batchlight", env=self.environment, cwd=self.folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("out of memory. Read it on a larger machine", done.stderr)

    def test_no_memory_for_the_summary(self):
        """It is a courtesy: the program's own code remains, and a line says where the recording is."""
        script = FAULT_PROGRAM + " operators 1000000; exit 7"
        said = []
        for limit in range(20_000_000, 200_000_000, 20_000_000):  # sealing, then reading, then neither lacks it
            done = run("prlimit", "--data=%d" % limit, BATCHLIGHT, "profile", "-t", "none", "--pytorch=autograd-nvtx",
                       "-f", "-o", "run", "sh", "-c", script, env=self.environment, cwd=self.folder)
            self.assertEqual(done.returncode, 7, (limit, done.stderr))
            said += done.stderr.splitlines()
        self.assertIn("batchlight: reading what was recorded: out of memory; it is in run.batchlight", said)
        done = self.profile("-f", "-o", "run", "sh", "-c", script, env=dict(self.environment, BATCHLIGHT_MEMORY="1000000"))
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("batchlight: cannot read run.batchlight: it needs about", done.stderr)
        self.assertIn("; it is in run.batchlight\n", done.stderr)

    def test_files_that_may_not_grow(self):
        done, records = self.shell("ulimit -f 64; %s operators 300000" % FAULT_PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(count(records, "OpBegin"), WARM_UP)
        self.assertIn("could not grow: File too large",
                      " ".join(self.batchlight("summary", "run.batchlight").stdout.split()))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become a user without processes")
    def test_no_more_processes(self):
        user = 60000 + os.getpid() % 5000  # nobody else's: all processes of a user count
        os.chmod(self.folder, 0o777)
        work = self.path("work")
        os.mkdir(work)
        os.chown(work, user, user)
        self.environment["XDG_RUNTIME_DIR"] = work
        reads = run("setpriv", f"--reuid={user}", "--clear-groups", "test", "-r", BATCHLIGHT)
        if reads.returncode != 0:
            self.skipTest("another user cannot read the build")
        # The tool with the thread that it cannot do without, and the program.
        done = run("setpriv", f"--reuid={user}", "--clear-groups", "prlimit", "--nproc=3", BATCHLIGHT,
                   "profile", "-t", "none", "--pytorch=autograd-nvtx", "-o", "run", FAULT_PROGRAM,
                   "operators", "1000", env=self.environment, cwd=work)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(count(self.opens("work/run.batchlight"), "OpBegin"), WARM_UP + 1000)

    @unittest.skipUnless(run("unshare", "-rU", "true").returncode == 0, "no user namespaces here")
    def test_inotify_is_used_up(self):
        script = ("echo 0 > /proc/sys/user/max_inotify_instances && %s profile -t none "
                  "--pytorch=autograd-nvtx -o run %s children 20; echo rc=$?"
                  % (BATCHLIGHT, FAULT_PROGRAM))
        done = run("unshare", "-rU", "sh", "-c", script, env=self.environment, cwd=self.folder)
        self.assertEqual(done.stdout.splitlines()[-1], "rc=0", done.stderr)
        self.assertEqual(count(self.opens("run.batchlight"), "OpBegin"), WARM_UP + 20 * 3)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("fsfreeze") and shutil.which("mkfs.ext4"),
                     "only root can freeze a file system")
class AFileSystemThatHangs(InFolder):
    """A disk of its own, frozen while a program is recorded onto it: whoever writes to it waits."""

    def setUp(self):
        super().setUp()
        self.disk = self.path("disk")
        os.mkdir(self.disk)
        with open(self.path("image"), "wb") as image:
            image.truncate(64 << 20)
        run("mkfs.ext4", "-q", self.path("image"))
        mounted = run("mount", "-o", "loop", self.path("image"), self.disk)
        if mounted.returncode != 0:
            self.skipTest("no disks in files here: " + mounted.stderr)
        self.addCleanup(run, "umount", "-l", self.disk)
        self.addCleanup(self.freeze, "--unfreeze")

    def freeze(self, how="--freeze"):
        return run("fsfreeze", how, self.disk).returncode

    def words(self):
        """What the program counted so far: events recorded, turns of the thread that records nothing."""
        try:
            with open(self.path("words"), "rb") as file:
                return struct.unpack("<QQ", file.read(16))
        except (FileNotFoundError, struct.error):  # the program has yet to make it, or to give it its size
            return 0, 0

    def test_the_program_goes_on_and_nothing_is_lost(self):
        tool = self.begin("profile", "-t", "none", "--pytorch=autograd-nvtx", "-o", "disk/run",
                          FAULT_PROGRAM, "beside", COUNT, self.path("words"))
        self.until(lambda: self.words()[0] > 1000, "the program does not record")
        self.assertEqual(self.freeze(), 0)
        turns = self.words()[1]
        # The thread that records waits, after the event that it was about to write. What records
        # nothing does not wait for it.
        self.until(lambda: self.words()[1] > turns + 200, "the other thread waits too")
        held = self.words()[0]
        self.until(lambda: self.words()[1] > turns + 1000, "the other thread waits too")
        self.assertEqual(self.words()[0], held)
        self.assertIsNone(tool.poll())
        self.assertEqual(self.freeze("--unfreeze"), 0)
        self.assertEqual(tool.wait(60), 0)
        self.assertEqual(self.words()[0], WARM_UP + COUNT)
        self.assertEqual(count(self.opens("disk/run.batchlight"), "OpEnd"), WARM_UP + COUNT)


class TheProgramBeginsASession(InFolder):
    def test_as_it_may_without_us(self):
        """A script's child leads no process group, so it may call setsid(); a shell's job may not."""
        text = ("import os, subprocess, sys\n"
                "try: print(os.setsid() or os.getsid(0) == os.getpgrp() == os.getpid(), flush=True)\n"
                "except OSError as error: print(error)\n"
                "child = 'import os; os.setsid()'\n"
                "for lead in 0, 1:\n"
                "    print(subprocess.call([sys.executable, '-c', child], stderr=subprocess.DEVNULL,\n"
                "                          preexec_fn=lambda: lead and os.setpgid(0, 0)))\n"
                "sys.exit(5)\n")
        for leads in (False, True):
            options = {"start_new_session": leads, "cwd": self.folder}
            with self.subTest(leads=leads):
                alone = run("/usr/bin/python3", "-c", text, **options)
                done = run(BATCHLIGHT, "profile", "-f", "-o", "run", "/usr/bin/python3", "-c", text,
                           env=self.environment, **options)
                self.assertEqual((done.stdout.split("batchlight ")[0], done.returncode),
                                 (alone.stdout, alone.returncode), done.stderr)
                self.opens("run.batchlight")

    def test_a_job_that_outlived_its_parent_leads_its_group(self):
        """It may not, with us or without, whoever has become its parent."""
        job = ("import os, time\ntime.sleep(0.5)\n"
               "try: os.setsid(); said = 'a session'\nexcept OSError as error: said = str(error)\n"
               "open('said.new', 'w').write(said); os.rename('said.new', 'said')\n")
        with open(os.path.join(self.folder, "job.py"), "w", encoding="utf-8") as file:
            file.write(job)
        text = ("import os, subprocess, sys, time\n"
                "start = 'import os, subprocess, sys; "
                "subprocess.Popen([sys.executable, \"job.py\"], preexec_fn=os.setpgrp)'\n"
                "subprocess.call([sys.executable, '-c', start])\n"
                "while not os.path.exists('said'): time.sleep(0.05)\n"
                "print(open('said').read(), flush=True)\nos.remove('said')\n")
        alone = run("/usr/bin/python3", "-c", text, cwd=self.folder)
        done = run(BATCHLIGHT, "profile", "-f", "-o", "run", "/usr/bin/python3", "-c", text,
                   env=self.environment, cwd=self.folder)
        self.assertIn("not permitted", alone.stdout)
        self.assertEqual(done.stdout.split("batchlight ")[0], alone.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
