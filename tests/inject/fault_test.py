"""Faults around the injected library: the program's own result is what it would be without us, what
was written stays readable, and what was lost is counted."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

import inject_case
from inject_case import InjectCase, needs_library


class FaultTest(InjectCase):
    def marks(self, process):
        return len(process.records("Mark"))

    @needs_library
    def test_no_session(self):
        environment = dict(os.environ, LD_PRELOAD=inject_case.LIBRARY,
                           NVTX_INJECTION64_PATH=inject_case.LIBRARY)
        for folder in (None, "/nowhere", "relative", "/etc"):
            environment.pop("BATCHLIGHT_SESSION_DIR", None)
            if folder:
                environment["BATCHLIGHT_SESSION_DIR"] = folder
            done = subprocess.run([inject_case.CLIENTS[0], "basics"], env=environment,
                                  capture_output=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertTrue(done.stdout.startswith(b"push -2\n"))

    def test_unusable_control_pages(self):
        def damage(offset, data):
            folder = self.session()
            with open(folder.control, "r+b") as file:
                file.seek(offset)
                file.write(data)
            return folder

        cut = self.session()
        os.truncate(cut.control, 65535)
        for folder in (damage(0, b"X"), damage(8, b"\x63"), self.session(disable=1), cut):
            self.assertEqual(self.run_client(folder, "basics")[0], "push -2")
            self.assertEqual(folder.processes(), [])

    def refused(self, change):
        folder = self.session()
        change(folder)
        self.assertEqual(self.run_client(folder, "basics")[0], "push -2")
        self.assertEqual(folder.processes(), [])

    def test_sessions_that_others_could_write(self):
        """Who writes the page decides what code the program loads."""
        for mode in (0o770, 0o707, 0o777, 0o1777):
            self.refused(lambda folder: os.chmod(folder.path, mode))
        for mode in (0o660, 0o606, 0o666):
            self.refused(lambda folder: os.chmod(folder.control, mode))

    def test_sessions_behind_links(self):
        def link_folder(folder):
            os.rename(folder.path, folder.path + ".real")
            os.symlink(folder.path + ".real", folder.path)
            self.addCleanup(shutil.rmtree, folder.path + ".real", ignore_errors=True)
            self.addCleanup(os.unlink, folder.path)

        def link_page(folder):
            os.rename(folder.control, folder.path + ".page")
            os.symlink(folder.path + ".page", folder.control)
            self.addCleanup(os.unlink, folder.path + ".page")

        def pipe(folder):
            os.unlink(folder.control)
            os.mkfifo(folder.control)

        for change in (link_folder, link_page, pipe):
            self.refused(change)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make files of another user")
    def test_sessions_of_another_user(self):
        self.refused(lambda folder: os.chown(folder.path, 65534, -1))
        self.refused(lambda folder: os.chown(folder.control, 65534, -1))

    @needs_library
    def test_budget(self):
        # Room for the main thread and a few others.
        folder = self.session(budget_bytes=128 << 10)
        self.run_client(folder, "many_threads", 60, status=60)
        process = self.only_process(folder)
        counters = process.counters()
        recorded = sum(r.message == "waiting" for r in process.records("RangePush"))
        self.assertGreater(recorded, 0)
        lost = counters.get("ThreadsUnrecorded", 0) + counters.get("EventsDroppedBudget", 0)
        self.assertGreaterEqual(lost, 60 - recorded)

    def test_small_budget_long_run(self):
        folder = self.session(budget_bytes=64 << 10)
        self.run_client(folder, "busy", 100000, status=100000 & 0x7F)
        process = self.only_process(folder)
        self.assertEqual(len(process.records("RangePush")), 200000)

    @needs_library
    def test_file_size_limit(self):
        folder = self.session()
        self.assertEqual(self.run_client(folder, "file_limit"), ["alive"])
        process = self.only_process(folder)
        dropped = process.counters()["EventsDroppedFile"]
        self.assertGreater(self.marks(process), 0)
        self.assertIn(self.marks(process) + dropped - 200000, (0, 1, 2))  # the exit's records too

    @needs_library
    def test_program_closes_descriptors(self):
        folder = self.session()
        self.assertEqual(self.run_client(folder, "close_descriptors"), ["own file 0"])
        self.assertEqual(self.marks(self.only_process(folder)), 200001)

    def test_folder_goes_away(self):
        folder = self.session()
        child = subprocess.Popen([inject_case.CLIENTS[0], "busy", "3000000"],
                                 env=folder.environment())
        self.addCleanup(child.kill)
        while child.poll() is None and not any(name.endswith(".blp") for name in
                                               os.listdir(folder.path)):
            time.sleep(0.001)
        while os.path.exists(folder.path):  # it may add a file meanwhile
            shutil.rmtree(folder.path, ignore_errors=True)
        self.assertEqual(child.wait(timeout=120), 3000000 & 0x7F)

    def test_read_only_folder(self):
        folder = self.session()
        subprocess.run(["chattr", "+i", folder.path], check=False, stderr=subprocess.DEVNULL)
        try:
            self.run_client(folder, "basics")
        finally:
            subprocess.run(["chattr", "-i", folder.path], check=False, stderr=subprocess.DEVNULL)

    @unittest.skipUnless(os.geteuid() == 0, "mounting needs root")
    def test_full_disk(self):
        mount = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, mount, ignore_errors=True)
        # A mount of our own that no other process sees.
        script = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
from live_folder import LiveFolder
import shutil, subprocess
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k,mode=0700", "none", {mount!r}], check=True)
folder = LiveFolder({inject_case.LIBRARY!r}, path={mount!r})
done = folder.run({inject_case.CLIENTS[0]!r}, "busy", "200000")
process = folder.processes()[0]
print(done.returncode, len(process.records("RangePush")) + len(process.records("RangePop")),
      process.counters().get("EventsDroppedFile", 0))
"""
        done = subprocess.run(["unshare", "-m", "/usr/bin/python3", "-c", script],
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        status, recorded, dropped = map(int, done.stdout.split())
        self.assertEqual(status, 200000 & 0x7F)
        self.assertGreater(recorded, 1000)
        # A push that was dropped takes its pop along uncounted.
        self.assertGreaterEqual(recorded + 2 * dropped, 800000)
        self.assertLessEqual(recorded + dropped, 800000)


if __name__ == "__main__":
    inject_case.main()
