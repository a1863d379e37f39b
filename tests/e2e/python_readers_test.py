"""The readers of cProfile's, kernprof's and speedscope's files open ours: pstats, snakeviz, gprof2dot,
runsnakerun, line_profiler, in the environment of readers_test.py. What they show is what our tables show."""
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import speedscope_file  # noqa: E402
from readers_test import PYTHON, READERS, SCRIPTS  # noqa: E402
from recorded import BATCHLIGHT, SOURCE, run  # noqa: E402

PROGRAM = os.path.join(SOURCE, "tests", "e2e", "counted_program.py")


class PythonReaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="bl_python_readers_")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.recording = os.path.join(cls.folder, "run.batchlight")
        cls.tool("profile", "--python-trace=functions", "--python-thin=0", "--pytorch=none",
                 "--lines=counted_program.py:fib,counted_program.py:loop", "-o", cls.recording,
                 PYTHON, PROGRAM)
        files = []
        for kind in ("pstats", "lprof"):
            files.append(os.path.join(cls.folder, "out." + kind))
            cls.tool("export", "-q", "-t", kind, "-o", files[-1], cls.recording)
        memory = os.path.join(cls.folder, "memory.batchlight")
        cls.tool("profile", "--python-memory=exact", "--pytorch=none", "-o", memory, PYTHON, "-c",
                 "kept = bytes(3 << 20)")
        cls.stacks = os.path.join(cls.folder, "out.speedscope")
        files.append(cls.stacks)
        cls.tool("export", "-q", "-t", "speedscope", "--stacks=allocations", "-o", files[-1], memory)
        done = run(PYTHON, os.path.join(SCRIPTS, "python_counts.py"), *files)
        assert done.returncode == 0, done.stderr
        cls.read = json.loads(done.stdout)

    @classmethod
    def tool(cls, *words):
        done = run(BATCHLIGHT, *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def functions(self):
        """"file:line(bare name)" -> our [calls, primitive calls, own ns, total ns]: functions that
        have these in common are one to all readers."""
        sums = {}
        for row in json.loads(self.tool("table", "python_functions", "-f", "json", self.recording)):
            place, name = re.match(r"(.*:\d+)\((.*)\)$", row["filename:lineno(function)"]).groups()
            values = sums.setdefault("%s(%s)" % (place, name.rpartition(".")[2]), [0] * 4)
            for i, column in enumerate(("ncalls", "pcalls", "tottime (ns)", "cumtime (ns)")):
                values[i] += row[column]
        return sums

    def test_pstats(self):
        self.assertEqual(self.read["pstats"]["functions"], self.functions())
        self.assertRegex(self.read["pstats"]["text"],
                         r"1973/1 +\d\.\d+ +\d\.\d+ +\d\.\d+ +\d\.\d+ counted_program.py:7\(fib\)")
        self.assertRegex(self.read["pstats"]["text"],
                         r"counted_program.py:7\(fib\) +<- +1972/2 .*counted_program.py:7\(fib\)\n"
                         r" +1 .*counted_program.py:\d+\(main\)")

    def test_snakeviz(self):
        ours = self.functions()
        self.assertEqual(self.read["snakeviz"]["rows"], {name: row[0] for name, row in ours.items()})
        drawn = self.read["snakeviz"]["drawn"]
        fib, main = ("%s:%d(%s)" % (PROGRAM, line, name) for line, name in ((7, "fib"), (116, "main")))
        self.assertEqual(drawn[fib]["stats"][1], 1973)
        self.assertIn(fib, drawn[main]["children"])
        self.assertEqual(set(drawn[fib]["callers"]), {fib, main})

    def test_runsnakerun(self):
        read = self.read["runsnakerun"]
        self.assertEqual(read["rows"], {name: row[:2] for name, row in self.functions().items()})
        fib, main = ("%s:%d(%s)" % (PROGRAM, line, name) for line, name in ((7, "fib"), (116, "main")))
        self.assertIn([main, fib], read["calls"])
        self.assertIn("<module>", read["outermost"])

    def test_runsnakerun_reads_stacks_of_bytes(self):
        with open(self.stacks, encoding="utf-8") as file:
            speedscope_file.check(self, json.load(file))
        (profile,) = self.read["runsnakerun"]["profiles"]
        self.assertEqual(profile["unit"], "bytes")
        self.assertEqual(profile["total"], profile["end"])
        self.assertEqual(profile["total"], sum(profile["outermost"].values()))
        self.assertAlmostEqual(profile["outermost"]["<module> (<string>:1)"], 3 << 20, delta=1 << 16)

    def test_gprof2dot(self):
        read = self.read["gprof2dot"]
        self.assertEqual(read["called"]["counted_program:7:fib"], 1973)
        self.assertTrue(["counted_program:116:main", "counted_program:7:fib"] in read["calls"])
        self.assertTrue(read["dot"].startswith("digraph {"))
        self.assertIn("counted_program:7:fib", read["dot"])

    def test_line_profiler(self):
        ours = {}
        for row in json.loads(self.tool("table", "python_lines", "-f", "json", self.recording)):
            if row["Hits"]:
                ours.setdefault(row["Function"], []).append([row["Line #"], row["Hits"], row["Time (ns)"]])
        read = self.read["line_profiler"]
        self.assertEqual(read["unit"], 1e-9)
        self.assertEqual({"%s:%d(%s)" % (file, line, name): lines
                          for file, line, name, lines in read["timings"]}, ours)
        self.assertRegex(read["text"], r"\n +8 +1973 .* return n if n < 2 else")


if __name__ == "__main__":
    if not os.path.exists(PYTHON):
        print("skipped: no other readers in %s (tools/install_readers.sh %s installs them)" %
              (READERS, READERS))
        sys.exit(77)
    unittest.main()
