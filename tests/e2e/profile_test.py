"""batchlight profile as a wrapper: the program's output, exit code, signals, terminal; names of
recordings; when collection starts and stops."""
import os
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_terminal import InTerminal  # noqa: E402
from recorded import (BATCHLIGHT, BUILD, FAULT_PROGRAM, LONG_S, InFolder, count, run,  # noqa: E402
                      statuses)


class TheProgramIsAsWithoutUs(InFolder):
    def test_output_and_arguments(self):
        script = ["sh", "-c", 'printf "out %s|" "$@"; echo err >&2; cat; exit 3', "-o", "--", "-f"]
        for words in (script, ["--"] + script):
            done = self.profile(*words, stdin=None, input="from stdin")
            self.assertEqual(done.stdout, "out --|out -f|from stdin")
            self.assertTrue(done.stderr.startswith("err\n"), done.stderr)
            self.assertEqual(done.returncode, 3)

    def test_hidden_output(self):
        done = self.profile("-w", "false", "sh", "-c", "echo out; echo err >&2; exit 2")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertNotIn("err\n", done.stderr)

    def test_environment(self):
        done = self.profile("-e", "A=1,B=x\\,y", "sh", "-c", "echo $A $B $LD_PRELOAD",
                            env=dict(self.environment, LD_PRELOAD="libc.so.6"))
        a, b, preload = done.stdout.split()
        self.assertEqual((a, b), ("1", "x,y"))
        self.assertTrue(preload.endswith("libbatchlight_inject.so:libc.so.6"), preload)
        done = self.profile("-n", "false", "/usr/bin/env")
        names = {line.split("=")[0] for line in done.stdout.splitlines()}
        self.assertEqual(names, {"LD_PRELOAD", "NVTX_INJECTION64_PATH", "BATCHLIGHT_SESSION_DIR",
                                 "ASAN_OPTIONS"})

    def test_lists_of_libraries(self):
        """What ldd prints is what tools that pack programs (PyInstaller) copy."""
        listing = "import os; os.environ.update(LD_TRACE_LOADED_OBJECTS='1'); "
        for words in (["ldd", "/bin/ls"], ["sh", "-c", "LD_TRACE_LOADED_OBJECTS=1 exec /bin/ls"],
                      ["/usr/bin/python3", "-c", listing + "os.execv('/bin/ls', ['ls'])"],
                      ["/usr/bin/python3", "-c", listing + "import subprocess; subprocess.run('/bin/ls')"]):
            with self.subTest(words):
                names = []
                for own in ({}, {"LD_PRELOAD": "libm.so.6"}):
                    environment = dict(self.environment, **own)
                    alone = run(*words, env=environment).stdout
                    names.append(re.findall(r"(?m)^\s*(\S+)", alone))
                    recorded = self.profile("-f", "-o", "run", *words, env=environment).stdout
                    self.assertEqual(re.findall(r"(?m)^\s*(\S+)", recorded), names[-1])
                self.assertEqual("libm.so.6" in names[0], False)
                self.assertEqual("libm.so.6" in names[1], True)

    def test_secrets_are_not_stored(self):
        secrets = {"WANDB_API_KEY": "uvwxyz-variable", "DB_PASSWORD": "uvwxyz-password"}
        words = ["exit", 0, "--api-key=uvwxyz-flag", "--hub_token", "uvwxyz-word",
                 "sh -c 'MY_SECRET=uvwxyz-inside true'", "--tokenizer", "kept"]
        done = self.profile("-o", "run", "--record-environment=true", FAULT_PROGRAM, *words,
                            env=dict(self.environment, **secrets))
        self.assertEqual(done.returncode, 0, done.stderr)
        text = run(BATCHLIGHT, "trace", "dump", self.path("run.batchlight")).stdout
        self.assertNotIn("uvwxyz", text)
        self.assertIn('key="environment.WANDB_API_KEY" value="***"', text)
        for separator in (" ", "\\x00"):  # of the session, of the process
            self.assertIn(separator.join(["--api-key=***", "--hub_token", "***"]), text)
            self.assertIn(separator.join(["--tokenizer", "kept"]), text)

    def test_environment_is_not_stored(self):
        private = dict(self.environment, PRIVATE="hush-hush", RANK="3")
        self.profile("-o", "without", "true", env=private)
        self.profile("-o", "with", "--record-environment=true", "true", env=private)
        without, with_all = self.opens("without.batchlight"), self.opens("with.batchlight")
        values = {r.fields["key"]: r.fields["value"] for r in without if r.kind == "Property"}
        self.assertEqual(values["environment.RANK"], "3")
        self.assertNotIn("hush-hush", str(without))
        self.assertIn("hush-hush", str(with_all))
        self.assertTrue(values["machine.cpu"])
        self.assertEqual(values["session.command"], "true")

    def test_rank_of_each_process(self):
        self.profile("sh", "-c", "for r in 0 1; do RANK=$r sleep 0.01 & done; wait")
        ranks = {r.fields["value"] for r in self.opens()
                 if r.kind == "Property" and r.fields["key"] == "environment.RANK" and r.pid != 0}
        self.assertEqual(ranks, {"0", "1"})

    def test_signals_pass_through(self):
        for sent in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGINT, signal.SIGHUP,
                     signal.SIGQUIT):
            tool = self.begin(
                "profile", "-f", "-o", "run", sys.executable, "-c",
                "import signal, sys, time\n"
                "signal.signal(%d, lambda *_: sys.exit(42))\n"
                "print('ready', flush=True)\n"
                # Not one long sleep: Python misses a signal that comes as it begins.
                "while True: time.sleep(0.01)" % sent, stdout=subprocess.PIPE)
            readable, _, _ = select.select([tool.stdout], [], [], LONG_S)
            self.assertTrue(readable, "the program does not start")
            tool.send_signal(sent)
            self.assertEqual(tool.wait(LONG_S), 42, sent)

    def test_death_by_a_signal_is_reported_as_a_shell_does(self):
        done = self.profile("sh", "-c", "kill -TERM $$")
        self.assertEqual(done.returncode, 128 + signal.SIGTERM)

    def test_killing_its_own_group_leaves_the_tool_alive(self):
        done = self.profile("sh", "-c", "sleep 600 & kill -KILL 0")
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.opens()

    def test_processes_left_behind(self):
        counter = self.path("counter")
        for wait, present, words in (("all", True, []), ("primary", False, [0, counter])):
            done = self.profile("-o", wait, "--wait", wait, FAULT_PROGRAM, "orphan", *words,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0)
            records = self.opens(wait + ".batchlight")
            self.assertEqual(4 << 8 in statuses(records).values(), present)
        # The orphan writes into files that are gone: nobody minds.
        with open(counter, "r+b") as file:
            file.seek(8)
            file.write(struct.pack("<Q", 1))
        self.until(lambda: not list(self.processes()), "the orphan does not end")
        with open(counter, "rb") as file:
            self.assertEqual(struct.unpack("<QQ", file.read(16))[1], 2)

    def test_who_asks_the_job_to_end_need_not_wait_for_what_it_left(self):
        tool = self.begin("profile", "-f", "-o", "run", "sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!; wait",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        readable, _, _ = select.select([tool.stdout], [], [], LONG_S)
        self.assertTrue(readable, "the program does not start")
        child = int(tool.stdout.readline())
        try:
            tool.send_signal(signal.SIGTERM)
            self.assertEqual(tool.wait(LONG_S), 128 + signal.SIGTERM)
            self.assertIn("goes on, unrecorded", str(tool.stderr.read()))
            os.kill(child, 0)
        finally:
            os.kill(child, signal.SIGKILL)
        self.opens("run.batchlight")

    def test_install_under_a_path_that_ld_preload_cannot_hold(self):
        prefix = self.path("a folder: with spaces")
        for part in ("bin/batchlight", "lib/libbatchlight_inject.so"):
            os.makedirs(os.path.dirname(os.path.join(prefix, part)))
            shutil.copy(os.path.join(BUILD, part), os.path.join(prefix, part))
        environment = dict(self.environment, XDG_CACHE_HOME=self.path("cache"))
        own = self.path("cache")
        if os.geteuid() == 0:
            own = "/run/batchlight" if os.access("/run", os.W_OK) else "/tmp/batchlight-links-0"
            if not os.path.exists(own):
                self.addCleanup(lambda: os.path.isdir(own) and os.rmdir(own))
        elif not os.stat("/tmp").st_mode & stat.S_ISVTX and self.folder.startswith("/tmp"):
            self.skipTest("nowhere to link where all may write /tmp")
        done = run(os.path.join(prefix, "bin/batchlight"), "profile", "-t", "none",
                   "--pytorch=autograd-nvtx", FAULT_PROGRAM, "exit", 0, cwd=self.folder, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(count(self.opens(), "OpEnd"), 10)
        links = set()
        for _ in range(2):
            done = run(os.path.join(prefix, "bin/batchlight"), "profile", "-f", "-o", "names", "--stats=false", "-t", "none",
                       "sh", "-c", "echo $LD_PRELOAD", cwd=self.folder, env=environment)
            links.add(done.stdout.strip())
        link, = links
        if os.geteuid() == 0:
            self.addCleanup(shutil.rmtree, os.path.dirname(link))
        self.assertTrue(link.startswith(own + "/"), link)
        # A job that was queued with this environment names it later: nobody else shall come to make it.
        self.assertEqual(os.readlink(link), os.path.realpath(os.path.join(prefix, "lib/libbatchlight_inject.so")))


class NamesOfRecordings(InFolder):
    def test_default_and_expansions(self):
        self.profile("true")
        self.profile("true")
        self.profile("-o", "%q{RUN_NAME}-%h-%%", "true", env=dict(self.environment, RUN_NAME="a b"))
        done = self.profile("-o", "pid-%p", "sh", "-c", "echo $$")
        self.assertEqual(self.files(), sorted([
            "report1.batchlight", "report2.batchlight",
            "a b-%s-%%.batchlight" % socket.gethostname(),
            "pid-%s.batchlight" % done.stdout.strip()]))
        self.assertEqual(self.profile("-o", "%q{NOT_SET_ANYWHERE}", "true").returncode, 2)

    def test_two_tools_do_not_share_a_name(self):
        tools = [subprocess.Popen([BATCHLIGHT, "profile", "true"], cwd=self.folder,
                                  env=self.environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) for _ in range(6)]
        self.assertEqual([tool.wait(60) for tool in tools], [0] * 6)
        self.assertEqual(len(self.files()), 6)

    def test_command_file(self):
        with open(self.path("flags"), "w") as file:
            file.write("-o 'from file' # name\n--stats=false\n")
        self.assertEqual(self.profile("--command-file", "flags", "true").returncode, 0)
        self.assertIn("from file.batchlight", self.files())


class WhenToCollect(InFolder):
    # On a loaded machine a program may not get as far as its first operator in the shortest of
    # these; then the next one says more.
    SECONDS = (0.2, 1, 5, 20)

    def test_durations_that_no_integer_holds(self):
        for seconds in ("9223372036854775807", "inf"):
            done = self.profile("-f", "-o", "run", "-d", seconds, "-y", "0", "/bin/sh", "-c", "sleep 0.1; exit 3")
            self.assertEqual(done.returncode, 3, seconds)

    def test_duration_ends_the_program(self):
        for seconds in self.SECONDS:
            before = time.monotonic()
            done = self.profile("-f", "-o", "run", "-d", seconds, FAULT_PROGRAM, "paced")
            took = time.monotonic() - before
            self.assertEqual(done.returncode, 128 + signal.SIGTERM)
            self.assertIn("duration", done.stderr)
            self.assertGreater(took, seconds)
            self.assertLess(took, seconds + LONG_S)
            operators = count(self.opens("run.batchlight"), "OpEnd")
            if operators > 20:
                break
        self.assertGreater(operators, 20)
        done = self.profile("-f", "-o", "run", "-d", "0.2", "--kill=sigkill", FAULT_PROGRAM, "paced")
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)

    def test_delay(self):
        for seconds in self.SECONDS:
            done = self.profile("-f", "-o", "run", "-y", seconds, FAULT_PROGRAM, "sleep",
                                int(seconds * 3000))
            self.assertEqual(done.returncode, 0)
            self.assertNotIn("collection never began", done.stderr)
            operators = count(self.opens("run.batchlight"), "OpEnd")
            if operators == 0:
                break
        self.assertEqual(operators, 0)  # all of them came before

    def test_kill_none_leaves_the_program_running(self):
        for seconds in self.SECONDS:
            done = self.profile("-f", "-o", "run", "-d", seconds, "--kill=none", FAULT_PROGRAM,
                                "paced", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0)
            pids = list(self.processes())
            self.assertEqual(len(pids), 1, "it runs on")
            os.kill(pids[0], signal.SIGKILL)
            self.until(lambda: not list(self.processes()), "the program does not end")
            operators = count(self.opens("run.batchlight"), "OpEnd")
            if operators > 20:
                break
        self.assertGreater(operators, 20)

    def test_command_that_is_none(self):
        for words, said in ((["summry", "x"], "unknown command summry; did you mean summary?"),
                            (["python3", "train.py"], "`batchlight profile python3` records")):
            done = self.batchlight(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(said, done.stderr)

    def test_a_pool_ends_its_workers(self):
        with open(self.path("pool.py"), "w") as file:
            file.write("import batchlight, multiprocessing, os, signal, time\n"
                       "def work(i):\n"
                       "    with batchlight.annotate('work'): return i\n"
                       "def fail(i):\n"
                       "    batchlight.mark('last'); os.kill(os.getpid(), signal.SIGKILL)\n"
                       "if __name__ == '__main__':\n"
                       "    with multiprocessing.Pool(2) as pool: pool.map(work, range(8))\n"
                       "    pool.join()\n"
                       "    child = multiprocessing.Process(target=fail, args=(1,))\n"
                       "    child.start(); child.join()\n")
        done = self.batchlight("profile", "-t", "nvtx,python", "--pytorch=none", "/usr/bin/python3", "pool.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("SIGKILL", done.stderr)
        self.assertNotIn("SIGTERM", done.stderr)

    def test_a_shim_is_not_the_program(self):
        with open(self.path("hello.py"), "w") as file:
            file.write("print(1)\n")
        with open(self.path("python"), "w") as file:
            file.write("#!/bin/bash\ncat /nowhere 2>/dev/null\nexec /usr/bin/python3 \"$@\"\n")
        os.chmod(self.path("python"), 0o755)
        done = self.profile("./python", "hello.py")
        head = done.stderr.splitlines()
        self.assertRegex(head[0], r"^batchlight  hello\.py ", done.stderr)
        self.assertTrue(head[0].endswith("exit 0"), head[0])
        self.assertNotIn("processes", head[0])
        self.assertNotIn("! ", done.stderr)

    def test_flags_of_nsys(self):
        done = self.batchlight(
            "profile", "-w", "true", "-t", "cuda,nvtx,osrt,cudnn,cublas,openmp", "-s", "cpu", "-o", "nsight",
            "-f", "true", "--capture-range=cudaProfilerApi", "--stop-on-range-end=true",
            "--cudabacktrace=true", "--cudabacktrace-threshold=10000", "--osrt-threshold=10000",
            "-x", "true", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        without_effect = [line for line in done.stderr.splitlines() if "without effect" in line]
        self.assertEqual(len(without_effect), 1, done.stderr)
        self.assertIn("--trace=openmp", without_effect[0])
        for flag in ("osrt", "--sample", "--cudabacktrace"):
            self.assertNotIn(flag, without_effect[0])
        self.assertEqual(self.files(), ["nsight.batchlight"])
        done = self.profile("--capture-rnage=nvtx", "touch", self.path("ran"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--capture-range", done.stderr)
        self.assertEqual(self.files(), ["nsight.batchlight"])

    def steps(self, name, message="step"):
        return sum(r.kind.startswith("RangePush") and r.fields["message"] == message
                   for r in self.opens(name + ".batchlight"))

    def capture(self, end, *flags, steps=20):
        for name in self.files():
            os.remove(self.path(name))
        return self.batchlight("profile", "-t", "nvtx", "-c", "nvtx", "-p", "step", "-o", "run",
                               "--capture-range-end", end, *flags, FAULT_PROGRAM, "steps", steps)

    WITHOUT_END = 1_000_000  # it is the tool that ends the program

    def test_range_starts_and_stops(self):
        done = self.capture("stop")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([self.steps("run", m) for m in ("step", "inner", "between")], [1, 1, 0])
        done = self.capture("none")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([self.steps("run", m) for m in ("step", "inner", "between")], [20, 20, 20])
        done = self.capture("stop-shutdown", steps=self.WITHOUT_END)
        self.assertEqual(done.returncode, 128 + signal.SIGTERM, done.stderr)
        self.assertEqual(self.steps("run"), 1)

    def test_range_repeats(self):
        done = self.capture("repeat")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.files()), 20)
        self.assertEqual([self.steps("run.%d" % number) for number in (1, 10, 20)], [1, 1, 1])
        self.capture("repeat:3")
        self.assertEqual(self.files(), ["run.%d.batchlight" % number for number in (1, 2, 3)])
        done = self.capture("repeat-shutdown:2", "--kill=sigkill", steps=self.WITHOUT_END)
        self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
        self.assertEqual(self.files(), ["run.1.batchlight", "run.2.batchlight"])

    def test_range_that_never_comes(self):
        done = self.batchlight("profile", "-c", "nvtx", "-p", "no such range", "-o", "run",
                               FAULT_PROGRAM, "steps", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("collection never began", done.stderr)
        self.assertEqual(self.steps("run"), 0)

    def test_export_and_stats(self):
        done = self.batchlight("profile", "-t", "nvtx", "-o", "run", "--stats", "--export=sqlite",
                               FAULT_PROGRAM, "steps", 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["run.batchlight", "run.sqlite"])
        self.assertIn("between", done.stdout)
        done = self.profile("--export=sqlit", "touch", self.path("ran"))
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("ran", self.files())


class InATerminal(InTerminal):
    """Ctrl-C, Ctrl-Z, fg, reading the keyboard."""

    def test_interrupt(self):
        self.type(self.profile_line("sh -c 'echo st\"\"arted; exec sleep 600'"))
        self.expect("started")
        self.type("\x03")
        self.expect("ready> ")
        self.type("echo rc=$?\n")
        self.expect("rc=130")
        self.opens("run.batchlight")

    def test_interrupt_ends_the_script_around_it(self):
        with open(self.path("script.sh"), "w") as file:
            file.write(self.profile_line("sh -c 'echo st\"\"arted; exec sleep 600'") + "echo went on\n")
        self.type("bash script.sh\n")
        self.expect("started")
        self.type("\x03")
        self.assertNotIn("went on", self.expect("ready> "))

    def test_stop_and_continue(self):
        self.type(self.profile_line("sh -c 'echo st\"\"arted; read line; echo got \"$line\"'"))
        self.expect("started")
        self.type("\x1a")
        self.expect("Stopped")
        self.expect("ready> ")
        self.type("jobs\n")
        self.expect("Stopped")
        self.expect("ready> ")
        self.type("fg\n")
        self.expect(BATCHLIGHT)  # the shell says what it continues
        self.type("a line\n")
        self.expect("got a line")
        self.expect("ready> ")
        self.type("echo rc=$?\n")
        self.expect("rc=0")

    def test_reading_in_the_background_stops(self):
        self.type(self.profile_line("sh -c 'read line; echo got \"$line\"'").rstrip() + " &\n")
        self.expect("ready> ")
        self.until(self.is_stopped, "the job does not stop")
        self.type("fg\n")
        self.expect(BATCHLIGHT)
        self.type("text\n")
        self.expect("got text")

    def test_another_of_its_job_reads_the_keyboard(self):
        """`profile train.py | less`, also behind another and beside a helper of a script."""
        reads = "sh -c 'read line < /dev/tty; echo g\"\"ot \"$line\"'"
        with open(self.path("script.sh"), "w") as file:
            file.write("sh -c 'sleep 0.5; read line < /dev/tty; echo g\"\"ot $line' &\n" +
                       self.profile_line("sh -c 'until [ -e end ]; do sleep 0.1; done'") + "wait\n")
        profile = self.profile_line("sh -c 'until [ -e end ]; do sleep 0.1; done'").rstrip()
        for line in (profile + " | " + reads, "echo | " + profile + " | " + reads, "bash script.sh"):
            self.type(line + "\n")
            self.expect("\n")
            self.until(lambda: os.path.isdir(self.path("run.batchlight.live")), "nothing is recorded")
            self.type("text\n")
            self.expect("got text")
            open(self.path("end"), "w").close()
            self.expect("ready> ")
            os.remove(self.path("end"))

    def test_what_the_program_sends_to_its_group_reaches_who_is_in_it(self):
        """And not the shell, which would end by it."""
        line = self.profile_line("sh -c 'trap : USR1; kill -USR1 0; exit 3'").rstrip() + " 2>&1"
        for _ in range(5):
            self.type(line + " | sh -c 'trap \"echo g\"\"ot\" USR1; cat > /dev/null; cat' ; echo al\"\"ive $?\n")
            self.expect("got")
            self.expect("alive 0")
            self.expect("ready> ")

    def test_without_a_witness_the_shell_gets_nothing_either(self):
        """Whom the program's signal is for is not known then."""
        self.type(self.profile_line("sh -c 'pkill -KILL -x signal-witness -P $PPID; sleep 0.3; trap : USR1; "
                                    "kill -USR1 0; exit 3'").rstrip() + " 2>&1 | cat > /dev/null; echo al\"\"ive\n")
        self.expect("alive")
        self.expect("ready> ")
        self.opens("run.batchlight")

    def test_keys_reach_each_of_a_pipe_once(self):
        counts = ("import os, signal, time\n"
                  "for n in (signal.SIGINT, signal.SIGCONT, signal.SIGWINCH):\n"
                  "    signal.signal(n, lambda n, frame: os.write(2, b'<%d>' % n))\n"
                  "os.write(2, b'started')\n"
                  "while not os.path.exists('end'): time.sleep(0.01)\n")
        with open(self.path("counts.py"), "w") as file:
            file.write(counts)
        self.type(self.profile_line("/usr/bin/python3 counts.py").rstrip() + " | /usr/bin/python3 counts.py\n")
        self.expect("started")
        self.expect("started")
        for keys, seen in (("\x03", "<2>"), ("\x1afg\n", "<18>")):
            self.type(keys)
            self.expect(seen)
            self.expect(seen)
            time.sleep(0.5)  # the tool holds a signal for a fifth of it
            self.type("mark\n")
            self.assertNotIn(seen, self.expect("mark"))
        open(self.path("end"), "w").close()
        self.expect("ready> ")
        self.opens("run.batchlight")

    def test_duration_ends_what_a_program_in_a_pipe_started(self):
        self.type("%s profile -t none -f -o run -d 0.5 --kill=sigkill "
                  "sh -c 'sleep 600 & sleep 600; true' | cat; echo en\"\"ded\n" % BATCHLIGHT)
        self.expect("ended")

    def test_another_of_its_job_reading_in_the_background_stops_all(self):
        """The kernel tells the job's group, the program's with it."""
        self.type(self.profile_line("sh -c 'echo $$ > pid; exec sleep 600'").rstrip() +
                  " | sh -c 'sleep 1; read line < /dev/tty; echo got \"$line\"' &\n")
        self.expect("ready> ")
        self.until(self.is_stopped, "the job does not stop")
        program = self.text("pid").strip()
        self.until(lambda: ") T " in self.text("/proc/%s/stat" % program), "the program runs on")
        self.type("fg\n")
        self.expect(BATCHLIGHT)
        self.type("text\n")
        self.expect("got text")
        self.until(lambda: ") S " in self.text("/proc/%s/stat" % program), "the program does not go on")


if __name__ == "__main__":
    unittest.main()
