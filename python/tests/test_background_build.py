"""The build beside the program, with shell scripts for a compiler."""
import importlib
import os
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "batchlight",
                      "_bridge")
LONG_S = 60  # a loaded machine may leave a program without a processor for seconds


class BackgroundBuild(unittest.TestCase):
    def setUp(self):
        # A package of these files without the bridge itself, which asks for a profiler.
        package = sys.modules["bridge_files"] = types.ModuleType("bridge_files")
        package.__path__ = [FOLDER]
        sys.modules.pop("bridge_files._background_build", None)
        self.module = importlib.import_module("bridge_files._background_build")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.starts = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def build(self, script, key="compiler 1"):
        """With a compiler that counts its runs and then does what `script` says."""
        commands = [["/bin/sh", "-c", "echo %s >>'%s'; %s" % (standard, self.path("runs"), script)]
                    for standard in ("17", "20")]
        return self.module.Build(self.path("library.so"), commands, key)

    def make(self):
        return "echo code >'%s'" % self.path("library.so.part")

    def wait(self, build):
        build.wait(self.is_built, self.count_start, dict(os.environ))

    def is_built(self):
        return os.path.exists(self.path("library.so"))

    def count_start(self):
        self.starts += 1

    def runs(self):
        with open(self.path("runs")) as file:
            return file.read().split()

    def until(self, holds):
        end = time.monotonic() + LONG_S
        while not holds():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_what_is_built_is_there(self):
        self.wait(self.build(self.make()))
        self.assertEqual(self.runs(), ["17"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["library.so", "lock", "runs"])
        self.assertEqual(os.stat(self.path("library.so")).st_mode & 0o77, 0)
        self.wait(self.build("exit 1"))
        self.assertEqual(self.starts, 1)

    def test_the_second_command_is_tried(self):
        self.wait(self.build("[ $(wc -l <'%s') = 2 ] && %s" % (self.path("runs"), self.make())))
        self.assertEqual(self.runs(), ["17", "20"])

    def test_a_hung_compiler_holds_nobody_up(self):
        self.module.WAIT_S = 0.3
        goes_on = self.path("goes_on")
        build = self.build("until [ -e '%s' ]; do sleep 0.02; done; %s" % (goes_on, self.make()))
        with self.assertRaisesRegex(self.module.NotBuilt, "goes on, for the next run"):
            self.wait(build)
        # A later run does not wait again for what has taken too long already.
        os.utime(self.path("lock"), (1, 1))
        begin = time.monotonic()
        self.module.WAIT_S = LONG_S
        with self.assertRaisesRegex(self.module.NotBuilt, "for a later run"):
            self.wait(build)
        self.assertLess(time.monotonic() - begin, LONG_S / 2)
        self.assertEqual(self.starts, 1)
        open(goes_on, "w").close()
        self.until(self.is_built)
        self.wait(build)
        self.assertEqual(self.runs(), ["17"])

    def test_it_is_waited_for_a_minute(self):
        with unittest.mock.patch.dict(os.environ):
            os.environ.pop("BATCHLIGHT_BUILD_WAIT", None)
            self.assertEqual(importlib.reload(self.module).WAIT_S, 60)
            os.environ["BATCHLIGHT_BUILD_WAIT"] = "2.5"
            self.assertEqual(importlib.reload(self.module).WAIT_S, 2.5)

    def test_a_failure_is_remembered_for_a_while(self):
        build = self.build("echo no header; exit 1")
        with self.assertRaisesRegex(self.module.NotBuilt, "build.log"):
            self.wait(build)
        with open(self.path("build.log")) as file:
            self.assertEqual(file.read(), "compiler 1\nno header\n")
        with self.assertRaises(self.module.NotBuilt):
            self.wait(build)
        self.assertEqual(self.runs(), ["17", "20"])
        self.wait(self.build(self.make(), key="compiler 2"))
        os.unlink(self.path("library.so"))
        past = time.time() - self.module.REMEMBER_S - 1
        os.utime(self.path("build.log"), (past, past))
        self.wait(self.build(self.make()))
        self.assertEqual(self.starts, 3)

    def test_one_of_many_builds(self):
        build = self.build("sleep 0.2; " + self.make())
        threads = [threading.Thread(target=self.wait, args=[build]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG_S)
        self.assertTrue(self.is_built())
        self.assertEqual((self.starts, self.runs()), (1, ["17"]))

    def test_a_build_that_was_killed(self):
        with self.assertRaisesRegex(self.module.NotBuilt, "ended"):
            self.wait(self.build("kill -9 -$(cut -d' ' -f6 /proc/self/stat)"))

    def test_a_file_system_without_locks(self):
        import fcntl
        whole, fcntl.flock = fcntl.flock, self.no_locks
        try:
            self.wait(self.build("sleep 0.1; " + self.make()))
        finally:
            fcntl.flock = whole
        self.assertEqual(self.starts, 1)

    def no_locks(self, *_):
        raise OSError(37, "No locks available")

    def test_paths_are_words(self):
        odd = self.path("it's $(odd)")
        os.mkdir(odd)
        library = os.path.join(odd, "library.so")
        build = self.module.Build(library, [["cp", "/bin/sh", library + ".part"]], "a 'key'")
        build.wait(lambda: os.path.exists(library), self.count_start, dict(os.environ))
        self.assertEqual(sorted(os.listdir(odd)), ["library.so", "lock"])


if __name__ == "__main__":
    unittest.main()
