"""profile --measure-overhead, --after-collection-start, --after-report-ready and --run-as."""
import json
import os
import pwd
import signal
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import (BATCHLIGHT, FAULT_PROGRAM, LONG_S, SHARED_PLACE, InFolder, count,  # noqa: E402
                      mount_namespaces_work, run, run_where_all_write_tmp)

# Steps of 20 ms. What a run costs is known: it is slowed by 100 ms a step where it sees that it is
# recorded with CUDA.
STEPS = """
import os, sys, time
import batchlight
slow = 0.1 if "CUDA_INJECTION64_PATH" in os.environ else 0
for i in range(10):
    with batchlight.annotate("step"):
        time.sleep(0.02 + slow)
print("done", "libbatchlight_inject" in os.environ.get("LD_PRELOAD", ""), flush=True)
with open("runs", "a") as file:
    file.write("%d%d\\n" % (batchlight.enabled(), slow > 0))
"""


class MeasureOverhead(InFolder):
    def setUp(self):
        super().setUp()
        with open(self.path("train.py"), "w") as file:
            file.write(STEPS)
        package = os.path.join(os.path.dirname(os.path.dirname(BATCHLIGHT)),
                               "share/batchlight/python")
        self.environment["PYTHONPATH"] = package

    def measure(self, *flags, program=("train.py",), status=0):
        done = self.batchlight("profile", "-o", "run", *flags, sys.executable, *program)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def summary(self):
        done = self.batchlight("summary", "--json", "run.batchlight")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_known_cost(self):
        done = self.measure("--measure-overhead=2", "-t", "nvtx,cuda,python", "--pytorch=none")
        with open(self.path("runs")) as file:
            # Each round: steps only, plain, profiled.
            self.assertEqual(file.read().split(), ["10", "00", "11"] * 2)
        self.assertEqual(done.stdout, "done True\n", "the output of the profiled run only")
        self.assertEqual(self.files(), ["run.batchlight", "runs", "train.py"])
        measured = self.summary()["measured_overhead"]
        step = measured["step"]
        self.assertEqual(step["rounds"], 2)
        self.assertGreater(step["plain_ns"], 20e6)
        # 100 ms more a step; on a busy machine both sides take longer.
        self.assertGreater(step["profiled_ns"] - step["plain_ns"], 50e6)
        self.assertAlmostEqual(step["ratio"], step["profiled_ns"] / step["plain_ns"], 6)
        self.assertLessEqual(step["lowest_ratio"], step["highest_ratio"])
        self.assertGreater(measured["program"]["profiled_ns"], 1.2e9)
        self.assertGreater(measured["program"]["plain_ns"], 0.2e9)
        self.assertNotIn("problem", measured)
        for words in ("What recording costs, measured", "a step", "whole program", "in 2 rounds"):
            self.assertIn(words, done.stderr)

    def test_without_steps(self):
        done = self.measure("--measure-overhead", program=("-c", "import time; time.sleep(0.1)"))
        measured = self.summary()["measured_overhead"]
        self.assertEqual(measured["program"]["rounds"], 1)
        self.assertNotIn("step", measured)
        self.assertIn("steps are not compared", measured["problem"])
        self.assertIn("One round", done.stderr)

    @unittest.skipUnless(mount_namespaces_work(), "no user namespaces here")
    def test_a_tmp_that_all_write(self):
        for place in ("", "/tmp/mine"):
            done = run_where_all_write_tmp(
                BATCHLIGHT, "profile", "-o", "run", "--measure-overhead", sys.executable, "-c", "print('done')",
                env=dict(self.environment, TMPDIR=place), input="text", stdin=None)
            self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
            self.assertIn("One round", done.stderr)
            said = SHARED_PLACE.findall(done.stderr)
            self.assertEqual(len(said), 1, done.stderr)
            self.assertIn("in %s: /tmp can be written by other users; set TMPDIR" % (place or "/tmp"), said[0])

    def test_a_program_that_fails(self):
        done = self.measure("--measure-overhead=3", program=("-c", "raise SystemExit(3)"), status=3)
        self.assertIn("fails without the profiler, too: exit code 3", done.stderr)
        self.assertIn("exit code 3", self.summary()["measured_overhead"]["problem"])
        done = self.batchlight("profile", "--measure-overhead", "no-such-program")
        self.assertEqual(done.returncode, 127)

    def test_output_is_checked_first(self):
        self.measure(program=("-c", ""))
        done = self.measure("--measure-overhead", status=4)
        self.assertIn("run.batchlight", done.stderr)
        self.assertNotIn("runs", self.files(), "nothing was run in vain")

    def test_input_is_there_for_each_run(self):
        with open(self.path("input"), "w") as file:
            file.write("text")
        with open(self.path("input")) as file:
            done = self.batchlight(
                "profile", "-o", "run", "--measure-overhead", sys.executable, "-c",
                "import sys; text = sys.stdin.read(); print(text); assert text == 'text'",
                stdin=file)
        self.assertEqual((done.returncode, done.stdout), (0, "text\n"), done.stderr)

    READS_TEXT = "import sys; text = sys.stdin.read(); print(len(text)); assert text == 'text' * 50000"

    def test_input_through_a_pipe_is_there_for_each_run(self):
        with subprocess.Popen([sys.executable, "-c", "print('text' * 50000, end='')"],
                              stdout=subprocess.PIPE) as source:
            done = self.batchlight("profile", "-o", "run", "--measure-overhead=2", sys.executable,
                                   "-c", self.READS_TEXT, stdin=source.stdout)
            source.stdout.close()
        self.assertEqual((done.returncode, done.stdout), (0, "200000\n"), done.stderr)
        self.assertNotIn("fails", done.stderr)
        self.assertEqual(self.files(), ["run.batchlight", "train.py"])

    def test_a_silent_pipe_is_left_alone(self):
        read, write = os.pipe()
        try:
            done = self.batchlight("profile", "-o", "run", "--measure-overhead", sys.executable, "-c",
                                   "print('ran')", stdin=read)
        finally:
            os.close(read)
            os.close(write)
        self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)
        self.assertIn("nothing comes through the pipe on standard input", " ".join(done.stderr.split()))

    def test_too_much_input(self):
        with subprocess.Popen(["head", "-c", "1100000000", "/dev/zero"],
                              stdout=subprocess.PIPE) as source:
            done = self.batchlight("profile", "-o", "run", "--measure-overhead", "touch", "ran",
                                   stdin=source.stdout)
            source.stdout.close()
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("more than 1 GiB", done.stderr)
        self.assertEqual(self.files(), ["train.py"])

    def test_a_signal_ends_it_all(self):
        tool = self.begin(
            "profile", "-o", "run", "--measure-overhead=9", sys.executable, "-c",
            "import time; print('x', file=open('started', 'a'), flush=True); time.sleep(600)")
        self.until(lambda: self.text("started"), "the program does not start")
        tool.send_signal(signal.SIGTERM)
        self.assertEqual(tool.wait(LONG_S), 128 + signal.SIGTERM)
        self.assertEqual(self.files(), ["started", "train.py"])
        with open(self.path("started")) as file:
            self.assertEqual(file.read(), "x\n", "no other run")


    def test_what_the_plain_run_leaves_behind_is_not_waited_for_without_end(self):
        tool = self.begin("profile", "-o", "run", "--measure-overhead=9", "--wait=all", "/bin/sh", "-c",
                          "setsid sleep 600 >/dev/null 2>&1 & echo $! > left; sleep 0.2; echo x > started; wait")
        self.until(lambda: self.text("started"), "the program does not start")
        try:
            tool.send_signal(signal.SIGTERM)
            self.assertEqual(tool.wait(LONG_S), 128 + signal.SIGTERM)
        finally:
            os.kill(int(self.text("left")), signal.SIGKILL)


class CommandsAfter(InFolder):
    def test_after_collection_start_and_report_ready(self):
        said = 'echo "$NSYS_CALLBACK_NAME|$NSYS_SESSION_NAME|$NSYS_REPORT_PATH" >> said'
        done = self.profile("-o", "run", "--session-new=mine",
                            "--after-collection-start", said,
                            "--after-report-ready", said + "; test -s run.batchlight || echo none >> said",
                            "sh", "-c", "until [ -s said ]; do sleep 0.02; done; cat said > seen")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.path("run.batchlight")
        with open(self.path("seen")) as file:
            self.assertEqual(file.read(), "after-collection-start|mine|%s\n" % report)
        with open(self.path("said")) as file:
            self.assertEqual(file.read().splitlines()[1:], ["after-report-ready|mine|%s" % report])
        self.assertEqual(done.stdout, "")

    def test_once_for_each_capture(self):
        done = self.batchlight(
            "profile", "-t", "nvtx", "-c", "nvtx", "-p", "step", "--capture-range-end=repeat:3",
            "-o", "run", "--after-collection-start=echo start >> said",
            "--after-report-ready=echo $(basename $NSYS_REPORT_PATH) >> said",
            FAULT_PROGRAM, "steps", 10)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The tool does not wait for the command that runs when collection has begun.
        self.until(lambda: self.text("said").split().count("start") >= 3, "too few have begun")
        said = self.text("said").split()
        self.assertEqual(said.count("start"), 3)
        self.assertEqual(sorted(word for word in said if word != "start"),
                         ["run.%d.batchlight" % i for i in (1, 2, 3)])

    def test_of_a_session(self):
        said = 'echo "$NSYS_CALLBACK_NAME" >> said'
        launched = self.begin("launch", "-t", "none", "--session=of-a-test", "sh", "-c",
                              "until [ -e go ]; do sleep 0.02; done")
        self.until(lambda: "of-a-test" in self.batchlight("sessions", "list").stdout, "no session")
        for name in ("first", "second"):
            done = self.batchlight("start", "--session=of-a-test", "-o", name,
                                   "--after-collection-start", said, "--after-report-ready", said)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.batchlight("stop", "--session=of-a-test").returncode, 0)
        open(self.path("go"), "w").close()
        self.assertEqual(launched.wait(LONG_S), 0)
        self.until(lambda: self.text("said").count("\n") >= 4, "too few commands were run")
        self.assertEqual(sorted(self.text("said").split()),
                         ["after-collection-start"] * 2 + ["after-report-ready"] * 2)

    def test_a_command_that_fails_is_said(self):
        done = self.profile("--after-report-ready=echo to stderr; exit 3", "echo", "program")
        self.assertEqual((done.returncode, done.stdout), (0, "program\n"))
        self.assertIn("to stderr", done.stderr)
        self.assertIn("--after-report-ready ended with exit code 3", done.stderr)


@unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
class RunAs(InFolder):
    def setUp(self):
        super().setUp()
        self.user = pwd.getpwnam("nobody")
        os.chmod(self.folder, 0o755)

    def test_the_program_is_that_user(self):
        script = "id -u; id -g; echo $HOME $USER; touch %s 2>/dev/null || echo denied" % self.path("x")
        done = self.profile("-o", "run", "--run-as", "nobody", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [
            str(self.user.pw_uid), str(self.user.pw_gid), self.user.pw_dir, "nobody", "denied"])
        records = self.opens("run.batchlight")
        self.assertGreater(count(records, "ProcessStart"), 1, "it records")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("run.batchlight")).st_mode) & 0o400, 0o400)
        by_number = self.profile("-o", "number", "--run-as=%d" % self.user.pw_uid, "id", "-un")
        self.assertEqual(by_number.stdout, "nobody\n", by_number.stderr)

    def test_what_the_user_cannot_reach(self):
        os.chmod(self.folder, 0o700)
        done = self.profile("--run-as=nobody", "touch", "/tmp/never")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("nobody cannot reach", done.stderr)
        self.assertEqual(self.files(), [])
        done = self.profile("--run-as=no-such-user", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-such-user", done.stderr)

    def test_what_recording_costs_that_user(self):
        os.mkdir(self.path("theirs"))
        os.chown(self.path("theirs"), self.user.pw_uid, self.user.pw_gid)
        measure = ("--measure-overhead", "--run-as", "nobody", "sh", "-c", "id -u >> theirs/ran")
        done = self.profile("-o", "run", *measure)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("theirs/ran")) as file:
            self.assertEqual(file.read().split(), [str(self.user.pw_uid)] * 3, "steps, plain, profiled")
        summary = json.loads(self.batchlight("summary", "--json", "run.batchlight").stdout)
        self.assertGreater(summary["measured_overhead"]["program"]["plain_ns"], 0)
        os.mkdir(self.path("roots"), 0o700)
        self.environment["TMPDIR"] = self.path("roots")
        done = self.profile("-o", "other", *measure)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("set TMPDIR", done.stderr)
        self.assertEqual(os.listdir(self.path("roots")), [], "it is left as it was")
        self.assertEqual(self.files(), ["roots", "run.batchlight", "theirs"])

    def test_others_may_not(self):
        done = run("setpriv", "--reuid", "nobody", "--clear-groups", BATCHLIGHT, "profile",
                   "--run-as=root", "true", cwd="/")
        if done.returncode == 127 or "Permission denied" in done.stderr:
            self.skipTest("the build cannot be reached by another user")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("only root", done.stderr)


if __name__ == "__main__":
    unittest.main()
