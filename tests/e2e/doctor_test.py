"""batchlight doctor says what is there and what is missing."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BUILD, InFolder, run  # noqa: E402

DRIVER = os.path.join(BUILD, "test", "fakes", "driver")


class Doctor(InFolder):
    def checks(self, **environment):
        done = self.batchlight("doctor", "-f", "json", env=dict(self.environment, **environment))
        self.assertEqual(done.returncode, 0, done.stderr)
        by_area = {}
        for check in json.loads(done.stdout):
            by_area.setdefault(check["area"], []).append(check)
        return by_area

    def test_this_machine(self):
        checks = self.checks()
        for area in ("installation", "NVTX", "kernel", "sessions", "disk"):
            self.assertEqual(checks[area][0]["finding"], "ok", checks[area])
        self.assertIn("GPU", checks)

    def test_nothing_is_taken_from_the_present_folder(self):
        """It may be anybody's, as /tmp is."""
        for name in ("os", "platform", "importlib", "torch", "collections"):
            with open(self.path(name + ".py"), "w") as file:
                file.write("open(%r, 'w')" % self.path("taken"))
        self.assertIn("Python", self.checks())
        self.assertNotIn("taken", self.files())

    def test_nothing_is_taken_by_a_relative_search_path(self):
        with open(self.path("sitecustomize.py"), "w") as file:
            file.write("open(%r, 'w')" % self.path("taken"))
        for path in (":/x", "/x:", "."):
            self.environment["PYTHONPATH"] = path
            self.assertIn("Python", self.checks())
            self.assertNotIn("taken", self.files(), path)

    @unittest.skipUnless(os.path.exists(DRIVER), "this build has no stand-in for the driver")
    def test_the_driver_is_asked_by_a_program_of_its_own(self):
        """The tool is static and loads no library: host_query does, and may crash."""
        places = DRIVER + ":" + os.path.dirname(DRIVER)  # there is a stand-in for CUPTI too
        checks = self.checks(LD_LIBRARY_PATH=places)
        self.assertEqual([(check["finding"], check["what"]) for check in checks["GPU"]],
                         [("ok", "0: Stand-in GPU 0"), ("ok", "1: Stand-in GPU 1")])
        self.assertEqual(checks["CUDA"][0]["what"], "the driver supports CUDA 13.1")
        self.assertRegex(checks["CUPTI"][0]["what"], r"^libcupti\.so\.13, version \d+$")
        old = self.checks(LD_LIBRARY_PATH=places, FAKE_DRIVER="old")
        self.assertEqual(old["CUDA"][0]["finding"], "missing")
        none = self.checks(LD_LIBRARY_PATH=places, FAKE_DRIVER="error")
        self.assertIn("finds no GPU (error 100)", none["GPU"][0]["what"])
        crashed = self.checks(LD_LIBRARY_PATH=places, FAKE_DRIVER="crash")
        self.assertIn("signal 6", crashed["GPU"][0]["what"])
        self.assertEqual(crashed["NVTX"][0]["finding"], "ok")  # all else is said as ever

    def test_finds_python_and_torch(self):
        checks = self.checks(PATH="/usr/bin:/bin")
        version = run("/usr/bin/python3", "-c",
                      "import platform; print(platform.python_version())").stdout.strip()
        self.assertIn(version, checks["Python"][-1]["what"])
        torch = run("/usr/bin/python3", "-c",
                    "import importlib.metadata as m; print(m.version('torch'))")
        if torch.returncode == 0:
            self.assertIn(torch.stdout.strip().split("+")[0], checks["PyTorch"][0]["what"])
        else:
            self.assertEqual(checks["PyTorch"][0]["finding"], "note")

    def test_a_shim_is_not_the_interpreter(self):
        os.makedirs(self.path("shims"))
        for name, script in (("python3", 'exec /usr/bin/python3 "$@"'), ("python3.8", "exit 127")):
            with open(self.path("shims/" + name), "w") as file:
                file.write("#!/bin/sh\n%s\n" % script)
            os.chmod(self.path("shims/" + name), 0o755)
        checks = self.checks(PATH=self.path("shims") + ":/usr/bin:/bin")
        self.assertRegex(checks["Python"][0]["what"], r"^python3 is CPython 3\.\S+, /usr/bin/python3$")
        self.assertNotIn("shims", json.dumps(checks))

    def test_a_python_whose_frames_are_not_known(self):
        for version, free_threaded, known in (
                ("3.14.0", 0, True), ("3.13.5", 1, True), ("3.14.0", 1, False), ("3.15.0", 0, False)):
            with self.subTest(version=version, free_threaded=free_threaded):
                os.makedirs(self.path("new"), exist_ok=True)
                with open(self.path("new/python3"), "w") as file:
                    file.write("#!/bin/sh\nprintf 'path=/n/python3\\nprefix=/n\\nimplementation=CPython\\n"
                               "version=%s\\nfree_threaded=%d\\n'\n" % (version, free_threaded))
                os.chmod(self.path("new/python3"), 0o755)
                (check,) = [check for check in self.checks(PATH=self.path("new") + ":/usr/bin:/bin")["Python"]
                            if "/n/python3" in check["what"]]
                self.assertEqual(check["finding"], "ok" if known else "note")
                self.assertEqual("no samples" in check["what"], not known)

    def test_missing_compiler_is_said(self):
        os.mkdir(self.path("bin"))
        for name in ("python3", "timeout", "sh"):
            os.symlink("/usr/bin/" + name, self.path("bin/" + name))
        checks = self.checks(PATH=self.path("bin"), CXX="")
        if "PyTorch" in checks and checks["PyTorch"][0]["finding"] != "note":
            self.assertEqual(checks["PyTorch"][0]["finding"], "missing")
            self.assertIn("install", checks["PyTorch"][0]["remedy"])

    def test_table(self):
        done = self.batchlight("doctor")
        self.assertRegex(done.stdout, r"(?m)^ok +installation ")
        self.assertNotIn("\033", done.stdout)


if __name__ == "__main__":
    unittest.main()
