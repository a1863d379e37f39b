#!/usr/bin/env python3
"""--python-sampling: from outside, each thread is found in the functions in which its own clock says that it
was, by every Python that there is; in forked children, generators, deep recursion; and where it is off. Shares are
of the program's own processor time, so a busy machine changes none."""
import contextlib
import json
import math
import os
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_hook_test import interpreters  # noqa: E402
from recorded import InFolder, dump  # noqa: E402

MS = 1_000_000
SHARES = {"burn_six": 0.6, "burn_three": 0.3, "burn_one": 0.1}
BURN = """
import os, sys, threading, time

def burn_six(total):
    end = time.thread_time() + 0.6 * total
    while time.thread_time() < end: pass

def burn_three(total):
    end = time.thread_time() + 0.3 * total
    while time.thread_time() < end: pass

def burn_one(total):
    end = time.thread_time() + 0.1 * total
    while time.thread_time() < end: pass

def burn(seconds):
    for _ in range(20):
        burn_six(seconds / 20); burn_three(seconds / 20); burn_one(seconds / 20)
"""
# Three busy processes on one processor, and a nap; says how long the first could run and had no processor.
CROWDED = """
import json, os, time

def busy():
    end = time.monotonic() + 2
    while time.monotonic() < end: pass

def nap():
    time.sleep(0.5)

def ready():
    with open("/proc/self/schedstat") as file:
        return int(file.read().split()[1])

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        busy()
        nap()  # what it waited for a processor is told when that is over
        os._exit(0)
    children.append(child)
begin, ready_before, ran_before = time.monotonic_ns(), ready(), time.thread_time_ns()
busy()
said = {"wall": time.monotonic_ns() - begin, "ready": ready() - ready_before,
        "ran": time.thread_time_ns() - ran_before}
for child in children: os.waitpid(child, 0)
nap()
print(json.dumps(said))
"""
# Where two threads share the GIL, each has its own processor time all the same.
SHARED = BURN + """
def sleeper():
    time.sleep(1.5)

thread = threading.Thread(target=sleeper); thread.start()
burn(1.0)
thread.join()
"""
FORKED = BURN + """
child = os.fork()
if child == 0:
    burn(0.8)
    os._exit(0)
os.waitpid(child, 0)
"""
ODD = BURN + """
def walk(depth):
    if depth: walk(depth - 1)
    else: burn(0.4)

def numbers():
    burn(0.4)
    yield 1

sys.setrecursionlimit(10000)
walk(900)
next(numbers())
exec(compile("def h\\u00f6hle():\\n  end = time.thread_time() + 0.5\\n  while time.thread_time() < end: pass\\nh\\u00f6hle()",
             "<\\u6d1e>", "exec"))
"""
NAME = "h\u00f6hle"
# Frames come and go at all times, so that looks meet them half way.
CALLS = """
import sys, time

def leaf(number):
    return [number * 2]

def deeper(depth):
    return deeper(depth - 1) if depth else sum(leaf(number)[0] for number in range(50))

def long_call():
    end, number = time.time() + 1.6, 0
    while time.time() < end:
        deeper(number % 12)
        number += 1

long_call()
"""
# What yields is entered and left all the time, by its caller or by the loop of asyncio.
YIELDS = """
import asyncio, time

def numbers():
    for number in range(1000): yield number

async def number():
    return 1

async def counted():
    for number in range(1000): yield number

async def awaits():
    return sum([await number() for _ in range(1000)]) + sum([number async for number in counted()])

def expression():
    return sum(number & 3 for number in range(1000))

def generator():
    return sum(numbers())

end = time.time() + 1.6
while time.time() < end:
    expression(); generator(); asyncio.run(awaits())
"""


class Sampled(InFolder):
    def record(self, python, program, *flags, code=0):
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(program)
        done = self.batchlight("profile", "-t", "python", "--pytorch=none", "-f", "-o", "run",
                               "--python-sampling-frequency=500", *flags, python, self.path("program.py"))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def functions(self):
        return {row["Function"].rpartition(".")[2]: row for row in self.table("python_samples")}

    def stacks_of(self, database_name):
        """Of each sample: (file, function) of its frames, innermost first."""
        with contextlib.closing(sqlite3.connect(self.path(database_name))) as database:
            texts = dict(database.execute("SELECT id, value FROM StringIds"))
            frames = {row: (texts[file], texts[function]) for row, file, function in
                      database.execute("SELECT row, file, function FROM BATCHLIGHT_PYTHON_FRAMES")}
            stacks = {row: (frames[frame], parent) for row, frame, parent in
                      database.execute("SELECT row, frame, parent FROM BATCHLIGHT_PYTHON_STACKS")}
            found = []
            for (stack,) in database.execute("SELECT python_stack FROM BATCHLIGHT_PYTHON_SAMPLES"
                                             " WHERE python_stack IS NOT NULL"):
                found.append([])
                while stack is not None:
                    frame, stack = stacks[stack]
                    found[-1].append(frame)
        return found

    def looks(self):
        """As many looks of one weight would tell as much: a tool that gets no processor looks less often, and
        each look then stands for more."""
        rows = [(int(sample.fields["samples"]), int(sample.fields.get("cpu_ns", 0)))
                for sample in dump(self.path("run.batchlight")) if sample.kind == "PythonSample"]
        return sum(ns for _, ns in rows) ** 2 / sum(ns ** 2 / max(1, looks) for looks, ns in rows)

    def expect_shares(self, python, program, least_ns):
        """On a machine that gives the tool no processor for half of the program, once more."""
        for _ in range(3):
            self.record(python, program)
            rows = self.functions()
            cpu = {name: rows.get(name, {}).get("Self CPU", 0) for name in SHARES}
            if sum(cpu.values()) > least_ns:
                break
        self.assertGreater(sum(cpu.values()), least_ns, rows)
        looks = self.looks()
        for name, share in SHARES.items():
            by_chance = 5 * math.sqrt(share * (1 - share) / looks)
            self.assertAlmostEqual(cpu[name] / sum(cpu.values()), share, delta=0.05 + by_chance,
                                   msg="%s, %.0f looks" % (cpu, looks))
        return rows


class EveryPython(Sampled):
    def test_functions_have_the_time_that_they_burned(self):
        for python in interpreters():
            with self.subTest(python=python):
                rows = self.expect_shares(python, SHARED, 700 * MS)
                self.assertGreater(rows["burn"]["Total CPU"], 700 * MS)
                self.assertEqual(rows["burn_six"]["Line"], 4)
                # A thread that sleeps is there for as long, and runs no time.
                self.assertGreater(rows["sleeper"]["Self"], 1000 * MS)
                self.assertLess(rows["sleeper"]["Self CPU"], 100 * MS)
                lines = [row for row in self.table("python_sample_lines") if row["Function"] == "burn_six"]
                # A call that has only begun is at its function's first line.
                self.assertTrue(all(row["Line"] in (4, 5, 6) for row in lines), lines)
                self.assertEqual([row["Line"] for row in lines][0], 6)

    def test_a_busy_function_without_a_processor_does_not_sleep(self):
        done = self.record(sys.executable, CROWDED)
        said = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
        rows = self.functions()
        # Of the three processes; two of them are like the one that said it.
        for part, key in (("No Processor", "ready"), ("Self CPU", "ran")):
            self.assertAlmostEqual(rows["busy"][part] / 3, said[key], delta=0.15 * said["wall"], msg=(rows["busy"], said))
        self.assertGreater(rows["busy"]["No Processor"], 0.5 * rows["busy"]["Self"])
        self.assertLess(rows["busy"]["Waited"], 0.1 * rows["busy"]["Self"])
        self.assertLess(rows["busy"]["GIL"], 0.05 * rows["busy"]["Self"])
        self.assertGreater(rows["nap"]["Waited"], 0.9 * rows["nap"]["Self"])
        folded = self.batchlight("export", "-t", "folded", "--stacks=python-samples", "-o", "-", "run.batchlight").stdout
        ends = {line.rpartition(";")[2].rpartition(" ")[0] for line in folded.splitlines() if ";busy " in line or ";nap " in line}
        self.assertLessEqual({"[waiting for a processor]", "[waiting]"}, ends, folded)

    def test_a_long_call_is_seen_without_holes(self):
        for python in interpreters():
            with self.subTest(python=python):
                self.record(python, CALLS, "--python-sampling-frequency=100")
                done = self.batchlight("export", "-f", "-t", "sqlite", "-o", "run.sqlite", "run.batchlight")
                self.assertEqual(done.returncode, 0, done.stderr)
                with contextlib.closing(sqlite3.connect(self.path("run.sqlite"))) as database:
                    looks = database.execute("SELECT start_ns, end_ns FROM BATCHLIGHT_PYTHON_SAMPLES"
                                             " ORDER BY start_ns").fetchall()
                self.assertGreater(looks[-1][1] - looks[0][0], 1500 * MS)
                holes = [after[0] - before[1] for before, after in zip(looks, looks[1:])]
                self.assertEqual([hole for hole in holes if hole > MS], [], looks)

    def test_what_yields_has_its_callers(self):
        for python in interpreters():
            with self.subTest(python=python):
                self.record(python, YIELDS, "--python-sampling-frequency=2000")
                done = self.batchlight("export", "-f", "-t", "sqlite", "-o", "run.sqlite", "run.batchlight")
                self.assertEqual(done.returncode, 0, done.stderr)
                stacks = self.stacks_of("run.sqlite")
                yielding = [stack for stack in stacks if stack[0][0] == self.path("program.py") and
                            stack[0][1].rpartition(".")[2] in ("<genexpr>", "numbers", "number", "counted", "awaits")]
                self.assertGreater(len(yielding), 30)
                # A look may fall between the two writes that hang a generator below its caller: one in a thousand.
                cut = [stack for stack in yielding if stack[-1][1] != "<module>"]
                self.assertLessEqual(len(cut), max(1, len(yielding) / 100), cut)

    def test_forked_children(self):
        for python in interpreters():
            with self.subTest(python=python):
                self.expect_shares(python, FORKED, 500 * MS)
                samples = [r for r in dump(self.path("run.batchlight")) if r.kind == "PythonSample"]
                self.assertEqual(len({r.fields["pid"] for r in samples}), 2)

    def test_deep_recursion_generators_and_other_names(self):
        for python in interpreters():
            with self.subTest(python=python):
                rows = self.expect_shares(python, ODD, 500 * MS)
                self.assertGreater(rows["walk"]["Total CPU"], 200 * MS)
                self.assertGreater(rows["numbers"]["Total CPU"], 200 * MS)
                self.assertGreater(rows[NAME]["Self CPU"], 250 * MS)
                self.assertEqual(rows[NAME]["File"], "<\u6d1e>")


class Off(Sampled):
    def test_by_flag_and_without_python(self):
        self.record(sys.executable, BURN + "burn(0.3)", "--python-sampling=false")
        done = self.batchlight("table", "python_samples", "run.batchlight")
        self.assertIn("profile --python-sampling", done.stdout + done.stderr)
        records = dump(self.path("run.batchlight"))
        self.assertEqual([r for r in records if r.kind in ("PythonSample", "PythonStack")], [])

    def test_what_the_program_prints_and_how_it_ends_is_its_own(self):
        program = BURN + "burn(0.2); print('out'); sys.exit(7)"
        alone = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        done = self.record(sys.executable, program, code=7)
        self.assertTrue(done.stdout.startswith(alone.stdout), done.stdout)
        # No thread of ours is in it.
        self.record(sys.executable, "import os; print('threads', len(os.listdir('/proc/self/task')))")

    def test_capture_windows_hold_their_own_samples(self):
        self.record(sys.executable, BURN + "burn(1.5)", "--delay=0.5", "--duration=0.5", "--kill=none")
        total = sum(row["Self"] for row in self.table("python_samples"))
        self.assertGreater(total, 200 * MS)
        self.assertLess(total, 800 * MS)


if __name__ == "__main__":
    unittest.main()
