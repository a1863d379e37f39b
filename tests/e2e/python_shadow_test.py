"""A program whose folder holds files named as Python's own modules: it runs its own, we run Python's."""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_hook_test import interpreters  # noqa: E402
from python_session import BUILD, alone  # noqa: E402

PROGRAM = os.path.join(BUILD, "bin", "batchlight")
SHADOWED = ("copy", "ctypes", "dis", "fnmatch", "functools", "hashlib", "inspect", "json", "linecache",
            "mmap", "re", "shlex", "shutil", "struct", "subprocess", "tempfile", "tokenize",
            "types", "weakref")
SCRIPT = """import sys
print(sorted(name for name in sys.modules if name in %r))
def work():
    return sum(range(10))
import %s
print([getattr(module, "mine", False) for module in (%s)], work())
""" % (SHADOWED, ", ".join(SHADOWED), ", ".join(SHADOWED))
MODES = (["--lines=__main__:wo*"], ["--python-trace=functions"], ["--python-lines=gpu"], [])


class Shadow(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in SHADOWED:
            self.write(name + ".py", "print('%s ran')\nmine = True\n" % name)
        self.write("program.py", SCRIPT)
        self.write("wanted", json.dumps([{"module": "__main__", "functions": ["work"]}]))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def batchlight(self, *words):
        return alone(PROGRAM, *words, cwd=self.folder)

    def test_each_runs_its_own(self):
        for python in interpreters():
            plain = alone(python, "program.py", cwd=self.folder)
            self.assertEqual((plain.returncode, plain.stderr), (0, ""))
            for flags in MODES + (["--python-functions-trace=wanted"],):
                with self.subTest(python=python, flags=flags):
                    done = self.batchlight("profile", "-f", "-o", "run", *flags, python, "program.py")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    # The summary comes after what the program said.
                    self.assertEqual(done.stdout[:len(plain.stdout)], plain.stdout)
                    self.assertNotIn("off:", done.stderr + done.stdout)
                    dump = self.batchlight("trace", "dump", "run.batchlight").stdout
                    if flags == MODES[0]:
                        self.assertIn(' PythonLine ', dump)
                    if flags[:1] == ["--python-functions-trace=wanted"]:
                        self.assertIn('message="__main__.work"', dump)

    def test_brackets_of_lines_are_letters(self):
        folder = os.path.join(self.folder, "a[1]")
        os.mkdir(folder)
        path = os.path.join(folder, "work.py")
        self.write("a[1]/work.py", "def work():\n    return 1\nwork()\n")
        for module, found in ((path, True), (path.replace("a[1]", "a[0-9]"), False),
                              (path.replace("a[1]", "a?1*"), True)):
            self.batchlight("profile", "-f", "-o", "run", "--lines=%s:work" % module, sys.executable, path)
            dump = self.batchlight("trace", "dump", "run.batchlight").stdout
            self.assertEqual(' PythonLine ' in dump, found, module)


if __name__ == "__main__":
    unittest.main()
