"""Signals under batchlight profile: each reaches the program, and once, whoever sends it to whom."""
import contextlib
import os
import select
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, LONG_S, InFolder  # noqa: E402

# The last is what a process's own faults raise.
CAUGHT = sorted(set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGBUS})
COUNTS = """
import os, signal, time
for n in %r: signal.signal(n, lambda n, frame: os.write(1, b'%%d ' %% n))
os.write(1, b'ready ')
while not os.path.exists('end'): time.sleep(0.01)
""" % [int(n) for n in CAUGHT]
STOPS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
HELD_S = 0.5  # the tool holds a signal for a fifth of it


class EachSignalComesOnce(InFolder):
    def start(self, *words):
        with open(self.path("counts.py"), "w") as file:
            file.write(COUNTS)
        self.tool = self.begin("profile", "-t", "none", "--pytorch=none", "-f", "-o", "run", *words,
                               "/usr/bin/python3", "counts.py", stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
        self.assertEqual(self.reads(LONG_S), ["ready"])

    def reads(self, seconds):
        """The words that the program writes until it is quiet for so long."""
        text = b""
        while select.select([self.tool.stdout], [], [], seconds)[0]:
            piece = os.read(self.tool.stdout.fileno(), 4096)
            if not piece:
                break
            text += piece
            seconds = HELD_S
        return text.decode().split()

    def job(self, condition):
        """Of the test's processes in the order of their start."""
        found = []
        for pid in sorted(self.processes()):
            with open("/proc/%d/cmdline" % pid) as line, open("/proc/%d/comm" % pid) as name:
                if condition(line.read().rstrip("\0").replace("\0", " "), name.read().strip()):
                    found.append(pid)
        return found

    def comes_once(self, pids, sent=signal.SIGTERM):
        for pid in pids:
            os.kill(pid, sent)
        self.assertEqual(self.reads(LONG_S), [str(int(sent))], pids)

    def test_who_signals_every_process_of_the_job(self):
        """scancel, systemctl stop, a batch system."""
        self.start()
        for sent in (signal.SIGTERM, signal.SIGCONT, signal.SIGRTMIN):
            self.comes_once(self.job(lambda line, name: True), sent)
            self.comes_once(self.job(lambda line, name: True)[::-1], sent)

    def test_on_a_machine_where_the_witness_does_not_get_to_run(self):
        """Too many threads, a control group that has used up its processor time."""
        self.start()
        (witness,) = self.job(lambda line, name: name == "signal-witness")
        os.kill(witness, signal.SIGSTOP)
        self.until(lambda: ") T " in self.text("/proc/%d/stat" % witness), "the witness does not stop")
        self.comes_once(self.job(lambda line, name: True))
        os.kill(witness, signal.SIGCONT)
        self.comes_once([self.tool.pid], signal.SIGUSR1)

    def test_who_signals_by_the_command_line(self):
        """pkill -f with what the program's line holds or ends with; with what the tool's begins with."""
        self.start()
        self.assertEqual(len(self.job(lambda line, name: "run" in line or "counts.py" in line)), 1)
        for pattern in (lambda line: "counts.py" in line, lambda line: line.endswith("counts.py"),
                        lambda line: line.endswith("/usr/bin/python3 counts.py"),
                        lambda line: "batchlight profile" in line, lambda line: "batchlight" in line):
            self.comes_once(self.job(lambda line, name: pattern(line)))

    def test_who_signals_by_name(self):
        """killall, pkill."""
        self.start()
        self.comes_once(self.job(lambda line, name: name == "batchlight"))
        self.comes_once(self.job(lambda line, name: name.startswith("python")))

    def test_who_signals_the_tool_or_its_group(self):
        """kill PID, docker stop, timeout."""
        self.start()
        self.comes_once([self.tool.pid])
        self.comes_once([-self.tool.pid])
        self.comes_once([self.tool.pid, -self.tool.pid])
        for pid in self.job(lambda line, name: name == "signal-witness"):
            os.kill(pid, signal.SIGKILL)
        self.comes_once([self.tool.pid])

    def test_signals_that_come_again(self):
        """Each of them, though the first still waits; of those for all in between too."""
        self.start()
        one, everybody = [self.tool.pid], self.job(lambda line, name: True)
        for signalled in ([one] * 6, [one, everybody], [everybody, one]):
            for pids in signalled:
                for pid in pids:
                    os.kill(pid, signal.SIGUSR1)
                time.sleep(0.05)
            self.assertEqual(self.reads(LONG_S), [str(int(signal.SIGUSR1))] * len(signalled))

    def test_what_is_for_the_program_alone(self):
        """A server stops at SIGWINCH; its worker, which it keeps suspended, is not to go on at its SIGCONT."""
        with open(self.path("counts.py"), "w") as file:
            file.write(COUNTS)
        script = "/usr/bin/python3 counts.py & read go; trap 'echo main' WINCH CONT; echo ready; wait; wait; wait"
        self.tool = self.begin("profile", "-t", "none", "-f", "-o", "run", "bash", "-c", script, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        self.assertEqual(self.reads(LONG_S), ["ready"])
        self.tool.stdin.write("go\n")
        self.tool.stdin.flush()
        self.assertEqual(self.reads(LONG_S), ["ready"])
        for sent in (signal.SIGWINCH, signal.SIGCONT):
            self.tool.send_signal(sent)
            self.assertEqual(self.reads(LONG_S), ["main"])

    def test_a_run_that_is_not_recorded(self):
        self.environment["RANK"] = "1"
        self.start("--ranks=0")
        self.comes_once(self.job(lambda line, name: True))
        self.comes_once([self.tool.pid])

    def test_what_the_program_sends_to_its_parent(self):
        """To say that it is ready, or to have the whole run end: whoever started the tool gets it, nobody else."""
        heard = []
        sent = (signal.SIGUSR1, signal.SIGTERM, signal.SIGCONT, signal.SIGRTMIN)
        for number in sent:
            before = signal.signal(number, lambda number, frame: heard.append(number))
            self.addCleanup(signal.signal, number, before)
        self.environment["RANK"] = "1"
        for words in ((), ("--ranks=0",)):
            for how in ("kill -%d $PPID", "(kill -%d $PPID; sleep 0.1)", "sh -c \"kill -%d $PPID; sleep 0.1\" & wait"):
                del heard[:]
                script = "; ".join(how % number for number in sent) + "; exit 7"
                done = self.batchlight("profile", "-t", "none", "-f", "-o", "run", *words, "sh", "-c", script)
                self.assertEqual(done.returncode, 7, (how, done.stderr))
                self.until(lambda: len(heard) >= len(sent), (how, heard))
                self.assertEqual(sorted(heard), sorted(sent), how)

    def test_what_is_left_of_a_job_does_not_end_the_wait_by_signals_to_its_starter(self):
        heard = []
        before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        done = self.batchlight("profile", "-t", "none", "-f", "-o", "run", "sh", "-c",
                               "(sleep 0.5; kill -TERM $PPID; sleep 0.5; touch end)& exit 7")
        self.assertEqual((done.returncode, heard), (7, [signal.SIGTERM]), done.stderr)
        self.assertIn("end", self.files())

    def stopped(self, script, *words, **options):
        """A tool that its starter saw stop, with its program."""
        tool = self.begin("profile", "-t", "none", "-f", "-o", "run", *words, "sh", "-c", script, **options)
        end = time.monotonic() + LONG_S
        status = 0
        while not status and time.monotonic() < end:
            _, status = os.waitpid(tool.pid, os.WUNTRACED | os.WNOHANG)
            time.sleep(0.01)
        self.assertTrue(status and os.WIFSTOPPED(status), "nobody sees the program stop")
        self.assertEqual(os.WSTOPSIG(status), signal.SIGSTOP)
        (program,) = self.job(lambda line, name: name == "sh")
        return tool, program

    def test_a_program_that_stops_itself(self):
        """Until its starter, who waits for that, continues it; or somebody the program, or the whole job."""
        self.environment["RANK"] = "1"
        for words in ((), ("--ranks=0",)):
            for continued in ("tool", "program", "all"):
                tool, program = self.stopped("kill -STOP $$; exit 3", *words)
                self.assertIn(") T ", self.text("/proc/%d/stat" % program))
                pids = {"tool": [tool.pid], "program": [program], "all": self.job(lambda line, name: True)}
                for pid in pids[continued]:
                    with contextlib.suppress(ProcessLookupError):  # the first may continue all, which end
                        os.kill(pid, signal.SIGCONT)
                self.assertEqual(tool.wait(LONG_S), 3, continued)

    def test_a_program_that_stops_again(self):
        tool, program = self.stopped("for i in 1 2 3; do kill -STOP $$; done; exit 3")
        for i in range(2):
            tool.send_signal(signal.SIGCONT)
            self.assertTrue(os.WIFSTOPPED(os.waitpid(tool.pid, os.WUNTRACED)[1]))
        tool.send_signal(signal.SIGCONT)
        self.assertEqual(tool.wait(LONG_S), 3)

    def test_a_stopped_program_that_is_killed(self):
        tool, program = self.stopped("kill -STOP $$")
        os.kill(program, signal.SIGKILL)
        self.assertEqual(tool.wait(LONG_S), 128 + signal.SIGKILL)

    def test_a_job_that_is_suspended(self):
        """scontrol suspend and resume."""
        self.start()
        for order in (1, -1):
            for sent, state in ((signal.SIGSTOP, ") T "), (signal.SIGCONT, ") S ")):
                for pid in self.job(lambda line, name: True)[::order]:
                    os.kill(pid, sent)
                for pid in self.job(lambda line, name: True):
                    self.until(lambda: state in self.text("/proc/%d/stat" % pid), (pid, sent))
            self.assertEqual(self.reads(LONG_S), [str(int(signal.SIGCONT))])
        self.comes_once([self.tool.pid])

    def test_a_stop_that_stops_nobody(self):
        """SIGTSTP where no shell is to continue the job."""
        for words in ((), ("--ranks=0",)):
            self.environment["RANK"] = "1"
            tool = self.begin("profile", "-t", "none", "-f", "-o", "run", *words, "sh", "-c", "kill -TSTP $$; exit 3",
                              start_new_session=True)
            self.assertEqual(tool.wait(LONG_S), 3)

    def test_every_signal_reaches_the_program(self):
        self.start()
        sent = [n for n in CAUGHT if n not in STOPS]  # which take back a SIGCONT before them
        for number in sent:
            self.tool.send_signal(number)
        self.assertEqual(sorted(map(int, self.reads(LONG_S))), sent)
        open(self.path("end"), "w").close()
        self.assertEqual(self.tool.wait(LONG_S), 0)
        self.opens("run.batchlight")

    def test_what_stops_a_process_reaches_one_that_handles_it(self):
        """gunicorn counts its workers up by SIGTTIN, down by SIGTTOU; here nobody orphaned its group."""
        with open(self.path("counts.py"), "w") as file:
            file.write(COUNTS)
        self.environment["RANK"] = "1"
        for words in ((), ("--ranks=0",)):
            self.tool = self.begin("profile", "-t", "none", "-f", "-o", "run", *words, "/usr/bin/python3", "counts.py",
                                   stdout=subprocess.PIPE)
            self.assertEqual(self.reads(LONG_S), ["ready"])
            for sent in STOPS:
                self.comes_once([self.tool.pid], sent)
                self.comes_once(self.job(lambda line, name: True), sent)
            open(self.path("end"), "w").close()
            self.assertEqual(self.tool.wait(LONG_S), 0)
            os.remove(self.path("end"))

    def test_a_signal_that_the_program_does_not_handle_ends_it(self):
        for sent in (signal.SIGALRM, signal.SIGABRT, signal.SIGRTMIN):
            tool = self.begin("profile", "-t", "none", "-f", "-o", "run", "sh", "-c", "echo; exec sleep 600",
                              stdout=subprocess.PIPE)
            self.assertTrue(select.select([tool.stdout], [], [], LONG_S)[0])
            tool.send_signal(sent)
            self.assertEqual(tool.wait(LONG_S), 128 + sent)
            self.assertEqual(list(self.processes()), [])

    def test_a_program_that_is_to_die_with_its_starter(self):
        """PR_SET_PDEATHSIG of the process that becomes the tool."""
        starter = ("import ctypes, os, sys, time\n"
                   "if os.fork() == 0: ctypes.CDLL(None).prctl(1, 9); os.execv(sys.argv[1], sys.argv[1:])\n"
                   "time.sleep(600)")
        self.environment["RANK"] = "1"
        for words in ((), ("--ranks=0",)):
            starts = subprocess.Popen(["/usr/bin/python3", "-c", starter, BATCHLIGHT, "profile", "-t", "none", "-f", "-o", "run",
                                       *words, "sh", "-c", "echo ready; exec sleep 600"], stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, cwd=self.folder, env=self.environment)
            self.assertEqual(starts.stdout.readline(), b"ready\n")
            starts.kill()
            starts.wait()
            self.until(lambda: not list(self.processes()), "the program runs on")
            starts.stdout.close()

    def test_nothing_of_the_tool_outlives_it(self):
        self.start()
        self.tool.kill()
        self.until(lambda: len(list(self.processes())) == 1, "more than the program runs on")
        time.sleep(0.1)
        self.assertEqual(len(self.job(lambda line, name: name.startswith("python"))), 1)


if __name__ == "__main__":
    unittest.main()
