#!/usr/bin/env python3
"""Exact counts in programs that are odd for a profiler: greenlets, interpreters inside of interpreters, threads that
outlive the script, generators that nobody ends, the debug allocator, code coverage. They do what they do alone, and
their calls are counted to the last."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_counts_test import counting, functions  # noqa: E402
from python_hook_test import interpreters  # noqa: E402
from python_session import alone  # noqa: E402
from recorded import InFolder  # noqa: E402

DEBIAN = "/usr/bin/python3"

GREENLETS = """\
import gevent
def leaf(n):
    gevent.sleep(0)
    return n
def work(n):
    total = 0
    for i in range(n):
        total += leaf(i)
    return total
def main():
    jobs = [gevent.spawn(work, 20) for _ in range(5)]
    gevent.joinall(jobs)
    print(sum(job.value for job in jobs))
main()
"""
INTERPRETERS = """\
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
def own(n): return n
for i in range(3): own(i)
other = interpreters.create()
interpreters.run_string(other, '''
def inside(n): return n
for i in range(7): inside(i)
''')
interpreters.destroy(other)
for i in range(4): own(i)
print("fine")
"""
OUTLIVE = """\
import threading, time
def late(n): return n
def work():
    time.sleep(0.1)
    for i in range(50): late(i)
threading.Thread(target=work).start()
def main(): pass
main()
"""
OPEN = """\
def numbers(n):
    for i in range(n): yield i
kept = [numbers(5) for _ in range(10)]
for generator in kept: next(generator)
print("end")
"""
COVERED = """\
def even(n):
    if n % 2:
        return False
    return True
def never():
    return 1
print(sum(even(n) for n in range(10)))
"""


def has(python, module):
    return alone(python, "-c", "import " + module).returncode == 0


class OddPrograms(InFolder):
    def counts(self, python, code, env=None):
        """{name of a function of the program: calls}; the program ends as it does alone."""
        with open(self.path("odd.py"), "w", encoding="utf-8") as file:
            file.write(code)
        expected = alone(python, self.path("odd.py"), env=env)
        with counting() as session:
            done = session.run(python, self.path("odd.py"), env=env)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (expected.returncode, expected.stdout, expected.stderr), python)
            self.assertEqual(session.reasons(), [])
            return {key[2]: values[0] for key, values in functions(session)[0].items()
                    if key[0] == "odd.py"}

    def test_greenlets(self):
        if not has(DEBIAN, "gevent"):
            self.skipTest("no gevent here: apt install python3-gevent")
        counts = self.counts(DEBIAN, GREENLETS)
        self.assertEqual((counts["leaf"], counts["work"], counts["main"]), (100, 5, 1))

    def test_interpreters_inside(self):
        """The functions of another interpreter are its own: those of the program's are all there."""
        for python in interpreters():
            if has(python, "_xxsubinterpreters") or has(python, "_interpreters"):
                with self.subTest(python):
                    counts = self.counts(python, INTERPRETERS)
                    self.assertEqual(counts["own"], 7)

    def test_threads_that_outlive_the_script(self):
        for python in interpreters():
            with self.subTest(python):
                counts = self.counts(python, OUTLIVE)
                self.assertEqual((counts["late"], counts["work"], counts["main"]), (50, 1, 1))

    def test_generators_left_open(self):
        for python in interpreters():
            with self.subTest(python):
                # Each is entered once and, as the program ends, once more to be closed; not all Pythons do.
                self.assertIn(self.counts(python, OPEN)["numbers"], (10, 20))

    def test_debug_allocator(self):
        for python in interpreters():
            with self.subTest(python):
                counts = self.counts(python, OUTLIVE, env={"PYTHONMALLOC": "debug"})
                self.assertEqual(counts["late"], 50)

    def test_coverage(self):
        if not has(DEBIAN, "coverage"):
            self.skipTest("no coverage here: apt install python3-coverage")
        with open(self.path("odd.py"), "w", encoding="utf-8") as file:
            file.write(COVERED)
        with counting() as session:
            done = session.run(DEBIAN, "-m", "coverage", "run", "odd.py", cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (0, "5\n"), done.stderr)
            report = alone(DEBIAN, "-m", "coverage", "report", "-m", "--include=odd.py", cwd=self.folder)
            self.assertRegex(report.stdout, r"odd\.py +7 +1 +86% +6")
            counts = {key[2]: values[0] for key, values in functions(session)[0].items()
                      if key[0] == "odd.py"}
            self.assertEqual(counts["even"], 10)


if __name__ == "__main__":
    unittest.main()
