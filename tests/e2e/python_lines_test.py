"""Exact counts of lines: as often as Python's own trace function sees them, in every Python that is
here, for exactly the functions that --lines names. (From 3.12 on a comprehension of one line is one
hit of it to sys.monitoring, and several to a trace function: none is traced here.)"""
import collections
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_counts_test import HERE, PROGRAM, START, functions  # noqa: E402
from python_hook_test import interpreters  # noqa: E402
from python_session import PYTHON, PythonSession, alone  # noqa: E402

TRACED = START + """
import collections, json
names = %r
hits = collections.Counter()
def on_call(frame, event, argument):
    code = frame.f_code
    if code.co_filename != p.__file__ or code.co_name not in names: return None
    def on_line(frame, event, argument):
        if event == "line": hits[code.co_name, frame.f_lineno] += 1
        return on_line
    return on_line
sys.settrace(on_call); p.main(); sys.settrace(None)
print(json.dumps(sorted([name, line, count] for (name, line), count in hits.items())))
"""
NAMES = ["fib", "numbers", "outer", "inner", "leaf", "drive", "deep", "loop", "generators"]


def timing(lines, **more):
    settings = dict({"python.lines": lines}, **more)
    return PythonSession(
        trace=PYTHON, extra="".join("%s=%s\n" % item for item in settings.items()))


def lines(session):
    """[bare name, line, hits], and the ticks of each (bare name, line)."""
    hits, ticks = collections.Counter(), collections.Counter()
    for process in session.processes():
        for chunk in process.chunks:
            names = {}
            for record in chunk.records:
                if record.kind == "PythonFunction":
                    names[record.id] = record.name.rpartition(".")[2]
                elif record.kind == "PythonLine":
                    key = names[record.function], record.line
                    hits[key] += record.hits
                    ticks[key] += record["ticks"]
    return sorted([name, line, count] for (name, line), count in hits.items()), ticks


class Lines(unittest.TestCase):
    maxDiff = None

    def test_equal_to_a_trace_function(self):
        chosen = ",".join("counted_program:" + name for name in NAMES) + ",counted_program:*.outer"
        for python in interpreters():
            expected = json.loads(alone(python, "-c", TRACED % NAMES).stdout)
            self.assertGreater(len(expected), 30)
            for more in ({}, {"python.trace": "functions", "python.thin": "0"}):
                with self.subTest(python, **more), timing(chosen, **more) as session:
                    done = session.run(python, "-c", START + "p.main()")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertEqual(session.reasons(), [])
                    self.assertEqual(lines(session)[0], expected)
                    calls = functions(session)[0]["counted_program.py", 7, "fib"][0]
                    self.assertEqual(calls, 1973 if more else 0)

    def test_time_belongs_to_the_line(self):
        code = ("import time, sys\n"
                "def inner():\n"
                "    time.sleep(0.05)\n"
                "def outer():\n"
                "    x = 1\n"
                "    inner()\n"
                "    for i in range(3):\n"
                "        time.sleep(0.01)\n"
                "    return x\n"
                "outer()\n")
        for python in interpreters():
            with self.subTest(python), timing("__main__:outer,__main__:inner") as session:
                self.assertEqual(session.run(python, "-c", code).returncode, 0)
                _, ticks = lines(session)
                self.assertGreater(ticks["outer", 6], 0.9 * ticks["inner", 3])
                self.assertGreater(ticks["outer", 8], 10 * ticks["outer", 5])

    def test_what_a_pattern_names(self):
        cases = {
            "counted_program:deep": {"deep"},
            "*:fib": {"fib"},
            "counted_program:Raises.*": {"outer", "middle", "inner", "note", "half"},
            "counted_program.py:even": {"even"},
            PROGRAM + ":odd": {"odd"},
            "nothing:fib": set(),
        }
        for python in interpreters():
            qualified = not any("3.%d." % minor in python for minor in (8, 9, 10))
            for pattern, names in cases.items():
                if "Raises" in pattern and not qualified:
                    continue  # before 3.11 a function does not know its class
                with self.subTest(python, pattern=pattern), timing(pattern) as session:
                    session.run(python, "-c", START + "p.main()")
                    self.assertEqual({name for name, _, _ in lines(session)[0]}, names)

    def test_a_tracer_of_the_program_sees_lines_of_what_runs_already(self):
        code = ("import sys\n"
                "lines = []\n"
                "def tracer(frame, event, _):\n"
                "    lines.append((event, frame.f_code.co_name, frame.f_lineno))\n"
                "    return tracer\n"
                "def outer():\n"
                "    inner()\n"
                "    return 1\n"
                "def inner():\n"
                "    sys._getframe().f_trace = sys._getframe(1).f_trace = tracer\n"
                "    sys.settrace(tracer)\n"
                "    a = 1\n"
                "    return a\n"
                "outer()\n"
                "sys.settrace(None)\n"
                "print(lines)\n")
        for python in interpreters():
            with self.subTest(python), timing("*:other") as session:
                done = session.run(python, "-c", code)
                self.assertEqual((done.stdout, done.stderr), (alone(python, "-c", code).stdout, ""))

    def test_a_tracer_of_the_program_sees_lines_of_what_is_suspended(self):
        """But for exceptions, whose line Python before 3.10 does not know yet where nothing was traced."""
        code = ("import asyncio, sys\n"
                "lines = []\n"
                "def tracer(frame, event, _):\n"
                "    if frame.f_code.co_filename == '<string>' and event != 'exception':\n"
                "        lines.append((event, frame.f_code.co_name, frame.f_lineno))\n"
                "    return tracer\n"
                "def numbers():\n"
                "    yield 1\n"
                "    a = 2\n"
                "    yield a\n"
                "async def waits():\n"
                "    await asyncio.sleep(0)\n"
                "    return 1\n"
                "async def makes():\n"
                "    yield 1\n"
                "    yield 2\n"
                "def run(awaited):\n"
                "    try: awaited.send(None)\n"
                "    except StopIteration: pass\n"
                "several = numbers(), eval('(n for n in (1, 2))')\n"
                "for one in several: next(one)\n"
                "waiting, made = waits(), makes()\n"
                "run(waiting)\n"
                "run(made.__anext__())\n"
                "sys.settrace(tracer)\n"
                "for one in several: next(one)\n"
                "run(waiting)\n"
                "run(made.__anext__())\n"
                "sys.settrace(None)\n"
                "print(lines)\n")
        for settings in ({}, {"python.trace": "functions"}):
            for python in interpreters():
                with self.subTest(python, **settings), timing("*:other", **settings) as session:
                    done = session.run(python, "-c", code)
                    self.assertEqual((done.stdout, done.stderr), (alone(python, "-c", code).stdout, ""))

    def test_functions_under_the_builtin_profile(self):
        """As programs have it that were written for kernprof or memory_profiler."""
        code = ("@profile\n"
                "def work(n):\n"
                "    return n + 1\n"
                "def other(n):\n"
                "    return n\n"
                "work(1); work(2); other(3)\n")
        for python in interpreters():
            with self.subTest(python), timing("@profile") as session:
                done = session.run(python, "-c", code)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(lines(session)[0], [["work", 3, 2]])
            with self.subTest(python), timing("@profile") as session:
                done = session.run(python, "-c", "import builtins; builtins.profile = print\n" + code[:-1])
                self.assertEqual(done.stdout.split()[:2], ["<function", "work"])  # the program's own
            with self.subTest(python), timing("__main__:other") as session:
                self.assertIn("NameError", session.run(python, "-c", code).stderr)

    def test_source_is_kept(self):
        for python in interpreters():
            with self.subTest(python), timing("__main__:even") as session:
                self.assertEqual(session.run(python, PROGRAM).returncode, 0)
                source, = session.events("PythonSource")
                self.assertEqual(
                    (source.file, source.first_line, source.text),
                    (PROGRAM, 11, "def even(n):\n    return n == 0 or odd(n - 1)\n"))

    def test_threads_and_exceptions(self):
        code = START + (
            "import threading\n"
            "threads = [threading.Thread(target=p.loop, args=(100,)) for _ in range(4)]\n"
            "for t in threads: t.start()\n"
            "for t in threads: t.join()\n")
        for python in interpreters():
            with self.subTest(python), timing("counted_program:loop") as session:
                self.assertEqual(session.run(python, "-c", code).returncode, 0)
                hits = {line: count for _, line, count in lines(session)[0]}
                self.assertEqual(hits[99], 4 * 50)


if __name__ == "__main__":
    unittest.main()
