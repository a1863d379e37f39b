"""Exact counts of Python: equal to cProfile's in every Python that is here, right where cProfile is
not (threads), and without harm to the program, its tools and its end."""
import collections
import json
import os
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_hook_test import interpreters  # noqa: E402
from python_session import PYTHON, PythonSession, alone  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "counted_program.py")
FILES = ("counted_program.py", "made.py")
START = "import sys; sys.path.insert(0, %r); import counted_program as p\n" % HERE
WITH_CPROFILE = START + """
import cProfile, json
profile = cProfile.Profile(builtins=False)
profile.enable(); p.main(); profile.disable()
profile.create_stats()
# That of 3.14 has functions of C all the same, between Python's functions and their callers.
through_c = any(file == "~" and "disable" not in name for file, _, name in profile.stats)
rows = []
for (file, line, name), (cc, nc, tt, ct, callers) in profile.stats.items():
    if file in (p.__file__, "made.py"):
        rows.append([line, name, nc, cc, sorted(
            [c[1], c[2], v[0], v[1]] for c, v in callers.items() if c[0] in (p.__file__, "made.py"))])
print(json.dumps([through_c, sorted(rows)]))
"""


def functions(session, only=None):
    """{(file name, line, bare name): [calls, primitive calls, resumptions, self, total]} and the same
    of callers, {(callee, caller): [calls, primitive calls]}, over all threads and chunks."""
    counts = collections.defaultdict(lambda: [0] * 5)
    callers = collections.defaultdict(lambda: [0, 0])
    for process in session.processes():
        for chunk in process.chunks:
            names = {}
            for record in chunk.records:
                if record.kind == "PythonFunction":
                    key = (os.path.basename(record.file), record.first_line,
                           record.name.rpartition(".")[2])
                    names[record.id] = key
                    add(counts[key], record.calls, record.primitive_calls, record.resumptions,
                        record.self_ticks, record.total_ticks)
                elif record.kind == "PythonCaller" and record.caller:
                    add(callers[names[record.function], names[record.caller]], record.calls,
                        record.primitive_calls)
    return counts, callers


def add(sums, *values):
    for i, value in enumerate(values):
        sums[i] += value


def counting(**more):
    settings = dict({"python.trace": "functions", "python.thin": "0"}, **more)
    return PythonSession(
        trace=PYTHON, extra="".join("%s=%s\n" % item for item in settings.items()))


class Counts(unittest.TestCase):
    maxDiff = None

    def run_well(self, session, python, *arguments, **options):
        done = session.run(python, *arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), python)
        return done

    def test_equal_to_cprofile(self):
        for python in interpreters():
            with self.subTest(python), counting() as session:
                self.run_well(session, python, "-c", START + "p.main()")
                counts, callers = functions(session)
                through_c, expected = json.loads(alone(python, "-c", WITH_CPROFILE).stdout)
                self.assertGreater(len(expected), 15)
                found = sorted(
                    [line, name, *values[:2], sorted(
                        [caller[1], caller[2], *made] for (callee, caller), made in callers.items()
                        if callee == (file, line, name) and caller[0] in FILES)]
                    for (file, line, name), values in counts.items()
                    if file == "made.py" or file in FILES and name not in ("<module>", "Raises"))
                if through_c:
                    for ours, theirs in zip(found, expected):
                        ours[4] = [caller for caller in ours[4] if caller in theirs[4]]
                self.assertEqual(found, expected)
                self.assertEqual(session.reasons(), [])

    def test_the_bridge_is_not_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "torch.py"), "w"):
                pass  # for its sake more of the bridge is loaded
            code = "import sys; sys.path.insert(0, %r); import torch; import queue" % folder
            for python in interpreters():
                with self.subTest(python), counting() as session:
                    self.run_well(session, python, "-c", code)
                    counts, _ = functions(session)
                    self.assertEqual([key for key in counts if "batchlight" in key[0]], [])

    def test_times_add_up(self):
        for python in interpreters():
            with self.subTest(python), counting() as session:
                self.run_well(session, python, PROGRAM)
                counts, _ = functions(session)
                main = next(value for key, value in counts.items() if key[2] == "main"
                            and key[0] == "counted_program.py")
                inside = sum(value[3] for key, value in counts.items()
                             if key[0] in FILES)
                self.assertGreaterEqual(main[4], main[3])
                self.assertGreater(inside, 0.3 * main[4])
                for key, (calls, primitive, resumed, own, total) in counts.items():
                    self.assertLessEqual(primitive, calls, key)
                    self.assertLess(resumed, calls + 1, key)

    def test_recursion_counts_the_outer_call_once(self):
        code = START + (
            "def even(n): return n == 0 or odd(n - 1)\n"
            "def odd(n): return n != 0 and even(n - 1)\n"
            "p.fib(16); even(300)\n")
        for python in interpreters():
            with self.subTest(python), counting() as session:
                self.run_well(session, python, "-c", code)
                found = {key[2]: value for key, value in functions(session)[0].items()
                         if key[2] in ("fib", "even", "odd")}
                self.assertEqual({name: tuple(value[:2]) for name, value in found.items()},
                                 {"fib": (3193, 1), "even": (151, 1), "odd": (150, 1)})
                # Level by level each would have many times its time.
                _, _, _, own, total = found["fib"]
                self.assertLessEqual(own, total)
                self.assertLess(total, 2 * own)
                both = found["even"][3] + found["odd"][3]
                self.assertLess(found["odd"][4], found["even"][4])
                self.assertLessEqual(both, 1.01 * found["even"][4])
                self.assertLess(found["even"][4], 2 * both)

    def test_resumptions_are_told_from_calls(self):
        code = START + "sum(p.numbers(100)); sum(p.numbers(3))\n"
        for python in interpreters():
            with self.subTest(python), counting() as session:
                self.run_well(session, python, "-c", code)
                calls, _, resumed = functions(session)[0]["counted_program.py", 19, "numbers"][:3]
                self.assertEqual((calls, resumed), (105, 103))

    def test_all_threads(self):
        code = START + (
            "import threading\n"
            "threads = [threading.Thread(target=p.fib, args=(12,)) for _ in range(5)]\n"
            "for t in threads: t.start()\n"
            "for t in threads: t.join()\n")
        for python in interpreters():
            with self.subTest(python), counting() as session:
                self.run_well(session, python, "-c", code)
                calls, primitive = functions(session)[0]["counted_program.py", 7, "fib"][:2]
                self.assertEqual((calls, primitive), (5 * 465, 5))

    def test_a_killed_program_keeps_its_counts(self):
        code = START + (
            "import os, signal\n"
            "def work():\n"
            "    for _ in range(3000): p.loop(1000)\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n"
            "work()\n")
        for python in interpreters():
            with self.subTest(python), counting() as session:
                done = session.run(python, "-c", code)
                self.assertEqual(done.returncode, -signal.SIGKILL)
                counts = functions(session)[0]
                self.assertEqual(counts["counted_program.py", 95, "loop"][:2], [3000, 3000])
                work = counts["<string>", 3, "work"]
                self.assertEqual(work[:2], [1, 1])
                # What it called is its time, too, up to the last moment that was kept.
                self.assertGreater(work[4], 0.1 * counts["counted_program.py", 95, "loop"][4])

    def test_ends(self):
        """Calls that never return count, however the program ends."""
        ends = {"sys.exit(3)": 3, "import os; os._exit(4)": 4, "raise SystemExit(5)": 5}
        for python in interpreters():
            for end, status in ends.items():
                with self.subTest(python, end=end), counting() as session:
                    code = START + "def last():\n    p.fib(5)\n    %s\nlast()\n" % end
                    done = session.run(python, "-c", code)
                    self.assertEqual((done.returncode, done.stderr), (status, ""))
                    counts = functions(session)[0]
                    self.assertEqual(counts["<string>", 2, "last"][:2], [1, 1])
                    self.assertGreater(counts["<string>", 2, "last"][4], 0)

    def test_forked_child_counts_for_itself(self):
        code = START + (
            "import os\n"
            "def child():\n"
            "    p.fib(10)\n"
            "    os._exit(0)\n"
            "p.fib(8)\n"
            "pid = os.fork()\n"
            "if pid == 0: child()\n"
            "os.waitpid(pid, 0)\n"
            "p.fib(8)\n")
        for python in interpreters():
            with self.subTest(python), counting() as session:
                self.run_well(session, python, "-c", code)
                calls = functions(session)[0]["counted_program.py", 7, "fib"][0]
                self.assertEqual(calls, 67 + 67 + 177)

    def test_other_tools_on_the_same_hooks(self):
        """They get what they would get without us; from there on it is said that we do not."""
        code = START + (
            "import cProfile, pstats, io\n"
            "p.fib(10)\n"
            "profile = cProfile.Profile()\n"
            "profile.enable(); p.fib(10); profile.disable()\n"
            "rows = {k[2]: v[:2] for k, v in pstats.Stats(profile).stats.items()}\n"
            "print(rows['fib'])\n"
            "lines = []\n"
            "def tracer(frame, event, argument):\n"
            "    lines.append(event)\n"
            "    return tracer\n"
            "sys.settrace(tracer); p.fib(3); sys.settrace(None)\n"
            "print(len(lines))\n")
        for python in interpreters():
            with self.subTest(python), counting() as session:
                done = self.run_well(session, python, "-c", code)
                self.assertEqual(done.stdout, alone(python, "-c", code).stdout)
                calls = functions(session)[0]["counted_program.py", 7, "fib"][0]
                version = session.properties()["python.version"].split(".")
                if int(version[1]) >= 12:
                    self.assertEqual(calls, 177 + 177 + 5)
                    self.assertEqual(session.reasons(), [])
                else:
                    self.assertEqual(calls, 177)
                    self.assertIn("python-trace", [feature for feature, _ in session.reasons()])

    def test_code_that_is_made_again_and_again_is_not_kept(self):
        code = START + ("made = 0\n"
                        "for i in range(6000): made += eval('%d' % i)\n"
                        "print(p.fib(9), made)\n")
        for python in interpreters():
            with self.subTest(python), counting() as session:
                done = self.run_well(session, python, "-c", code)
                self.assertEqual(done.stdout, alone(python, "-c", code).stdout)
                counts = functions(session)[0]
                self.assertEqual(counts["counted_program.py", 7, "fib"][0], 109)
                made = sum(calls[0] for (file, _, name), calls in counts.items() if (file, name) == ("<string>", "<module>"))
                self.assertTrue(4000 <= made <= 4097, made)
                (said,) = [text for feature, text in session.reasons() if feature == "python-trace"]
                self.assertIn("after 4,096 such functions", said)

    def test_code_that_was_made_once_is_counted_in_each_thread(self):
        code = START + ("import threading\n"
                        "for i in range(60): exec('def made%d(): pass' % i)\n"
                        "def work():\n    for i in range(60): globals()['made%d' % i]()\n"
                        "for _ in range(100):\n    t = threading.Thread(target=work); t.start(); t.join()\n")
        for python in interpreters():
            with self.subTest(python), counting() as session:
                self.run_well(session, python, "-c", code)
                counts = functions(session)[0]
                self.assertEqual(counts["<string>", 1, "made7"][0], 100)
                self.assertEqual(session.reasons(), [])

    def test_all_tool_ids_taken(self):
        code = "import sys\nprint(sys.monitoring.get_tool(3), sys.monitoring.get_tool(4))"
        for python in interpreters():
            if "3.12" not in python and "3.13" not in python:
                continue
            with self.subTest(python), counting() as session:
                self.assertEqual(self.run_well(session, python, "-c", code).stdout,
                                 "batchlight None\n")

    def test_tiny_functions_are_thinned(self):
        code = START + (
            "def tiny(): pass\n"
            "def caller():\n"
            "    for _ in range(30000): tiny()\n"
            "    p.deep(100)\n"
            "caller()\n")
        for python in interpreters():
            with self.subTest(python), counting(**{"python.thin": "10000"}) as session:
                self.run_well(session, python, "-c", code)
                tiny = [f for f in session.events("PythonFunction") if f.name == "tiny"]
                monitors = int(session.properties()["python.version"].split(".")[1]) >= 12
                self.assertEqual(any(f.flags & 1 for f in tiny), monitors)
                calls = sum(f.calls for f in tiny)
                if monitors:
                    self.assertTrue(9999 <= calls < 30000, calls)
                else:
                    self.assertEqual(calls, 30000)
                counts = functions(session)[0]
                self.assertEqual(counts["counted_program.py", 91, "deep"][:2], [101, 1])


if __name__ == "__main__":
    unittest.main()
