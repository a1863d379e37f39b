"""What other users of the machine try while a program is recorded: with links, pipes and folders
in the place of ours, with files cut short, with code of their own. docs/security.md is the list."""
import os
import shutil
import signal
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import (BATCHLIGHT, BUILD, FAULT_PROGRAM, LONG_S, SOURCE, InFolder,  # noqa: E402
                      count, run)

USER = "nobody"


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


class OthersOfTheGroup(InFolder):
    """The folder may be written by a group, and the umask keeps nothing from it."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o775)
        before = os.umask(0o002)
        self.addCleanup(os.umask, before)

    def test_what_is_recorded_is_the_users_alone(self):
        tool = self.begin("profile", "-t", "none", "--pytorch=autograd-nvtx", "-o", "run",
                          FAULT_PROGRAM, "paced")
        live = self.path("run.batchlight.live")
        self.until(lambda: os.path.isdir(live) and len(os.listdir(live)) == 3, "nothing recorded")
        self.assertEqual(mode_of(live), 0o700)
        for name in os.listdir(live):
            self.assertEqual(mode_of(os.path.join(live, name)), 0o600, name)
        tool.send_signal(signal.SIGTERM)
        tool.wait(60)
        self.assertEqual(mode_of(self.path("run.batchlight")), 0o600)

    def test_sessions_of_a_folder_that_others_write_are_refused(self):
        os.mkdir(os.path.join(self.runtime, "batchlight"), 0o770)
        os.chmod(os.path.join(self.runtime, "batchlight"), 0o770)
        done = self.batchlight("sessions", "list")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("others may write into it", done.stderr)

    def test_sessions_are_not_kept_in_the_folder_of_another_user(self):
        os.chmod(self.runtime, 0o777)  # as good as another's: anybody can exchange what is in it
        self.batchlight("sessions", "list")
        self.assertEqual(os.listdir(self.runtime), [])

    def test_of_two_that_overwrite_one_name_one_is_recorded(self):
        for _ in range(10):
            tools = [self.begin("profile", "-t", "none", "--pytorch=autograd-nvtx", "-f", "-o",
                                "run", FAULT_PROGRAM, "operators", 100, stderr=-1)
                     for _ in range(4)]
            ends = [tool.communicate(timeout=60)[1] for tool in tools]
            fine = 0
            for tool, said in zip(tools, ends):
                if tool.returncode == 0:
                    fine += 1
                    self.assertNotIn("holds no", said)
                else:
                    self.assertEqual(tool.returncode, 4, said)
                    self.assertIn("run.batchlight.live is in use by", said)
            self.assertGreater(fine, 0)
            self.assertEqual(self.files(), ["run.batchlight"])
            self.assertEqual(count(self.opens("run.batchlight"), "OpEnd"), 110)

    def exchange_partial_folder(self, tool, place):
        """Puts a link to `place` where the tool fills a folder; False if it ended before that."""
        while tool.poll() is None:
            for name in self.files():
                if ".partial-" in name:
                    tool.send_signal(signal.SIGSTOP)
                    try:
                        os.rename(self.path(name), self.path("taken"))
                        os.symlink(place, self.path(name))
                        return True
                    except FileNotFoundError:
                        return False
                    finally:
                        tool.send_signal(signal.SIGCONT)
        return False

    def test_a_folder_of_outputs_exchanged_for_a_link(self):
        recording = os.path.join(SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")
        for words in (("report", recording), ("export", "-t", "csv", recording),
                      ("export", "-t", "jsonlines", "--per-rank", recording)):
            with self.subTest(words[:3]):
                precious = self.path("precious")
                os.mkdir(precious)
                tool = self.begin(*words, "-o", "out", stderr=subprocess.PIPE)
                exchanged = self.exchange_partial_folder(tool, precious)
                said = tool.communicate(timeout=LONG_S)[1]
                self.assertEqual(os.listdir(precious), [])
                if exchanged:
                    self.assertEqual(tool.returncode, 4, said)
                    self.assertIn("somebody moved it while it was being filled", said)
                    self.assertEqual(os.listdir(self.path("taken")), [])
                for name in self.files():
                    (os.remove if os.path.islink(self.path(name)) else shutil.rmtree)(
                        self.path(name))


def cannot_become_user():
    if os.geteuid() != 0:
        return "only root can record another user's program"
    done = run("setpriv", "--reuid=" + USER, "--clear-groups", "test", "-r", BATCHLIGHT)
    return "" if done.returncode == 0 else "%s cannot read %s" % (USER, BUILD)


class ProgramOfAnotherUser(InFolder):
    """Root records as a user who owns the folder and attacks root with it."""

    def setUp(self):
        super().setUp()
        why = cannot_become_user()
        if why:
            self.skipTest(why)
        os.chmod(self.folder, 0o755)
        self.work = self.path("work")
        os.mkdir(self.work)
        shutil.chown(self.work, USER)
        self.secret = self.path("secret")
        with open(self.secret, "w") as file:
            file.write("precious")
        os.chmod(self.secret, 0o600)

    def record(self, script, *flags, **options):
        path = self.path("attack.sh")
        with open(path, "w") as file:
            file.write("#!/bin/bash\n%s operators 100\n%s\nexit 7\n" % (FAULT_PROGRAM, script))
        os.chmod(path, 0o755)
        done = self.batchlight("profile", "--run-as", USER, "-t", "none",
                               "--pytorch=autograd-nvtx", *flags, path, cwd=self.work, **options)
        with open(self.secret) as file:
            self.assertEqual(file.read(), "precious")
        return done

    def fine(self, script, *flags):
        done = self.record(script, *flags)
        self.assertEqual(done.returncode, 7, done.stderr)
        return done

    def recorded(self):
        path = os.path.join(self.work, "report1.batchlight")
        self.assertEqual(count(self.opens(path), "OpEnd"), 110)
        return os.lstat(path)

    def test_the_recording_becomes_the_users(self):
        self.fine("")
        info = self.recorded()
        self.assertEqual(stat.S_IMODE(info.st_mode), 0o600)
        self.assertEqual(info.st_uid, os.lstat(self.work).st_uid)
        self.assertEqual(os.listdir(self.work), ["report1.batchlight"])

    def test_links_in_place_of_what_root_writes(self):
        self.fine("for n in $PPID 1 2; do ln -s %s report1.batchlight.partial-$n; done;"
                  " ln -s %s report1.batchlight" % (self.secret, self.secret), "-f")
        self.recorded()

    def test_pipe_in_the_live_folder(self):
        self.fine("mkfifo report1.batchlight.live/0-x.blp report1.batchlight.live/1-2.blp")
        self.recorded()

    def test_links_in_the_live_folder(self):
        self.fine("ln -s %s report1.batchlight.live/0-x.blp" % self.secret)
        self.recorded()

    def test_live_folder_exchanged_for_a_link(self):
        precious = self.path("precious")
        os.mkdir(precious)
        for name in ("control", "tool.blp", "x.blp"):
            open(os.path.join(precious, name), "w").close()
        self.fine("mv report1.batchlight.live away; ln -s %s report1.batchlight.live" % precious)
        self.assertEqual(len(os.listdir(precious)), 3)
        self.recorded()

    def test_files_cut_short(self):
        for name in ("control", "tool.blp", "*-*.blp"):
            done = self.record("for f in report1.batchlight.live/%s; do : > $f; done" % name, "-f",
                               "-o", "report1")
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertEqual(self.batchlight("trace", "dump", "work/report1.batchlight").returncode,
                             0)

    def test_output_folder_exchanged_for_a_link(self):
        os.mkdir(os.path.join(self.work, "sub"))
        shutil.chown(os.path.join(self.work, "sub"), USER)
        target = self.path("roots")
        os.mkdir(target)
        self.fine("mv sub away; ln -s %s sub" % target, "-o", "sub/run")
        self.assertEqual(os.listdir(target), [])
        self.assertEqual(os.listdir(os.path.join(self.work, "away")), ["run.batchlight"])


class FilesCutShort(InFolder):
    def test_the_program_lives_and_the_loss_is_said(self):
        done = self.profile("-o", "run", "sh", "-c",
                            "for f in $BATCHLIGHT_SESSION_DIR/*; do : > $f; done;"
                            " %s operators 100; exit 6" % FAULT_PROGRAM)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.opens("run.batchlight")

    def test_while_a_process_writes(self):
        done = self.profile("-o", "run", FAULT_PROGRAM, "cut-short", "100000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cut a file of the recording short", done.stderr)
        self.opens("run.batchlight")

    def test_a_bus_error_of_the_programs_own_still_ends_it(self):
        done = self.profile(FAULT_PROGRAM, "signal", int(signal.SIGBUS))
        self.assertEqual(done.returncode, 128 + signal.SIGBUS)


if __name__ == "__main__":
    unittest.main()
