"""Interactive sessions: launch, start, stop, cancel, shutdown, sessions list, from other terminals."""
import os
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import (BATCHLIGHT, FAULT_PROGRAM, InFolder, count, dump,  # noqa: E402
                      mount_namespaces_work, run)

LONG_S = 60  # a loaded machine may leave a program without a processor for seconds


class Sessions(InFolder):
    def begin(self, *words):
        """A tool and its program, both gone when the test ends, however it ends."""
        tool = subprocess.Popen(
            [BATCHLIGHT] + [str(word) for word in words], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def end():
            for pid in self.processes():
                os.kill(pid, signal.SIGKILL)
            tool.wait(LONG_S)

        self.addCleanup(end)
        return tool

    def processes(self):
        """The pids of this test's tools and programs, known by their runtime folder."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % pid, "rb") as environ:
                    if os.fsencode("XDG_RUNTIME_DIR=" + self.runtime) in environ.read():
                        yield int(pid)
            except OSError:
                continue  # ended meanwhile, or somebody else's

    def launch(self, *words, flags=()):
        return self.begin("launch", "-t", "none", "--pytorch=autograd-nvtx", *flags, *words)

    def until(self, condition, what):
        end = time.monotonic() + LONG_S
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def wait_for(self, text):
        self.until(lambda: text in self.batchlight("sessions", "list").stdout,
                   "no session shows " + text)

    def fine(self, *words):
        done = self.batchlight(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def operators(self):
        """How many operators the running session has recorded so far, in all collections."""
        (live,) = [name for name in self.files() if name.endswith(".live")]
        return count(dump(self.path(live)), "OpEnd")

    def start(self, name):
        """Starts a collection and returns once it holds an operator."""
        before = self.operators()
        self.fine("start", "-o", name)
        self.until(lambda: self.operators() > before, name + " stays empty")

    def test_start_and_stop_as_often_as_wanted(self):
        tool = self.launch(FAULT_PROGRAM, "paced")
        self.wait_for("launched")
        for name in ("one", "two"):
            self.start(name)
            self.wait_for("collecting")
            self.assertIn(name + ".batchlight", self.fine("stop").stdout)
            self.assertGreater(count(self.opens(name + ".batchlight"), "OpEnd"), 0)
        self.fine("start")  # the next free name, in the folder of `start`
        self.fine("cancel")
        self.start("last")
        self.fine("shutdown")
        self.assertEqual(self.files(), ["last.batchlight", "one.batchlight", "two.batchlight"])
        self.assertGreater(count(self.opens("last.batchlight"), "OpEnd"), 0)
        self.assertEqual(tool.wait(LONG_S), 128 + signal.SIGTERM)
        self.assertEqual(os.listdir(os.path.join(self.runtime, "batchlight")), [])

    def test_each_recording_holds_its_own_window(self):
        self.launch(FAULT_PROGRAM, "paced")
        self.wait_for("launched")
        windows = []
        for name in ("one", "two"):
            self.start(name)
            self.fine("stop")
            records = self.opens(name + ".batchlight")
            (on,) = [r for r in records if r.kind == "CaptureWindow" and r.fields.get("on") == "1"
                     and r.pid == 0]
            windows.append(on.fields.get("capture_index", "0"))
            self.assertEqual(count(records, "ProcessStart") >= 1, True)
        self.assertEqual(windows, ["0", "1"])
        self.fine("shutdown", "--kill", "sigkill")

    def test_start_before_launch(self):
        self.assertIn("launch", self.fine("start", "-o", "run", "--session=early").stderr)
        tool = self.launch(FAULT_PROGRAM, "exit", 5, flags=["--session=early"])
        self.assertEqual(tool.wait(LONG_S), 5)
        self.assertEqual(count(self.opens("run.batchlight"), "OpEnd"), 10)

    def test_collection_ends_with_the_program(self):
        tool = self.launch("sh", "-c", "until [ -e go ]; do sleep 0.02; done")
        self.wait_for("launched")
        self.fine("start", "-o", "run")
        open(self.path("go"), "w").close()
        self.assertEqual(tool.wait(LONG_S), 0)
        self.opens("run.batchlight")

    @unittest.skipUnless(mount_namespaces_work(), "no user namespaces here")
    def test_launch_where_nothing_can_be_written(self):
        """Others can make whatever name they can guess in /tmp, and keep the program from running."""
        os.mkdir(self.path("fixed"))
        done = run("unshare", "-rm", "sh", "-c",
                   "mount --bind fixed fixed && mount -o remount,bind,ro fixed && cd fixed && "
                   "%s launch -t none sh -c 'ls -d /tmp/default-*; exit 3'" % BATCHLIGHT,
                   cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, 3, done.stderr)
        place = re.search("events are collected in (/tmp/default-[a-z]{16}.batchlight.live)\n",
                          done.stderr)
        self.assertIsNotNone(place, done.stderr)
        self.assertIn(place[1], done.stdout)
        self.assertFalse(os.path.exists(place[1]))

    @unittest.skipUnless(os.geteuid() == 0, "makes folders of another user")
    def test_launch_where_another_user_foresaw_its_name(self):
        done = run("sh", "-c",
                   "seq $$ $(($$ + 2000)) | sed 's/.*/default-&.batchlight.live/' | xargs mkdir; chown 65534 default-*;"
                   "%s launch -t none sh -c 'exit 3'" % BATCHLIGHT, cwd=self.folder, env=self.environment)
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_several_sessions(self):
        tools = [self.launch(FAULT_PROGRAM, "paced", flags=["--session-new=" + name])
                 for name in ("a", "b")]
        self.wait_for("a  ")
        self.wait_for("b  ")
        done = self.batchlight("start")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a, b", done.stderr)
        self.fine("start", "--session=b", "-o", "b")
        self.assertIn("launched", self.fine("status", "--session=a").stdout)
        self.assertIn("collecting", self.fine("status", "--session=b").stdout)
        done = self.batchlight("launch", "--session-new=a", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("already running", done.stderr)
        for name in ("a", "b"):
            self.fine("shutdown", "--session=" + name)
        self.assertEqual([tool.wait(LONG_S) for tool in tools], [128 + signal.SIGTERM] * 2)
        self.assertEqual(self.files(), ["b.batchlight"])

    def test_what_is_cancelled_during_its_delay_does_not_begin(self):
        self.begin("profile", "-t", "none", "--session-new=late", "--delay=3", FAULT_PROGRAM, "paced")
        self.wait_for("waiting")
        self.fine("cancel")
        time.sleep(3.5)
        self.assertIn("launched", self.fine("status").stdout)
        self.fine("shutdown")
        self.assertEqual(self.files(), [])

    def test_what_makes_no_sense_is_said(self):
        for words in (["stop"], ["cancel"], ["shutdown"], ["status"]):
            done = self.batchlight(*words)
            self.assertEqual(done.returncode, 3, words)
            self.assertIn("no session is running", done.stderr)
        self.launch(FAULT_PROGRAM, "paced")
        self.wait_for("launched")
        self.assertEqual(self.batchlight("stop").returncode, 2)
        self.fine("start", "-o", "run")
        self.assertEqual(self.batchlight("start").returncode, 2)
        self.fine("cancel")
        with open(self.path("there.batchlight"), "w"):
            pass
        self.assertEqual(self.batchlight("start", "-o", "there").returncode, 4)
        pid = self.fine("status").stdout.split()[2]
        self.fine("shutdown", "--kill=none")
        os.kill(int(pid), signal.SIGKILL)

    def test_a_killed_tool_leaves_no_session(self):
        tool = self.launch(FAULT_PROGRAM, "paced")
        self.wait_for("launched")
        tool.kill()
        tool.wait()
        self.assertNotIn("launched", self.fine("sessions", "list").stdout)
        self.assertEqual(len([name for name in self.files() if name.endswith(".live")]), 1)

    def test_profile_that_starts_later(self):
        tool = self.begin("profile", "-t", "none", "--pytorch=autograd-nvtx", "-Y", "true",
                          "--session-new=later", FAULT_PROGRAM, "paced")
        self.wait_for("launched")
        self.start("run")
        self.fine("stop")
        self.fine("shutdown")
        tool.wait(LONG_S)
        self.assertEqual(self.files(), ["run.batchlight"])
        self.assertGreater(count(self.opens("run.batchlight"), "OpEnd"), 0)


if __name__ == "__main__":
    unittest.main()
