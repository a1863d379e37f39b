"""What the program inherits ends when the program lets go of it, not when the tool ends."""
import os
import select
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, LONG_S, InFolder  # noqa: E402

PROFILE = ("profile", "--pytorch=none", "-f", "-o", "run")


class WhatTheProgramInherits(InFolder):
    def start(self, script, *words, **streams):
        return self.begin(*PROFILE, *words, "sh", "-c", script, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, **streams)

    def all_of(self, fd):
        """What comes until nobody can write any more; None: somebody could for long."""
        text = b""
        while select.select([fd], [], [], LONG_S)[0]:
            piece = os.read(fd, 4096)
            if not piece:
                return text
            text += piece
        return None

    def end(self, tool, code):
        tool.stdin.close()
        self.assertEqual(tool.wait(LONG_S), code)

    def test_its_output_ends_when_it_closes_it(self):
        """A parent that reads the answer to its end, and then says to go on."""
        tool = self.start("echo answer; exec 1>&-; read go; exit 7", stdout=subprocess.PIPE)
        self.assertEqual(self.all_of(tool.stdout.fileno()), b"answer\n")
        tool.stdin.write("go\n")
        self.end(tool, 7)
        tool.stdout.close()

    def test_another_descriptor_ends_when_it_closes_it(self):
        """A service that tells its starter on a descriptor that it is ready."""
        reads, writes = os.pipe()
        tool = self.start("echo ready >&%d; exec %d>&-; read go" % (writes, writes), pass_fds=[writes])
        os.close(writes)
        self.assertEqual(self.all_of(reads), b"ready\n")
        os.close(reads)
        self.end(tool, 1)

    def test_its_input_breaks_when_it_closes_it(self):
        reads, writes = os.pipe()
        tool = self.begin(*PROFILE, "sh", "-c", "exec 0<&-; echo closed; exec sleep 1000", stdin=reads,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        os.close(reads)
        self.assertEqual(os.read(tool.stdout.fileno(), 100), b"closed\n")
        with self.assertRaises(BrokenPipeError):
            os.write(writes, b"anybody?")
        os.close(writes)
        tool.send_signal(signal.SIGTERM)
        self.assertEqual(tool.wait(LONG_S), 128 + signal.SIGTERM)
        tool.stdout.close()

    def test_standard_ones_that_are_closed_are_closed_in_the_program(self):
        """A daemon's starter closes them. What the tool opened in their place was let go of as one of them."""
        script = 'for i in 0 1 2; do [ -e /proc/$$/fd/$i ] && open=$open$i; done; echo "$open" > seen; exit 5'
        for closed in ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
            with self.subTest(closed=closed):
                words = [BATCHLIGHT, *PROFILE, "sh", "-c", script]
                starter = 'exec "$@" ' + " ".join("%d>&-" % fd for fd in closed)
                done = subprocess.run(["sh", "-c", starter, "sh", *words], cwd=self.folder, env=self.environment,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      timeout=LONG_S)
                self.assertEqual(done.returncode, 5)
                self.assertEqual(self.text("seen").strip(), "".join(str(fd) for fd in (0, 1, 2) if fd not in closed))
                os.remove(self.path("seen"))

    def test_what_the_tool_prints_there_comes_behind_it(self):
        tool = self.start("echo first; cat /dev/null", "-t", "osrt", "--stats=true", stdout=subprocess.PIPE)
        text = self.all_of(tool.stdout.fileno())
        self.assertEqual(text.splitlines()[0], b"first")
        self.assertIn(b"osrt_sum", text)
        self.end(tool, 0)
        tool.stdout.close()

    def test_the_rounds_that_measure_have_it_too(self):
        """Each round, and the recording behind them, reads the input and prints."""
        tool = self.start("cat", "--measure-overhead=1", stdout=subprocess.PIPE)
        tool.stdin.write("text\n")
        tool.stdin.close()
        text = self.all_of(tool.stdout.fileno())
        self.assertEqual(tool.wait(LONG_S), 0)
        self.assertIn(b"text\n", text)
        tool.stdout.close()


class ItsStandardError(InFolder):
    """Which the tool has after it, for the summary."""
    FILLS = ("import os\nos.set_blocking(2, False)\n"
             "try:\n  while True: os.write(2, b'x' * 4096)\nexcept BlockingIOError: os._exit(3)\n")

    def test_one_that_it_made_non_blocking_and_filled(self):
        tool = self.begin(*PROFILE, "/usr/bin/python3", "-c", self.FILLS, stderr=subprocess.PIPE)
        self.until(lambda: "run.batchlight" in self.files(), "nothing is sealed")
        text = tool.stderr.read()
        self.assertEqual(tool.wait(LONG_S), 3)
        self.assertIn("batchlight view run.batchlight", text)

    def test_one_that_nobody_reads_does_not_hold_up_the_tool(self):
        """A parent that reads it once we have ended."""
        tool = self.begin(*PROFILE, "/usr/bin/python3", "-c",
                          self.FILLS.replace("os._exit(3)", "os.set_blocking(2, True); os._exit(3)"), stderr=subprocess.PIPE)
        self.assertEqual(tool.wait(LONG_S), 3)
        self.opens("run.batchlight")


if __name__ == "__main__":
    unittest.main()
