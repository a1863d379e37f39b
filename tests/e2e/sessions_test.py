"""Interactive sessions: launch, start, stop, cancel, shutdown, sessions list, from other terminals."""
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BATCHLIGHT, FAULT_PROGRAM, InFolder, count  # noqa: E402


class Sessions(InFolder):
    def launch(self, *words, flags=()):
        tool = subprocess.Popen(
            [BATCHLIGHT, "launch", "-t", "none", "--pytorch=autograd-nvtx"] + list(flags)
            + [str(word) for word in words], cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(tool.communicate)
        self.addCleanup(tool.kill)
        return tool

    def wait_for(self, text):
        end = time.monotonic() + 30
        while text not in self.batchlight("sessions", "list").stdout:
            self.assertLess(time.monotonic(), end, "no session shows " + text)
            time.sleep(0.01)

    def fine(self, *words):
        done = self.batchlight(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_start_and_stop_as_often_as_wanted(self):
        tool = self.launch(FAULT_PROGRAM, "forever")
        self.wait_for("launched")
        for name in ("one", "two"):
            self.fine("start", "-o", name)
            self.wait_for("collecting")
            time.sleep(0.1)
            self.assertIn(name + ".batchlight", self.fine("stop").stdout)
            self.assertGreater(count(self.opens(name + ".batchlight"), "OpEnd"), 100)
        self.fine("start")  # the next free name, in the folder of `start`
        time.sleep(0.05)
        self.fine("cancel")
        self.fine("start", "-o", "last")
        time.sleep(0.05)
        self.fine("shutdown")
        self.assertEqual(self.files(), ["last.batchlight", "one.batchlight", "two.batchlight"])
        self.assertGreater(count(self.opens("last.batchlight"), "OpEnd"), 10)
        self.assertEqual(tool.wait(30), 128 + signal.SIGTERM)
        self.assertEqual(os.listdir(os.path.join(self.runtime, "batchlight")), [])

    def test_each_recording_holds_its_own_window(self):
        self.launch(FAULT_PROGRAM, "forever")
        self.wait_for("launched")
        windows = []
        for name in ("one", "two"):
            self.fine("start", "-o", name)
            time.sleep(0.05)
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
        self.assertEqual(tool.wait(30), 5)
        self.assertEqual(count(self.opens("run.batchlight"), "OpEnd"), 10)

    def test_collection_ends_with_the_program(self):
        tool = self.launch(FAULT_PROGRAM, "sleep", 500)
        self.wait_for("launched")
        self.fine("start", "-o", "run")
        self.assertEqual(tool.wait(30), 0)
        self.opens("run.batchlight")

    def test_several_sessions(self):
        tools = [self.launch(FAULT_PROGRAM, "forever", flags=["--session-new=" + name])
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
        self.assertIn("running already", done.stderr)
        for name in ("a", "b"):
            self.fine("shutdown", "--session=" + name)
        self.assertEqual([tool.wait(30) for tool in tools], [128 + signal.SIGTERM] * 2)
        self.assertEqual(self.files(), ["b.batchlight"])

    def test_what_makes_no_sense_is_said(self):
        for words in (["stop"], ["cancel"], ["shutdown"], ["status"]):
            done = self.batchlight(*words)
            self.assertEqual(done.returncode, 3, words)
            self.assertIn("no session is running", done.stderr)
        self.launch(FAULT_PROGRAM, "forever")
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
        tool = self.launch(FAULT_PROGRAM, "sleep", 300)
        self.wait_for("launched")
        tool.kill()
        tool.wait()
        self.assertNotIn("launched", self.fine("sessions", "list").stdout)
        self.assertEqual(len([name for name in self.files() if name.endswith(".live")]), 1)

    def test_profile_that_starts_later(self):
        tool = subprocess.Popen(
            [BATCHLIGHT, "profile", "-t", "none", "--pytorch=autograd-nvtx", "-Y", "true",
             "--session-new=later", FAULT_PROGRAM, "forever"], cwd=self.folder,
            env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for("launched")
        self.fine("start", "-o", "run")
        time.sleep(0.1)
        self.fine("stop")
        self.fine("shutdown")
        tool.wait(30)
        self.assertEqual(self.files(), ["run.batchlight"])
        self.assertGreater(count(self.opens("run.batchlight"), "OpEnd"), 100)


if __name__ == "__main__":
    unittest.main()
