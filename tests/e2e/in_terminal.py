"""An interactive shell in a terminal of its own, to type at."""
import os
import pty
import select
import time

from recorded import BATCHLIGHT, LONG_S, InFolder


class InTerminal(InFolder):
    def setUp(self):
        super().setUp()
        environment = dict(self.environment, PS1="ready> ", TERM="dumb")
        self.shell, self.terminal = pty.fork()
        if self.shell == 0:
            os.chdir(self.folder)
            os.execve("/bin/bash", ["bash", "--norc", "--noediting", "-i"], environment)
        self.seen = ""
        self.expect("ready> ")

    def tearDown(self):
        self.kill_processes()
        os.waitpid(self.shell, 0)
        os.close(self.terminal)

    def expect(self, text):
        end = time.monotonic() + LONG_S
        while text not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            self.assertTrue(ready, "waiting for %r, seen %r" % (text, self.seen))
            self.seen += os.read(self.terminal, 4096).decode()
        before, self.seen = self.seen.split(text, 1)
        return before

    def type(self, text):
        os.write(self.terminal, text.encode())

    def is_stopped(self):
        self.type("jobs\n")
        return "Stopped" in self.expect("ready> ")

    def profile_line(self, program, *flags):
        return "%s profile -t none -f -o run %s\n" % (BATCHLIGHT, " ".join((*flags, program)))
