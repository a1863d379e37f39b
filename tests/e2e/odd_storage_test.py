"""Recording onto storage that fails in ways of its own: a quota, and a file system whose server stops
answering or dies. The program lives, and the tool says what became of the recording."""
import fcntl
import glob
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from quota_folder import quota_folder  # noqa: E402
from recorded import (BATCHLIGHT, FAULT_PROGRAM, LONG_S, SOURCE, InFolder, count, dump,  # noqa: E402
                      run)

HERE = os.path.dirname(os.path.abspath(__file__))
DEBIAN_PYTHON = "/usr/bin/python3"  # has fusepy
WARM_UP = 10
COUNT = 20_000


def has_fuse():
    return os.path.exists("/dev/fuse") and os.geteuid() == 0 and run(
        DEBIAN_PYTHON, "-c", "import fusepy").returncode == 0


class AQuota(InFolder):
    """A real one, of btrfs: the disk has room, this folder has none."""

    def test_recording_stops_at_it_and_the_program_goes_on(self):
        quota_folder(self, self.folder, 3)
        run_name = "disk/own/run"
        done = self.batchlight("profile", "-t", "none", "--pytorch=autograd-nvtx", "-o", run_name,
                               "sh", "-c", FAULT_PROGRAM + " operators 300000; exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("has no room left (Disk quota exceeded)", " ".join(done.stderr.split()))
        left = [name for name in os.listdir(self.path("disk/own")) if name.startswith("run.batchlight")]
        self.assertEqual(len(left), 1, left)
        # Sealed where there was room for that, else as it was left, which the tool says.
        self.assertTrue(left[0] == "run.batchlight" or "what was recorded is kept" in done.stderr)
        self.assertGreater(count(dump(self.path("disk/own/" + left[0])), "OpEnd"), 10_000)


@unittest.skipUnless(os.geteuid() == 0, "only root can mount a disk")
class NobodySaysWhatIsLeft(InFolder):
    """Recording goes on until the disk refuses, as a quota does: room for sealing is kept nonetheless."""

    def mounted(self, kind):
        disk = self.path(kind)
        os.mkdir(disk)
        if kind == "tmpfs":
            done = run("mount", "-t", "tmpfs", "-o", "size=6m", "none", disk)
        else:
            image = self.path(kind + ".image")
            with open(image, "wb") as file:
                file.truncate(12 << 20)
            run("mkfs." + kind, "-q", image)
            done = run("mount", "-o", "loop", image, disk)
        if done.returncode == 0:
            self.addCleanup(run, "umount", "-l", disk)
        return done.returncode == 0

    def test_a_full_disk_holds_a_sealed_recording(self):
        for kind in ("tmpfs", "ext4"):
            with self.subTest(kind):
                if not self.mounted(kind):
                    continue
                done = self.batchlight("profile", "--keep-free=0", "-t", "none",
                                       "--pytorch=autograd-nvtx", "-o", kind + "/run", "sh", "-c",
                                       FAULT_PROGRAM + " operators 1000000; exit 7")
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertIn("has no room left", " ".join(done.stderr.split()))
                names = [name for name in os.listdir(self.path(kind)) if name != "lost+found"]
                self.assertEqual(names, ["run.batchlight"], done.stderr)
                self.assertGreater(count(dump(self.path(kind + "/run.batchlight")), "OpEnd"), 50_000)


@unittest.skipUnless(os.geteuid() == 0, "only root can mount a disk")
class ADiskWithFewFiles(InFolder):
    """Each recorded process takes one; what is left is the program's."""
    SCRIPT = ("import os, subprocess, sys\n"
              "for i in range(int(sys.argv[1])): subprocess.run(['true'])\n"
              "for i in range(150): open('own%d' % i, 'w').close()\n")

    def recorded(self, processes, *flags):
        image = self.path("ext4.image")
        with open(image, "wb") as file:
            file.truncate(100 << 20)
        os.mkdir(self.path("disk"))
        run("mkfs.ext4", "-q", "-N", "512", image)
        if run("mount", "-o", "loop", image, self.path("disk")).returncode != 0:
            self.skipTest("no disk can be mounted here")
        self.addCleanup(run, "umount", "-l", self.path("disk"))
        return self.batchlight("profile", "-t", "none", "-o", "run", *flags, DEBIAN_PYTHON, "-c",
                               self.SCRIPT, processes, cwd=self.path("disk"))

    def test_the_program_finds_files_to_make(self):
        done = self.recorded(700)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(" ".join(done.stderr.split()),
                         r"4\d\d processes are not recorded, or not from the start: each takes a file, and 2\d\d files stay free")
        records = dump(self.path("disk/run.batchlight"))
        self.assertGreater(count(records, "ProcessStart"), 200)
        own = [name for name in os.listdir(self.path("disk")) if name.startswith("own")]
        self.assertEqual(len(own), 150)

    def test_as_many_stay_free_as_were_asked_for(self):
        done = self.recorded(300, "--keep-free=60%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(" ".join(done.stderr.split()), r"and 3\d\d files stay free")

    def test_more_than_are_free(self):
        done = self.recorded(1, "--keep-free=99%")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("--keep-free asks for", done.stderr)
        self.assertNotIn("own0", os.listdir(self.path("disk")))

    def test_none_is_kept_where_nothing_is(self):
        done = self.recorded(300, "--keep-free=0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(count(dump(self.path("disk/run.batchlight")), "ProcessStart"), 301)


class Served(InFolder):
    """With a file system of FUSE at `disk`."""
    WORDS = ()

    def setUp(self):
        super().setUp()
        self.disk = self.path("disk")
        os.mkdir(self.disk)
        os.mkdir(self.path("behind"))
        self.server = subprocess.Popen(
            [DEBIAN_PYTHON, os.path.join(HERE, "folder_server.py"), self.path("behind"), self.disk,
             *self.WORDS])
        self.addCleanup(self.end)
        self.until(lambda: os.path.ismount(self.disk), "the file system is not mounted")
        self.device = os.stat(self.disk).st_dev

    def hold(self):
        """The server has stopped for certain, and between two requests: what it has taken up nobody can take back but
        it, and who waits for that cannot even be killed."""
        tasks = "/proc/%d/task" % self.server.pid
        for _ in range(100):
            self.server.send_signal(signal.SIGSTOP)
            self.until(lambda: all(") T " in self.text(os.path.join(tasks, task, "stat")) for task in os.listdir(tasks)),
                       "the server does not stop")
            if self.in_flight() == 0:
                return
            self.server.send_signal(signal.SIGCONT)
            time.sleep(0.05)
        self.fail("requests come all the time")

    def in_flight(self):
        """Requests that have no answer yet; 0 where the kernel does not say."""
        connections = "/sys/fs/fuse/connections"
        try:
            if not os.listdir(connections):
                run("mount", "-t", "fusectl", "none", connections)
            return int(self.text(os.path.join(connections, str(os.minor(self.device)), "waiting")))
        except (OSError, ValueError):
            return 0

    def end(self):
        self.server.kill()
        self.server.wait(LONG_S)
        run("umount", "-l", self.disk)


@unittest.skipUnless(has_fuse(), "only root with FUSE and fusepy can serve a file system")
class AServedFileSystem(Served):
    """Whose server this test holds or ends."""

    def words(self):
        try:
            with open(self.path("words"), "rb") as file:
                return struct.unpack("<QQ", file.read(16))
        except (OSError, struct.error):
            return 0, 0

    def recording(self):
        tool = self.begin("profile", "-t", "none", "--pytorch=autograd-nvtx", "-o", "disk/run",
                          FAULT_PROGRAM, "beside", COUNT, self.path("words"),
                          stderr=subprocess.PIPE)
        self.until(lambda: self.words()[0] > 1000, "the program does not record")
        return tool

    def test_one_that_cannot_link_gets_whole_files(self):
        done = self.batchlight("profile", "-t", "none", "--pytorch=autograd-nvtx", "-o", "disk/run",
                               FAULT_PROGRAM, "operators", "100")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.path("behind")), ["run.batchlight"])
        self.assertEqual(count(dump(self.path("behind/run.batchlight")), "OpEnd"), WARM_UP + 100)

    def test_a_program_that_cannot_be_started_leaves_nothing(self):
        with open(self.path("bad"), "w") as file:
            file.write("#!/nobody/has/this\n")
        os.chmod(self.path("bad"), 0o755)
        done = self.batchlight("profile", "-t", "none", "-o", "disk/run", "./bad")
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertEqual(os.listdir(self.path("behind")), [])

    def test_a_server_that_stops_answering_for_a_while(self):
        tool = self.recording()
        self.hold()
        turns = self.words()[1]
        # What records waits, what records nothing does not.
        self.until(lambda: self.words()[1] > turns + 200, "the other thread waits too")
        reader = subprocess.Popen([BATCHLIGHT, "summary", self.path("disk/run.batchlight.live")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        reader.terminate()  # a reader that waits can be ended
        self.assertEqual(reader.wait(LONG_S), -signal.SIGTERM)
        self.server.send_signal(signal.SIGCONT)
        _, error = tool.communicate(timeout=LONG_S)
        self.assertEqual(tool.returncode, 0, error)
        self.assertEqual(count(dump(self.path("behind/run.batchlight")), "OpEnd"), WARM_UP + COUNT)

    def test_where_a_job_is_watched_a_server_that_stops_answering_holds_up_nobody(self):
        tool = self.begin("profile", "-t", "nvtx", "--monitor", "disk/watch", "--metrics-file",
                          "disk/job.prom", "-o", "run", FAULT_PROGRAM, "beside", COUNT,
                          self.path("words"), stderr=subprocess.PIPE)
        self.until(lambda: os.path.exists(self.path("behind/job.prom")), "nothing is watched")
        self.hold()
        # Sealed, while who watches waits; a process of its own ends when the kernel lets it.
        self.until(lambda: os.path.exists(self.path("run.batchlight")), "the tool waits too")
        self.server.send_signal(signal.SIGCONT)
        _, error = tool.communicate(timeout=LONG_S)
        self.assertEqual(tool.returncode, 0, error)
        self.assertIn("what watches the job was left waiting", error)

    def test_signals_reach_a_program_whose_recording_is_silent(self):
        script = ("import os, signal, sys, time\n"
                  "def end(number, frame): open(sys.argv[1], 'w').close(); os._exit(0)\n"
                  "signal.signal(signal.SIGTERM, end)\n"
                  "open(sys.argv[1] + '.ready', 'w').close()\n"
                  "while True: time.sleep(0.05)\n")
        tool = self.begin("profile", "-t", "nvtx", "--pytorch=none", "-o", "disk/run",
                          DEBIAN_PYTHON, "-c", script, self.path("got"), stderr=subprocess.PIPE)
        self.until(lambda: os.path.exists(self.path("got.ready")), "the program does not run")
        time.sleep(1)
        self.hold()
        time.sleep(1)  # the tool writes its next look, and waits
        tool.send_signal(signal.SIGTERM)
        self.until(lambda: os.path.exists(self.path("got")), "the program was not told to end")
        self.server.send_signal(signal.SIGCONT)
        _, error = tool.communicate(timeout=LONG_S)
        self.assertEqual(tool.returncode, 0, error)
        self.assertTrue(os.path.exists(self.path("behind/run.batchlight")), error)

    def with_ended_program(self, **options):
        """A tool whose program, which maps no file there, has ended with 7 when the server was held."""
        ran, go = self.path("ran"), self.path("go")
        script = "echo > %s; while ! test -e %s; do sleep 0.1; done; exit 7" % (ran, go)
        with open(self.path("said"), "w") as said:
            tool = self.begin("profile", "-f", "-t", "none", "--pytorch=none", "-o", "disk/run", "env", "-u",
                              "LD_PRELOAD", "sh", "-c", script, stderr=said, **options)
        self.until(lambda: os.path.exists(ran), "the program does not run")
        time.sleep(1)
        self.hold()
        open(go, "w").close()
        self.addCleanup(self.server.send_signal, signal.SIGCONT)
        return tool

    def expect_end(self, tool, exit_code, ask):
        for asked in range(30):  # on a busy machine two may become one
            time.sleep(2)  # the tool waits for the server, and so long that it is held up
            if tool.poll() is not None:
                break
            ask()
        self.assertGreaterEqual(asked, 2)
        tool.wait(LONG_S)
        self.server.send_signal(signal.SIGCONT)
        error = self.text("said")
        self.assertEqual(tool.returncode, exit_code, error)
        self.assertIn("what was recorded stays in disk/run.batchlight.live", error)

    def test_who_asks_twice_ends_a_tool_that_cannot_seal(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            tool = self.with_ended_program()
            self.expect_end(tool, 7, lambda: tool.send_signal(number))
            # What holds its files yet ends as well.
            self.until(lambda: "made disk/run.batchlight" in self.batchlight("clean", "disk").stdout,
                       "no recording can be made of it")
            for name in ("behind/run.batchlight", "ran", "go"):
                os.remove(self.path(name))

    def test_a_recorded_program_that_cannot_end_holds_up_nobody(self):
        script = "import sys, time; open(sys.argv[1], 'w'); time.sleep(1000)"
        with open(self.path("said"), "w") as said:
            tool = self.begin("profile", "-t", "nvtx", "--pytorch=none", "-o", "disk/run", DEBIAN_PYTHON, "-c", script,
                              self.path("ran"), stderr=said)
        self.until(lambda: os.path.exists(self.path("ran")), "the program does not run")
        time.sleep(1)
        self.hold()
        # The first ends the program, but for what the kernel writes for it.
        self.expect_end(tool, 128 + signal.SIGTERM, lambda: tool.send_signal(signal.SIGTERM))

    def test_the_last_words_of_a_program_do_not_wait(self):
        script = ("import ctypes, os, sys, time\n"
                  "libc = ctypes.CDLL(None)\n"
                  "libc.fdopen.restype = ctypes.c_void_p\n"
                  # In a buffer until the C library ends.
                  "libc.fputs(b'last words', ctypes.c_void_p(libc.fdopen(os.dup(1), b'w')))\n"
                  "open(sys.argv[1], 'w').close()\n"
                  "while not os.path.exists(sys.argv[2]): time.sleep(0.1)\n"
                  "sys.exit(7)\n")
        with open(self.path("said"), "w") as said:
            tool = self.begin("profile", "-t", "nvtx", "--pytorch=none", "-o", "disk/run", DEBIAN_PYTHON, "-c", script,
                              self.path("ran"), self.path("go"), stdout=said, stderr=subprocess.PIPE)
        self.until(lambda: os.path.exists(self.path("ran")), "the program does not run")
        time.sleep(1)
        self.hold()
        self.addCleanup(self.server.send_signal, signal.SIGCONT)
        open(self.path("go"), "w").close()
        self.until(lambda: self.text("said") == "last words", "it waits for the server")
        self.server.send_signal(signal.SIGCONT)
        _, error = tool.communicate(timeout=LONG_S)
        self.assertEqual(tool.returncode, 7, error)

    def test_keys_end_a_tool_that_cannot_seal(self):
        main, other = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(other, termios.TIOCSCTTY, 0)

        tool = self.with_ended_program(stdin=other, pass_fds=(other,), preexec_fn=take_terminal)
        self.expect_end(tool, 7, lambda: os.write(main, b"\x03"))
        for fd in (main, other):
            os.close(fd)

    def test_a_timeline_whose_recording_is_silent_can_be_ended(self):
        shutil.copy(os.path.join(SOURCE, "tests", "recordings", "h200_two_ranks.batchlight"),
                    self.path("behind/run.batchlight"))
        browser = pathlib.Path(self.path("xdg-open"))
        browser.write_text("#!/bin/sh\n")
        browser.chmod(0o755)
        self.environment.update(DISPLAY=":9", PATH="%s:%s" % (self.folder, os.environ["PATH"]))
        tool = self.begin("view", "disk/run.batchlight", stdout=subprocess.PIPE)
        address = re.match(r"http://(127.0.0.1):(\d+)/#token=(\w+)", tool.stdout.readline())

        def ask():
            peer = socket.create_connection((address[1], int(address[2])), timeout=LONG_S)
            self.addCleanup(peer.close)
            peer.sendall(b"POST /api/1/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
                         % address[3].encode())
            return peer

        self.until(lambda: b'"ready":true' in ask().recv(4096), "it is not read")
        time.sleep(1.5)  # what the kernel knows of the file gets old
        self.hold()
        for _ in range(4):
            ask()
        time.sleep(0.5)
        page = glob.glob(os.path.join(self.runtime, "batchlight-*.html"))
        self.assertEqual(len(page), 1)
        tool.send_signal(signal.SIGINT)
        self.assertEqual(tool.wait(LONG_S), 0)
        self.assertFalse(os.path.exists(page[0]))  # it holds the token

    def test_a_server_that_dies(self):
        tool = self.recording()
        self.server.kill()
        turns = self.words()[1]
        self.until(lambda: self.words()[1] > turns + 200, "the program died")
        _, error = tool.communicate(timeout=2 * LONG_S)
        self.assertEqual(tool.returncode, 4, error)  # the program itself ends with 0
        self.assertIn("cannot read disk/run.batchlight.live: Transport endpoint is not connected",
                      error)
        reader = self.batchlight("summary", "disk/run.batchlight", timeout=LONG_S)
        self.assertEqual(reader.returncode, 3)
        self.assertIn("Transport endpoint is not connected", reader.stderr)
        # What the server had got is a recording.
        self.assertEqual(
            run(BATCHLIGHT, "summary", self.path("behind/run.batchlight.live")).returncode, 0)


@unittest.skipUnless(has_fuse(), "only root with FUSE and fusepy can serve a file system")
class AFileSystemThatDoesNotAnswerBeforeTheProgram(Served):
    """Alone the program would run, or be ended by what its starter sends."""

    def setUp(self):
        super().setUp()
        with open(self.path("program"), "w") as file:
            file.write("#!/bin/sh\necho $$ > ran\n")
        os.chmod(self.path("program"), 0o755)

    def held(self, *flags, **options):
        """The tool, once the server has stopped and the tool waits for it."""
        self.hold()
        tool = self.begin("profile", "-t", "none", *flags, "./program", **options)
        self.until(lambda: self.children(tool.pid), "the tool makes no process")
        time.sleep(0.3)  # and comes to the file system
        return tool

    def children(self, pid):
        try:
            return self.text("/proc/%d/task/%d/children" % (pid, pid)).split()
        except OSError:
            return []

    def expect_end(self, tool, number):
        children = self.children(tool.pid)
        tool.send_signal(number)
        self.assertEqual(tool.wait(LONG_S), -number)
        self.until(lambda: not any(os.path.isdir("/proc/" + child) for child in children),
                   "a process is left")
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_what_asks_to_end_ends_the_tool(self):
        for flags in (("-o", "disk/run"), ("-o", "run", "--monitor", "disk/watch"),
                      ("-o", "run", "--monitor", "watch", "--metrics-file", "disk/job.prom")):
            self.expect_end(self.held(*flags, "-f"), signal.SIGTERM)
        for number in (signal.SIGINT, signal.SIGHUP):
            self.expect_end(self.held("-o", "disk/run"), number)
        self.server.send_signal(signal.SIGCONT)
        self.assertEqual(os.listdir(self.path("behind")), [])

    def test_a_key_ends_the_tool(self):
        main, other = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(other, termios.TIOCSCTTY, 0)

        tool = self.held("-o", "run", "--monitor", "disk/watch", stdin=other, pass_fds=(other,),
                         preexec_fn=take_terminal)
        os.write(main, b"\x03")
        self.assertEqual(tool.wait(LONG_S), -signal.SIGINT)
        for fd in (main, other):
            os.close(fd)

    def test_nothing_is_left_where_it_answers_in_time(self):
        tool = self.held("-o", "disk/run", "--monitor", "disk/watch")
        tool.send_signal(signal.SIGTERM)
        self.server.send_signal(signal.SIGCONT)
        self.assertEqual(tool.wait(LONG_S), -signal.SIGTERM)
        self.assertNotIn("run.batchlight.live", os.listdir(self.path("behind")))
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_what_the_starter_ignores_ends_nothing(self):
        ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        tool = self.held("-o", "disk/run", preexec_fn=ignore)
        tool.send_signal(signal.SIGHUP)
        time.sleep(2.5)
        self.server.send_signal(signal.SIGCONT)
        self.assertEqual(tool.wait(LONG_S), 0)
        self.assertTrue(os.path.exists(self.path("ran")))

    def test_a_program_that_is_being_executed(self):
        shutil.copy("/bin/sh", self.path("behind/sh"))
        with open(self.path("program"), "w") as file:
            file.write("#!%s/sh\necho $$ > ran\n" % self.disk)
        tool = self.held("-o", "run")
        tool.send_signal(signal.SIGTERM)
        self.assertEqual(tool.wait(LONG_S), 128 + signal.SIGTERM)
        self.assertFalse(os.path.exists(self.path("ran")))


@unittest.skipUnless(has_fuse(), "only root with FUSE and fusepy can serve a file system")
class AFileSystemThatIsFullInTheEnd(Served):
    """It takes all that is written, and says that there was no room when the file is closed."""
    WORDS = ("full",)

    def test_no_half_file_has_the_name(self):
        recording = os.path.join(SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")
        for words in (("export", "-t", "jsonlines"), ("export", "-t", "sqlite"),
                      ("export", "-t", "csv"), ("report",), ("ranks", "--tables"),
                      ("ranks", "--html")):
            name = "disk/" + words[-1].strip("-")
            flags = () if words[-1].startswith("--") else ("-o",)
            done = self.batchlight(*words, *flags, name, recording)
            self.assertEqual(done.returncode, 4, (words, done.stderr))
            self.assertIn("Disk quota exceeded", done.stderr, words)
            self.assertEqual(os.listdir(self.path("behind")), [], words)


@unittest.skipUnless(has_fuse(), "only root with FUSE and fusepy can serve a file system")
class AFileSystemWithoutModes(Served):
    """Everybody may do everything there."""
    WORDS = ("open",)

    def test_no_program_runs_where_others_could_change_it(self):
        done = self.batchlight("profile", "-t", "nvtx", "-o", "disk/run", "touch", "ran")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("its file system does not keep it from other users", done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertEqual(os.listdir(self.path("behind")), [])


if __name__ == "__main__":
    unittest.main()
