"""The real nsys export of tests/recordings, unpacked, and the program run on it."""
import lzma
import os
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BATCHLIGHT_BUILD", os.path.join(SOURCE, "build", "dev"))
PROGRAM = os.path.join(BUILD, "bin", "batchlight")
DATA = os.path.join(SOURCE, "tests", "recordings", "nsys-2025.3")


class NsysFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="nsys_files")
        cls.sqlite = os.path.join(cls.folder, "train5.sqlite")
        with lzma.open(os.path.join(DATA, "train5.sqlite.xz")) as packed:
            with open(cls.sqlite, "wb") as out:
                shutil.copyfileobj(packed, out)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_tool(self, *args, code=0):
        done = subprocess.run([PROGRAM, *args], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr.decode(errors="replace"))
        return done

    def stats(self, *args, code=0):
        return self.run_tool("stats", *args, self.sqlite, code=code)
