"""Exact counts without `batchlight profile` in front: a region of a program (batchlight.exact),
`python -m batchlight run` and kernprof, the magics of notebooks. Each beside the tool that it has its
flags from, where Python brings that."""
import json
import os
import pstats
import re
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_hook_test import DEBIAN, interpreters  # noqa: E402
from python_session import PYTHON_PATH, alone  # noqa: E402
from recorded import (BATCHLIGHT, LONG_S, SHARED_PLACE, InFolder, mount_namespaces_work, run,  # noqa: E402
                      run_where_all_write_tmp)

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "counted_program.py")
PATHS = {"PYTHONPATH": os.pathsep.join((PYTHON_PATH, HERE))}
REGION = """
import sys, json
import counted_program as p
from batchlight import exact
import cProfile, pstats

def shape(profile):
    pstats.Stats(profile)
    profile.create_stats()
    return sorted([*key, *value[:2], sorted([*caller, *made[:2]] for caller, made in value[4].items())]
                  for key, value in profile.stats.items()
                  if "lsprof" not in key[2] and "frozen" not in key[0])

def counted(profile):
    profile.enable(); p.main(); profile.disable()
    return shape(profile)

theirs = counted(cProfile.Profile())
first, second = counted(exact.Profile()), counted(exact.Profile())
plain = counted(exact.Profile(builtins=False))
lines = exact.Profile(lines=[p.fib])
with lines: p.fib(15)
again = exact.Profile(lines=[p.loop, p.Raises])
with again: p.loop(100)
p.loop(100)  # not in a region
with again: p.loop(100)
json.dump(dict(theirs=theirs, first=first, second=second, plain=plain,
               lines=[[row["Line #"], row["Hits"]] for row in lines.line_rows()],
               again=[[row["Line #"], row["Hits"]] for row in again.line_rows() if row["Hits"]]),
          sys.stdout)
"""


class Region(unittest.TestCase):
    maxDiff = 2000

    def test_equal_to_cprofile(self):
        for python in interpreters():
            with self.subTest(python):
                done = alone(python, "-c", REGION, env=PATHS)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                found = json.loads(done.stdout)
                self.assertGreater(len(found["theirs"]), 20)
                self.assertEqual(found["first"], found["theirs"])
                self.assertEqual(found["second"], found["theirs"])
                self.assertEqual([row[:5] for row in found["plain"]],
                                 [row[:5] for row in found["theirs"] if row[0] != "~"])
                self.assertEqual(found["lines"], [[7, 0], [8, 1973]])
                self.assertEqual(found["again"], [
                    [96, 2], [97, 202], [98, 200], [99, 100], [101, 100], [102, 2]])

    def test_inside_a_recording(self):
        """The session's own counts go on, the region has its part of them."""
        code = ("import counted_program as p\n"
                "from batchlight import exact\n"
                "p.fib(10)\n"
                "with exact.Profile() as profile: p.fib(8)\n"
                "p.fib(5)\n"
                "print({key[2]: value[1] for key, value in profile._sums.items()}['fib'])\n")
        with tempfile.TemporaryDirectory() as folder:
            recording = os.path.join(folder, "run.batchlight")
            done = run(BATCHLIGHT, "profile", "--python-trace=functions", "--pytorch=none", "-o",
                       recording, DEBIAN, "-c", code, env=dict(os.environ, PYTHONPATH=HERE))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.split()[0], "67")
            rows = json.loads(run(BATCHLIGHT, "table", "python_functions", "-f", "json", recording).stdout)
            calls = {row["filename:lineno(function)"]: row["ncalls"] for row in rows}
            self.assertEqual(calls[PROGRAM + ":7(fib)"], 177 + 67 + 15)

    def test_a_child_that_lives_on_holds_up_nobody(self):
        code = ("import os, time\n"
                "from batchlight import exact\n"
                "with exact.Profile(): sum(range(10))\n"
                "if os.fork() == 0:\n"
                "    os.close(1); os.close(2)\n"
                "    time.sleep(20)\n"
                "    os._exit(0)\n")
        begin = time.monotonic()
        done = alone(DEBIAN, "-c", code, env=PATHS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLess(time.monotonic() - begin, 15)

    def test_run_prints_as_cprofile_does(self):
        code = ("import batchlight.exact as cProfile\n"
                "import counted_program\n"
                "cProfile.run('counted_program.fib(10)', sort='calls')\n")
        done = alone(DEBIAN, "-c", code, env=PATHS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"Ordered by: call count")
        self.assertRegex(done.stdout, r"\n +177/1 .* counted_program.py:7\(fib\)\n")


class FrontEnds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def script(self, text, name="script.py"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        return path

    def batchlight(self, *words):
        return alone(DEBIAN, "-m", "batchlight", *words, env=PATHS, cwd=self.folder)

    def well(self, *words):
        done = self.batchlight(*words)
        self.assertEqual((done.returncode, SHARED_PLACE.sub("", done.stderr)), (0, ""))
        return done.stdout

    def rows(self, text):
        """name -> ncalls of what pstats printed."""
        return {name: calls for calls, name in re.findall(
            r"^ +(\d+(?:/\d+)?) .* (counted_program.py:\S+|\{built-in method builtins.sorted\})$", text, re.M)}

    def test_run(self):
        theirs = self.rows(alone(DEBIAN, "-m", "cProfile", PROGRAM).stdout)
        self.assertGreater(len(theirs), 20)
        ours = self.rows(self.well("run", PROGRAM))
        self.assertIn("{built-in method builtins.sorted}", ours)
        python = {name: calls for name, calls in theirs.items() if "{" not in name}
        self.assertEqual({name: calls for name, calls in ours.items() if "{" not in name}, python)
        self.assertEqual(self.rows(self.well("run", "--no-builtins", PROGRAM)), python)

    def test_runs_arguments_output_and_status(self):
        script = self.script("""
            import sys
            print(sys.argv[1:], __name__, flush=True)
            sys.exit(3)
        """)
        done = self.batchlight("run", "-o", "out.prof", script, "-o", "x")
        self.assertEqual((done.returncode, done.stdout), (3, "['-o', 'x'] __main__\n"))
        stats = pstats.Stats(os.path.join(self.folder, "out.prof")).stats
        self.assertIn((script, 1, "<module>"), stats)
        done = self.batchlight("run", "-s", "calls", "-c", "print(1)")
        self.assertTrue(done.stdout.startswith("1\n"), done.stdout)
        self.assertIn("Ordered by: call count", done.stdout)
        self.assertIn("one of", self.batchlight("run", "-s", "nothing", script).stderr)

    def test_kernprof_lines(self):
        script = self.script("""
            import helper
            @profile
            def work(n):
                total = 0
                for i in range(n):
                    total += helper.half(i)
                return total
            def other():
                return 1
            work(10); other()
        """)
        self.script("def half(i):\n    return i / 2\n", "helper.py")
        text = self.well("kernprof", "-l", "-v", script)
        self.assertIn("Wrote profile results to script.py.lprof\n", text)
        self.assertRegex(text, r"\n +7 +10 .* total \+= helper.half\(i\)\n")
        self.assertNotIn("def other", text)
        self.assertGreater(os.path.getsize(os.path.join(self.folder, "script.py.lprof")), 50)
        text = self.well("kernprof", "-lv", "-u", "1e-9", "-p", "helper,%s" % script, "-o", "x.lprof", script)
        self.assertIn("Timer unit: 1e-09 s", text)
        self.assertRegex(text, r"\n +2 +10 .* return i / 2\n")
        self.assertRegex(text, r"\n +10 +1 .* return 1\n")

    @unittest.skipUnless(mount_namespaces_work(), "no user namespaces here")
    def test_kernprof_where_all_write_tmp(self):
        for place in ("", "/tmp/mine"):
            done = run_where_all_write_tmp(
                DEBIAN, "-c", "open('script.py', 'w').write('def work(): pass\\nwork()\\n')\n"
                "import runpy, sys\nsys.argv = ['batchlight', 'kernprof', '-v', 'script.py']\n"
                "runpy.run_module('batchlight', run_name='__main__', alter_sys=True)",
                env=dict(os.environ, TMPDIR=place, **PATHS))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("script.py:1(work)", done.stdout)
            said = SHARED_PLACE.findall(done.stderr)
            self.assertEqual(len(said), 1, done.stderr)
            self.assertIn("in %s: /tmp can be written by other users; set TMPDIR" % (place or "/tmp"), said[0])

    def test_what_lies_under_kernprofs_name_is_replaced(self):
        script = self.script("def work(): pass\nwork()\n")
        for put in (os.mkfifo, lambda path: os.symlink("/dev/full", path), lambda path: None):
            path = os.path.join(self.folder, "script.py.prof")
            put(path)
            self.well("kernprof", script)
            self.assertTrue(stat.S_ISREG(os.lstat(path).st_mode))
            self.assertIn((script, 1, "work"), pstats.Stats(path).stats)
            os.unlink(path)
        self.assertEqual(os.listdir(self.folder), ["script.py"])

    def test_kernprof_of_the_functions_that_take_most(self):
        script = self.script("""
            import time
            def hot():
                end = time.thread_time() + 0.8
                while time.thread_time() < end:
                    sum([i for i in range(100)])
            def cold():
                return 1
            def main():
                cold()
                hot()
            main()
        """)
        text = self.well("kernprof", "-l", "-v", "--top", "3", script)
        self.assertRegex(text, r"\n +6 +\d+ .* sum\(\[i for i in range\(100\)\]\)\n")
        self.assertRegex(text, r"\n +11 +1 .*  hot\(\)\n")  # of main; the script only calls it
        self.assertEqual(text.count("Total time:"), 2, text)
        self.assertNotIn("Function: cold", text)
        self.assertEqual(self.batchlight("profile", "-o", "first", "--pytorch=none", DEBIAN, script).returncode, 0)
        text = self.well("kernprof", "-lv", "--top", "1", "--top-of", "first.batchlight", script)
        self.assertEqual(text.count("Total time:"), 1, text)
        self.assertIn("Function: hot", text)
        flat = self.script("""
            import time
            end = time.thread_time() + 0.5
            while time.thread_time() < end:
                sum([i for i in range(100)])
        """)
        text = self.well("kernprof", "-lv", "--top", "1", flat)
        self.assertIn("Function: <module>", text)
        self.assertIn("--top needs -l", self.batchlight("kernprof", "--top", "3", script).stderr)

    def test_kernprof_with_memory(self):
        """memory_profiler's table below line_profiler's, and its decorator is ours."""
        self.script("def profile(*_, **__):\n    raise SystemExit('theirs')\n", "memory_profiler.py")
        script = self.script("""
            from memory_profiler import profile as decorated
            @profile
            def keep():
                return [bytes(1 << 20) for _ in range(30)]
            @decorated(precision=4)
            def let_go():
                for _ in range(20):
                    bytes(1 << 20)
            @decorated
            def nothing():
                return 1
            kept = keep(); let_go(); nothing()
        """)
        text = self.well("kernprof", "-l", "-v", "--python-memory=exact", script)
        self.assertIn("Line #    Mem usage    Increment  Occurrences   Line Contents\n", text)
        self.assertRegex(text, r"\n +5 +[\d.]+ MiB +30\.\d+ MiB +\d+ +return \[bytes")
        self.assertRegex(text, r"\n +9 +[\d.]+ MiB +-?0\.0\d+ MiB +20 +bytes\(1 << 20\)\n")
        self.assertRegex(text, r"\n +12 .* return 1\n")
        self.assertNotIn("Mem usage", self.well("kernprof", "-l", "-v", self.script("""
            @profile
            def keep():
                return 1
            keep()
        """)))

    def test_kernprof_regions(self):
        script = self.script("""
            import counted_program as p
            p.fib(10)
            with profile:
                p.fib(5)
            @profile
            def work():
                p.fib(8)
            work()
            profile.enable(); p.fib(3); profile.disable()
        """)
        text = self.well("kernprof", "-b", "-v", script)
        self.assertIn("Wrote profile results to script.py.prof\n", text)
        self.assertRegex(text, r"\n +%d/3 .*counted_program.py:7\(fib\)\n" % (15 + 67 + 5))
        text = self.well("kernprof", "-v", script)
        self.assertRegex(text, r"\n +%d/4 .*counted_program.py:7\(fib\)\n" % (177 + 15 + 67 + 5))

    def test_kernprof_takes_nothing_from_the_present_folder(self):
        """It may be anybody's, as /tmp is."""
        script = self.script("@profile\ndef work():\n    return 1\nwork()\n")
        present = os.path.join(self.folder, "present")
        os.mkdir(present)
        for name in ("line_profiler", "functools", "types", "batchlight", "runpy"):
            self.script("open(%r, 'w')" % os.path.join(self.folder, "taken"), "present/%s.py" % name)
        for kind in (["-l"], ["-b"], []):
            done = alone(BATCHLIGHT, "kernprof", *kind, script, cwd=present)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("taken", os.listdir(self.folder))

    def test_kernprof_takes_nothing_by_a_relative_search_path(self):
        """`export PYTHONPATH=$PYTHONPATH:/x` makes an empty entry, which is the present folder, where none was set."""
        present = os.path.join(self.folder, "present")
        os.mkdir(present)
        script = self.script("import os\nprint(os.environ['PYTHONPATH'])\n")
        for name in ("sitecustomize", "tempfile"):
            self.script("import sys\nif 'kernprof' in sys.orig_argv:\n"
                        "    open(%r, 'w')\n" % os.path.join(self.folder, "taken"), "present/%s.py" % name)
        for path in (":/x", "/x:", ".", "/x:present/../:/y"):
            done = alone(BATCHLIGHT, "kernprof", script, cwd=present, env={"PYTHONPATH": path})
            self.assertNotIn("taken", os.listdir(self.folder), path)
            self.assertIn(path + "\n", done.stdout)  # the program's own

    def test_descriptors_of_two_digits(self):
        script = self.script("import sys; print(sys.argv[1:], file=sys.stderr); sys.exit(3)")
        held = [os.open("/dev/null", os.O_RDONLY) for _ in range(10)]
        try:
            done = run(DEBIAN, "-m", "batchlight", "run", "-o", "out.prof", script, "x",
                       env=dict(os.environ, **PATHS), cwd=self.folder, pass_fds=held)
        finally:
            for fd in held:
                os.close(fd)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("['x']", done.stderr)

    def test_kernprof_refuses_what_it_cannot(self):
        script = self.script("pass")
        for words, why in ((["-r"], "no colours"), (["-i"], "while it is written"),
                           (["-l", "--prof-imports"], "-p"), (["-p", "x"], "-l")):
            done = self.batchlight("kernprof", *words, script)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)

    def test_magics(self):
        text = alone(DEBIAN, "-c", textwrap.dedent("""
            import batchlight, counted_program as p
            class Shell:
                user_ns = {"p": p}
                magics = {}
                def register_magic_function(self, function, kind):
                    self.magics[function.__name__] = function
            shell = Shell()
            batchlight.load_ipython_extension(shell)
            shell.magics["lprun"]("-f p.fib -f p.loop x = p.fib(15)")
            shell.magics["lprun"]("-f p.even", "p.even(4)\\np.even(2)")
            shell.magics["cprun"]("-s calls -l 3 p.fib(10)")
            assert shell.user_ns["x"] == 610
            try:
                shell.magics["lprun"]("-f p.missing 1")
            except ValueError as error:
                print(error)
        """), env=PATHS)
        self.assertEqual((text.returncode, text.stderr), (0, ""))
        self.assertRegex(text.stdout, r"\n +8 +1973 .* return n if n < 2")
        self.assertRegex(text.stdout, r"\n +12 +5 .* return n == 0 or odd")
        self.assertRegex(text.stdout, r"\n +177/1 .* counted_program.py:7\(fib\)\n")
        self.assertIn("-f p.missing: AttributeError", text.stdout)


class AsTheProgram(InFolder):
    """kernprof and run in the place of the program, for whoever started it."""
    FRONT_ENDS = (["kernprof"], ["kernprof", "-l"])

    def front_ends(self):
        for words in self.FRONT_ENDS:
            yield [BATCHLIGHT] + words
        yield [DEBIAN, "-m", "batchlight", "run"]

    def setUp(self):
        super().setUp()
        self.environment["PYTHONPATH"] = PYTHON_PATH
        self.environment["PATH"] = os.path.dirname(BATCHLIGHT) + ":/usr/bin:/bin"

    def write(self, text):
        with open(self.path("program.py"), "w") as file:
            file.write(text)

    def test_runs_where_outputs_are_closed_and_fails_as_it_does(self):
        self.write("import sys; open('ran', 'w').close(); sys.exit(7)\n")
        for words in self.front_ends():
            for closed in (1, 2):
                with self.subTest(words=words, closed=closed):
                    done = subprocess.run(["/bin/sh", "-c", 'exec "$@" %d>&-' % closed, "sh", *words, "program.py"],
                                          cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LONG_S)
                    self.assertEqual(done.returncode, 7)
                    os.remove(self.path("ran"))

    def test_a_folder_that_gets_the_name_of_ours_is_left_alone(self):
        """The program here exchanges names in its own TMPDIR."""
        place = self.path("own")
        thesis = os.path.join(place, "thesis")
        os.makedirs(os.path.join(thesis, "deep"))
        os.chmod(place, 0o700)
        work = os.path.join(thesis, "deep", "work.txt")
        with open(work, "w") as file:
            file.write("years of it")
        program = self.path("exchanges.py")
        with open(program, "w") as file:
            file.write(textwrap.dedent("""
                import os
                ours, = (name for name in os.listdir(%r) if name.startswith("batchlight"))
                os.rename(os.path.join(%r, ours), %r + "/away")
                os.rename(%r, os.path.join(%r, ours))
            """) % (place, place, place, thesis, place))
        for words in self.front_ends():
            with self.subTest(words=words):
                done = run(*words, program, cwd=self.folder, env=dict(self.environment, TMPDIR=place))
                self.assertNotEqual(done.returncode, 0, "its recording is away")
                taken, = (name for name in os.listdir(place) if name.startswith("batchlight"))
                os.rename(os.path.join(place, taken), thesis)
                self.assertTrue(os.path.exists(work), os.listdir(place))
                subprocess.run(["rm", "-r", os.path.join(place, "away")])

    def test_nothing_is_made_where_others_may_exchange_names(self):
        place = self.path("anybodys")
        os.mkdir(place)
        os.chmod(place, 0o777)
        program = self.path("looks.py")
        with open(program, "w") as file:
            file.write("import os; print(os.listdir(%r))" % place)
        for words in self.front_ends():
            with self.subTest(words=words):
                done = run(*words, program, cwd=self.folder, env=dict(self.environment, TMPDIR=place))
                self.assertTrue(done.stdout.startswith("[]\n"), done.stdout + done.stderr)

    def test_results_are_written_without_a_folder_beside_them(self):
        place = self.path("results")
        os.mkdir(place)
        with open(os.path.join(place, "s.py"), "w") as file:
            file.write("def f(): pass\nf()\n")
        seen = set()
        child = subprocess.Popen([BATCHLIGHT, "kernprof", "-v", "s.py"], cwd=place, stdout=subprocess.PIPE)
        while child.poll() is None:
            with os.scandir(place) as entries:
                seen.update(entry.name for entry in entries if entry.is_dir())
        self.assertEqual((child.returncode, seen), (0, set()))
        self.assertIn(b"s.py:1(f)", child.stdout.read())
        child.stdout.close()
        self.assertEqual(sorted(os.listdir(place)), ["s.py", "s.py.prof"])
        self.assertTrue(pstats.Stats(os.path.join(place, "s.py.prof")).stats)

    def test_variables_that_no_shell_takes(self):
        """Environment modules and Lmod export functions, Kubernetes names with dots."""
        self.write("import os, sys\n"
                   "print(os.environ.get('a.b'), os.environ.get('BASH_FUNC_f%%'),\n"
                   "      [name for name in os.environ if 'STDERR' in name], file=sys.stderr)\n")
        odd = {"a.b": "c", "BASH_FUNC_f%%": "() { :; }"}
        for words in ([BATCHLIGHT, "kernprof"], [DEBIAN, "-m", "batchlight", "run"]):
            with self.subTest(words=words):
                done = run(*words, "program.py", cwd=self.folder, env=dict(self.environment, **odd))
                self.assertEqual((done.returncode, done.stderr), (0, "c () { :; } []\n"))

    def test_a_recording_whose_results_cannot_be_written_is_kept(self):
        self.write("import sys; sys.exit(7)\n")
        done = subprocess.run([BATCHLIGHT, "kernprof", "-o", "/nowhere/x", "program.py"], cwd=self.folder,
                              env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=LONG_S)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("the recording is kept: x.batchlight", done.stderr)
        self.assertNotIn("batchlight: batchlight:", done.stderr)
        self.assertTrue(os.path.exists(self.path("x.batchlight")))

    def test_names_of_files_do_nothing_to_a_terminal(self):
        self.write("import builtins\n"
                   "@getattr(builtins, 'profile', lambda function: function)\n"
                   "def called():\n"
                   "    return '\033]0;y\007'\n"
                   "called()\n")
        os.rename(self.path("program.py"), self.path("a\033]0;x\007.py"))
        for flags, shown in (((), b"Wrote profile results to a"), (("-v",), b"function calls"), (("-lv",), b"return '")):
            ours, theirs = os.openpty()
            try:
                done = subprocess.run([BATCHLIGHT, "kernprof", *flags, "a\033]0;x\007.py"], cwd=self.folder,
                                      env=self.environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                                      timeout=LONG_S)
                os.close(theirs)
                self.assertEqual(done.returncode, 0)
                said = b"".join(iter(lambda: self.read_from(ours), b""))
            finally:
                os.close(ours)
            self.assertIn(shown, said)
            self.assertNotIn(b"\033", said)

    @staticmethod
    def read_from(terminal):
        try:
            return os.read(terminal, 4096)
        except OSError:  # nobody writes to it any more
            return b""

    def test_a_signal_for_it_reaches_the_program(self):
        self.write("import signal, sys, time\n"
                   "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
                   "open('ready', 'w').close()\n"
                   "time.sleep(600)\n")
        for words in self.front_ends():
            with self.subTest(words=words):
                tool = subprocess.Popen([*words, "program.py"], cwd=self.folder, env=self.environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
                self.until(lambda: os.path.exists(self.path("ready")), "the program does not run")
                os.remove(self.path("ready"))
                tool.send_signal(signal.SIGTERM)
                self.assertEqual(tool.wait(LONG_S), 5)


if __name__ == "__main__":
    unittest.main()
