"""profile --run-as at a terminal: keys and signals reach the program, and the program nothing of the
terminal that root comes back to."""
import os
import shutil
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_terminal import InTerminal  # noqa: E402
from intruders_test import USER, cannot_become_user  # noqa: E402

# What it can do with any descriptor that it has, and with the terminal by its name.
ATTACK = r"""
import fcntl, os, sys, termios
out = open(sys.argv[1] + "/found", "w")
try:
    os.close(os.open("/dev/tty", os.O_RDWR))
    print("it has a controlling terminal", file=out)
except OSError:
    pass
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        if not os.isatty(fd):
            continue
    except OSError:
        continue
    for key in "touch /proc/self/cwd/typed\n":
        try:
            fcntl.ioctl(fd, termios.TIOCSTI, key.encode())
            print("it types by", fd, file=out)
        except OSError:
            pass
    try:
        fcntl.ioctl(fd, termios.TIOCSCTTY, 0)
        print("it takes the terminal by", fd, file=out)
    except OSError:
        pass
    if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE != os.O_WRONLY:
        print("it can read by", fd, file=out)
    try:
        os.open("/proc/self/fd/%d" % fd, os.O_RDWR | os.O_NOCTTY)
        print("it can open it to read by", fd, file=out)
    except OSError:
        pass
if os.getsid(0) == os.getsid(os.getppid()):
    print("it is in the session of root's shell", file=out)
print("done", os.isatty(1), os.isatty(2), file=out)
out.close()
"""

# A child that outlives the program and its tool, and reads on.
LEAVES_A_READER = r"""
import os, signal, sys
if os.fork() == 0:
    for number in (signal.SIGHUP, signal.SIGTTIN, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
    stolen = open(sys.argv[1] + "/stolen", "wb", 0)
    print("reader", file=open(sys.argv[1] + "/reads", "w"), flush=True)
    for fd in (0, 1, 2):
        if os.fork() == 0:
            while True:
                try:
                    data = os.read(fd, 300)
                except OSError:
                    break
                if not data:
                    break
                stolen.write(data)
            os._exit(0)
    os._exit(0)
"""


class RunAsInATerminal(InTerminal):
    def setUp(self):
        why = cannot_become_user()
        if why:
            self.skipTest(why)
        super().setUp()
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("theirs"))
        shutil.chown(self.path("theirs"), USER)

    def run_as(self, program, *flags):
        return self.profile_line(program, "--run-as", USER, "-o", "theirs/run", *flags)

    def python(self, text):
        with open(self.path("program.py"), "w") as file:
            file.write(text)
        return "/usr/bin/python3 %s %s" % (self.path("program.py"), self.path("theirs"))

    def returns(self, code):
        self.expect("ready> ")
        self.type("echo rc=$?\n")
        self.expect("rc=%d" % code)
        self.expect("ready> ")

    def test_the_program_gets_nothing_of_the_terminal(self):
        for redirected in ("", " 3<>/dev/tty 9</dev/tty", " < /dev/null", " > /dev/tty"):
            with self.subTest(redirected):
                self.type(self.run_as(self.python(ATTACK)).rstrip() + redirected + "\n")
                self.returns(0)
                self.assertEqual(self.text("theirs/found"), "done True True\n")
                self.assertNotIn("typed", self.files())

    def test_what_it_leaves_reads_nothing_of_what_is_typed_afterwards(self):
        self.type(self.run_as(self.python(LEAVES_A_READER), "--wait=primary"))
        self.returns(0)
        self.until(lambda: self.text("theirs/reads"), "there is no reader")
        for number in range(5):
            self.type("echo pass\"\"word-%d\n" % number)
            self.expect("password-%d" % number)
        time.sleep(0.2)
        self.assertNotIn("word-", self.text("theirs/stolen"))

    def test_interrupt(self):
        self.type(self.run_as("sh -c 'echo st\"\"arted; sleep 600; echo we\"\"nt on'"))
        self.expect("started")
        self.type("\x03")
        self.assertNotIn("went on", self.expect("ready> "))
        self.type("echo rc=$?\n")
        self.expect("rc=130")
        self.opens("theirs/run.batchlight")

    def test_interrupt_ends_the_script_around_it(self):
        with open(self.path("script.sh"), "w") as file:
            file.write(self.run_as("sh -c 'echo st\"\"arted; exec sleep 600'") + "echo went on\n")
        self.type("bash script.sh\n")
        self.expect("started")
        self.type("\x03")
        self.assertNotIn("went on", self.expect("ready> "))

    def test_it_reads_the_keyboard_before_and_after_a_stop(self):
        self.type(self.run_as("sh -c 'echo st\"\"arted; read one; echo \"[$one]\"; read two; echo \"[$two]\"; cat; echo end'"))
        self.expect("started")
        self.type("a line\n")
        self.expect("[a line]")
        self.type("\x1a")
        self.expect("Stopped")
        self.expect("ready> ")
        self.type("fg\n")
        self.expect("--run-as")
        self.type("another\n")
        self.expect("[another]")
        self.type("\x04")
        self.expect("end")
        self.returns(0)

    def test_all_that_it_started_stops_and_goes_on(self):
        self.type(self.run_as("sh -c 'sh -c \"echo \\$\\$ > theirs/pid; echo start\"ed\"; exec sleep 600\"; true'"))
        self.expect("started")
        sleeper = "/proc/%s/stat" % self.text("theirs/pid").strip()
        self.type("\x1a")
        self.expect("Stopped")
        self.expect("ready> ")
        self.until(lambda: ") T " in self.text(sleeper), "it runs on")
        self.type("fg\n")
        self.until(lambda: ") S " in self.text(sleeper), "it does not go on")
        self.type("\x03")
        self.returns(130)

    def test_it_writes_to_the_terminal_by_its_name(self):
        self.type(self.run_as("sh -c 'echo wri\"\"tten; echo al\"\"so >&3'").rstrip() + " > /dev/tty 3<>/dev/tty\n")
        self.expect("written")
        self.expect("also")
        self.returns(0)

    def test_keys_that_are_awaited_do_not_hold_its_end_up(self):
        self.type("stty -icanon min 100 time 255; %s; stty sane; echo fin\"\"ished\n" %
                  self.run_as("sh -c 'echo st\"\"arted; sleep 1'").rstrip())
        self.expect("started")
        began = time.monotonic()
        self.type("x")
        self.expect("finished")
        self.assertLess(time.monotonic() - began, 20)

    def test_who_reads_at_the_end_of_its_pipe_has_the_keyboard(self):
        self.type(self.run_as("sh -c 'cat; until [ -e theirs/end ]; do sleep 0.1; done'").rstrip() +
                  " | sh -c 'echo st\"\"arted; read line < /dev/tty; echo g\"\"ot \"$line\"'\n")
        self.expect("started")
        self.until(lambda: os.path.isdir(self.path("theirs/run.batchlight.live")), "nothing is recorded")
        self.type("text\n")
        self.expect("got text")
        open(self.path("theirs/end"), "w").close()
        self.expect("ready> ")

    def test_in_the_background_it_takes_no_keys(self):
        self.type(self.run_as("sh -c 'read line; echo g\"\"ot \"$line\"'").rstrip() + " &\n")
        self.expect("ready> ")
        self.until(lambda: os.path.isdir(self.path("theirs/run.batchlight.live")), "nothing is recorded")
        self.type("echo shell has it\n")
        self.expect("shell has it\r\n")
        self.type("fg\n")
        self.expect("--run-as")
        self.type("text\n")
        self.expect("got text")
        self.returns(0)

    def test_the_size_of_the_window_is_told(self):
        self.type("stty cols 123\n")
        self.type(self.run_as("/usr/bin/python3 -c 'import os; print(os.get_terminal_size(1).columns)'"))
        self.expect("123\r\n")


if __name__ == "__main__":
    unittest.main()
