"""What is said while the operator recorder is built."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock

from bridge_case import BridgeCase


class Said(BridgeCase):
    name = "_torch_library"

    def test_nothing_is_said_into_what_the_program_captures(self):
        real, captured = io.StringIO(), io.StringIO()
        with unittest.mock.patch.dict(os.environ, LOCAL_RANK="0"), \
                unittest.mock.patch.multiple(sys, stderr=real, __stderr__=real):
            self.module.say("building")
            with contextlib.redirect_stderr(captured):
                self.module.say("building")
        self.assertEqual((real.getvalue(), captured.getvalue()), ("batchlight: building\n", ""))

    def test_the_compiler_looks_into_no_present_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            planted, there = os.path.join(folder, "c++"), os.path.join(folder, "there")
            os.mkdir(there)
            for path in (planted, os.path.join(there, "c++")):
                with open(path, "w") as file:
                    file.write("#!/bin/sh\n")
                os.chmod(path, 0o755)
            before = os.getcwd()
            os.chdir(folder)
            try:
                with unittest.mock.patch.dict(os.environ, PATH=":.:" + there, CPATH=":/opt/include", CXX="",
                                              LD_LIBRARY_PATH="lib:/opt/lib:", LIBRARY_PATH="."):
                    said = self.module._environment(folder)
                    self.assertEqual(self.module._compiler(), os.path.join(there, "c++"))
                    os.environ["CXX"] = "./c++"
                    self.assertEqual(self.module._compiler(), os.path.realpath(planted))
            finally:
                os.chdir(before)
        self.assertEqual((said["PATH"], said["LD_LIBRARY_PATH"]), (there, "/opt/lib"))
        self.assertEqual(said["CPATH"], "/opt/include")
        self.assertEqual({said[name] for name in ("TMPDIR", "TMP", "TEMP")}, {folder}, "a compiler's text is nobody else's")
        self.assertNotIn("LIBRARY_PATH", said, "an empty one is the present folder for some")


if __name__ == "__main__":
    unittest.main()
