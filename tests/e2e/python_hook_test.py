"""The way into Python: every version and way of starting, and that the program does not notice."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_session import SOURCE, PythonSession, alone  # noqa: E402

DEBIAN = "/usr/bin/python3"


def interpreters():
    root = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    found = [DEBIAN]
    for minor in range(8, 15):
        paths = sorted(glob.glob("%s/versions/3.%d.*/bin/python3" % (root, minor)))
        for free_threaded in (False, True):
            found += [path for path in paths if ("t/bin" in path) == free_threaded][-1:]
    if not any("t/bin" in path for path in found):
        found.append(os.environ.get("BATCHLIGHT_FREE_THREADED_PYTHON", ""))
    if not any("/3.14" in path for path in found):
        found.append(shutil.which("python3.14") or "")
    return [path for path in found if os.path.exists(path)]


def is_free_threaded(python):
    """Whether it runs without a GIL."""
    return subprocess.run([python, "-c", "import sys; sys.exit(getattr(sys, '_is_gil_enabled', lambda: True)())"],
                          stdin=subprocess.DEVNULL).returncode == 0


MARK = "import batchlight; batchlight.mark('here'); print('ran')"


class EveryInterpreter(unittest.TestCase):
    def check_recorded(self, session, done, marks=1):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(session.events("Mark")), marks, session.reasons())
        self.assertEqual(session.reasons(), [])

    def test_ways_to_start(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "marking.py")
            with open(script, "w") as file:
                file.write(MARK)
            for python in interpreters():
                for arguments in (["-c", MARK], [script], ["-I", "-S", "-c", MARK],
                                  ["-E", "-s", "-B", script], ["-X", "dev", "-c", MARK],
                                  ["-W", "error", "-c", MARK]):
                    with PythonSession() as session:
                        self.check_recorded(session, session.run(python, *arguments))
                with PythonSession() as session:
                    self.check_recorded(session, session.run(python, "-m", "marking", cwd=folder))
                with PythonSession() as session, open(script) as stdin:
                    self.check_recorded(session, session.run(python, stdin=stdin))

    def test_version_and_events(self):
        code = ("import _batchlight_native as n\n"
                "class Linear: pass\n"
                "module, names = Linear(), {}\n"
                "enter = n.module_enter_by(names)\n"
                "assert type(enter(module)) is int  # it has no name yet\n"
                "assert n.module_named('encoder.0', 'Linear') is True\n"
                "n.phase_begin(1, 'b'); n.phase_end(); n.module_leave()\n"
                "names[id(module)] = ('encoder.1', 'Linear', None)\n"
                "assert enter(module) is True and enter(module) is None\n"
                "n.module_leave(); n.module_leave(); n.name_thread('worker')\n")
        for python in interpreters():
            with PythonSession() as session:
                self.assertEqual(session.run(python, "-c", code).returncode, 0)
                kinds = [event.kind for event in
                         session.events("ModuleBegin", "ModuleEnd", "PhaseBegin", "PhaseEnd")]
                first = kinds.index("ModuleBegin")  # the interpreter's own stand around these
                kinds = kinds[first:first + 4]
                self.assertEqual(kinds, ["ModuleBegin", "PhaseBegin", "PhaseEnd", "ModuleEnd"])
                self.assertEqual([(begin.path, begin.class_name)
                                  for begin in session.events("ModuleBegin")],
                                 [("encoder.0", "Linear")] + [("encoder.1", "Linear")] * 2)
                self.assertIn("worker", [event.name for event in session.events("ThreadName")])
                version = alone(python, "-c", "import sys; print(sys.version.split()[0])").stdout.strip()
                properties = session.properties()
                if is_free_threaded(python):
                    self.assertEqual(properties.get("python.gil"), "none")
                    version += " free-threaded"
                self.assertEqual(properties["python.version"], version)

    def test_calls_of_modules_have_no_frame(self):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "module_calls.py")
        for python in interpreters():
            with self.subTest(python=python), PythonSession() as session:
                done = session.run(python, program)
                self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "done\n"))
                events = session.events("ModuleBegin", "ModuleEnd")
                paths = [event.path for event in events if event.kind == "ModuleBegin"]
                self.assertEqual(paths[:3], ["outer", "inner", "inner"])
                self.assertEqual(len(paths), 4 * 20 * 3 + 2 + 2 + 4 * 3 + 3 * 3 + 2 + 1)
                self.assertEqual(len(events), 2 * len(paths))

    def test_imports_start_and_end(self):
        code = ("import threading\n"
                "import wave\n"          # in no start-up of Python
                "import wave\n"
                "__import__('wave')\n"
                "try: import nothing_of_that_name\n"
                "except ImportError: pass\n")
        for python in interpreters():
            with PythonSession() as session:
                done = session.run(python, "-c", code)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                phases = [(event.phase, event.name) for event in session.events("PhaseBegin")]
                self.assertEqual(phases[0], (18, "python start"))
                self.assertEqual(phases[-1], (19, "end of main program"))
                imports = [name for phase, name in phases if phase == 14]
                self.assertEqual(imports.count("wave"), 1)  # loaded once
                self.assertIn("nothing_of_that_name", imports)
                self.assertEqual(len(phases), len(session.events("PhaseEnd")))

    def test_shared_libraries_belong_to_the_import_that_they_came_with(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "loads.py"), "w") as file:
                # A library of glibc that nothing needs; colorsys comes after it and has none.
                file.write("import ctypes\nctypes.CDLL('libBrokenLocale.so.1')\nimport colorsys\n")
            for python in interpreters():
                with self.subTest(python=python), PythonSession() as session:
                    done = session.run(python, "-c", "import sys; sys.path.insert(0, %r)\n"
                                       "import loads\nimport wave\n" % folder)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    files, open_phases = {}, []
                    for event in session.events("PhaseBegin", "PhaseEnd", "ImportedFile"):
                        if event.kind == "PhaseBegin":
                            open_phases.append(event.name)
                        elif event.kind == "PhaseEnd":
                            open_phases.pop()
                        else:
                            files.setdefault(open_phases[-1], []).append(os.path.basename(event.file))
                            self.assertEqual(event.bytes, os.path.getsize(event.file))
                    self.assertEqual(sorted(files["loads"]), ["libBrokenLocale.so.1", "loads.py"])
                    self.assertEqual(files["colorsys"], ["colorsys.py"])
                    self.assertEqual(files["wave"], ["wave.py"])
                    # An extension's file is a library too, and comes with those that it needs.
                    self.assertTrue([file for file in files["_ctypes"] if file.startswith("_ctypes.")])
                    everywhere = [file for of_one in files.values() for file in of_one]
                    self.assertEqual(everywhere.count("libBrokenLocale.so.1"), 1)

    def test_tracebacks_of_imports(self):
        # What Python prints of an import that fails is the same with and without us; before 3.11 a
        # call from Python code (import_module) has one more line.
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("failing", "raise ValueError('mine')\n"), ("wrong", "a b\n"),
                               ("outer", "import failing\n"),
                               ("warns", "import warnings; warnings.warn('w', stacklevel=2)\n")):
                with open(os.path.join(folder, name + ".py"), "w") as file:
                    file.write(text)
            for python in interpreters():
                for name in ("failing", "wrong", "outer", "warns", "nothing.there"):
                    code = "import sys; sys.path.insert(0, %r)\nimport %s\n" % (folder, name)
                    with self.subTest(python=python, name=name), PythonSession() as session:
                        expected = alone(python, "-c", code)
                        done = session.run(python, "-c", code)
                        self.assertEqual((done.returncode, done.stderr),
                                         (expected.returncode, expected.stderr))

    def test_arguments_of_any_kind(self):
        # Whatever a program passes, a call neither raises nor crashes.
        code = ("import _batchlight_native as n, batchlight as b\n"
                "odd = [None, '', 'x' * 100000, '\\ud800', 'h\\u00e9', 7, -1, 1 << 70, 1.5, b'b',\n"
                "       object(), [1], float('nan')]\n"
                "for name in dir(n):\n"
                "    if name.startswith('_') or name in ('options', 'profile_stop'): continue\n"
                "    for value in odd:\n"
                "        for count in range(7): getattr(n, name)(*[value] * count)\n"
                "for value in odd:\n"
                "    with b.annotate(value, color=value, payload=value): b.mark(value)\n"
                "print('done')\n")
        for python in interpreters():
            with PythonSession() as session:
                done = session.run(python, "-c", code)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))

    def test_what_wrappers_hold_is_written_by_reference(self):
        # dill writes all that a function could use; Python's own builtins, and no copy of ours, by their name.
        code = ("import builtins\nfrom _batchlight._bridge._importlib_bootstrap import followed_by, phase\n"
                "for wrapped in (phase(print, 1, 'x', bool), phase(print, 1, str, bool), followed_by(print, bool)):\n"
                "    held = wrapped.__globals__\n"
                "    print(sorted(held), held['__builtins__'] is vars(builtins))\n")
        for python in interpreters():
            with self.subTest(python), PythonSession() as session:
                done = session.run(python, "-c", code)
                self.assertEqual((done.stdout, done.stderr), ("['__builtins__', '__name__'] True\n" * 3, ""))

    def test_program_does_not_notice(self):
        programs = [
            "import sys; print(sys.argv, sys.flags, sys.warnoptions); sys.exit(3)",
            "raise ValueError('mine')",
            "import os; print('out', flush=True); os._exit(4)",
            "import sys; sys.exit('a message')",
            "import atexit; atexit.register(print, 'bye'); 1 / 0",
            "import sys; print([p for p in sys.path if 'share/batchlight' not in p])",
            "import sys; print(sorted(m for m in sys.modules if 'batchlight' not in m))",
            "import warnings; warnings.warn('careful')",
            "import threading; t = threading.Thread(target=lambda: 1 / 0, name='t'); t.start()",
            "import threading; print(threading.Thread(name='n').name)",
            "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
            "import gc; gc.collect(); print(gc.garbage)",
            "import nothing_of_that_name",
            "import signal\nfor n in signal.valid_signals():\n    print(n, h := signal.getsignal(n))\n"
            "    if n not in (signal.SIGKILL, signal.SIGSTOP) and h is not None: signal.signal(n, h)",
            "import builtins\nfirst = builtins.__import__\ndef tell(*what):\n    print(what[0], what[3:])\n"
            "    return first(*what)\nbuiltins.__import__ = tell\nbuiltins.open = None\n"
            "import threading, colorsys\nt = threading.Thread(target=print, name='t'); t.start(); t.join()",
            # What coverage.py, Hypothesis, reloaders and the like take for files of the program.
            "import sys, threading, subprocess\n"
            "print(sorted(m.__file__ for m in sys.modules.values() if getattr(m, '__file__', None)))",
            "import sys, threading\nseen = set()\ndef see(frame, *_): seen.add(frame.f_code.co_filename)\n"
            "sys.settrace(see); threading.settrace(see)\nimport colorsys\n"
            "t = threading.Thread(target=len, args=('',), name='t'); t.start(); t.join()\n"
            "t.name = 'other'; sys.settrace(None)\nprint(sorted(f for f in seen if f[0] != '<'))",
            # A debugger that leaves importing out, at an import.
            "import bdb\nclass Steps(bdb.Bdb):\n    def user_call(self, frame, _):\n"
            "        print(frame.f_code.co_name, frame.f_globals.get('__name__'))\n"
            "    def user_line(self, frame): print(frame.f_lineno); self.set_step()\n"
            "def work():\n    import colorsys\n    return 1\n"
            "Steps(skip=['importlib*', 'zipimport', 'encodings*', 'colorsys']).runcall(work)",
        ]
        for python in interpreters():
            for program in programs:
                for flags in ([], ["-W", "error", "-I"]):
                    with self.subTest(program=program), PythonSession() as session:
                        expected = alone(python, *flags, "-c", program, "argument")
                        done = session.run(python, *flags, "-c", program, "argument")
                        self.assertEqual(
                            (done.returncode, done.stdout, done.stderr),
                            (expected.returncode, expected.stdout, expected.stderr))

    def test_debugging_allocators(self):
        for python in interpreters():
            # Free-threaded builds have no other allocator than their own.
            for value in ("debug",) if is_free_threaded(python) else ("debug", "malloc", "malloc_debug"):
                with self.subTest(python=python, value=value), PythonSession() as session:
                    self.check_recorded(
                        session, session.run(python, "-c", MARK, env={"PYTHONMALLOC": value}))

    def test_copies_of_variables_are_found_and_not_made(self):
        code = ("import sys, _batchlight_native as n\n"
                "def ask():\n"
                "    frame = sys._getframe()\n"
                "    before, kept = n.variables_of(frame), frame.f_locals\n"
                "    return before is None and n.variables_of(frame) is kept\n"
                "def asks(): yield from (ask(), ask())\n"
                "assert all([ask(), *asks()]) or n.variables_of(sys._getframe()) in (None, False)\n"
                "assert sys.version_info >= (3, 13) or ask()\n")
        for python in interpreters():
            with PythonSession() as session:
                done = session.run(python, "-c", code)
                self.assertEqual((done.returncode, done.stderr), (0, ""), python)

    def test_multiprocessing(self):
        code = ("import multiprocessing, os, sys, batchlight\n"
                "def work(n):\n"
                "    batchlight.mark('in child'); return n * n\n"
                "if __name__ == '__main__':\n"
                "    context = multiprocessing.get_context(sys.argv[1])\n"
                "    with context.Pool(2) as pool: print(pool.map(work, range(4)))\n")
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "pool.py")
            with open(script, "w") as file:
                file.write(code)
            for python in interpreters():
                for method in ("spawn", "fork", "forkserver"):
                    with self.subTest(method=method), PythonSession() as session:
                        done = session.run(python, script, method)
                        self.assertEqual((done.returncode, done.stdout, done.stderr),
                                         (0, "[0, 1, 4, 9]\n", ""))
                        marks = session.events("Mark")
                        self.assertEqual(len(marks), 4)
                        pids = {process.pid for process in session.processes()}
                        # Proper subset: none is of the program's first process.
                        self.assertLess({event.chunk.pid for event in marks}, pids)

    def test_virtual_environment(self):
        for python in (DEBIAN, interpreters()[-1]):
            with tempfile.TemporaryDirectory() as folder:
                made = alone(python, "-m", "venv", "--without-pip", folder)
                if made.returncode != 0:
                    self.skipTest("this Python makes no virtual environments")
                with PythonSession() as session:
                    self.check_recorded(
                        session, session.run(os.path.join(folder, "bin", "python"), "-c", MARK))

    def test_threads_by_name(self):
        code = ("import threading\n"
                "t = threading.Thread(target=print, args=('x',), name='loader-7')\n"
                "t.start(); t.join()\n")
        for python in interpreters():
            with PythonSession() as session:
                session.run(python, "-c", code)
                self.assertIn("loader-7", [e.name for e in session.events("ThreadName")])

    def test_threads_whose_name_is_code_of_the_program(self):
        """Nobody asks for it while a thread starts: start() would wait for ever where it fails or waits."""
        code = ("import threading\n"
                "lock = threading.Lock()\n"
                "class Late(threading.Thread):\n"
                "    name = property(lambda self: 'late-%d' % self.number)\n"
                "    def run(self): self.number = 3\n"
                "class Locked(threading.Thread):\n"
                "    @property\n"
                "    def name(self):\n"
                "        with lock: return 'locked'\n"
                "    @property\n"
                "    def ident(self): print('ident'); return super().ident\n"
                "late, locked = Late(daemon=True), Locked(daemon=True)\n"
                "late.start(); late.join()\n"
                "with lock: locked.start()\n"
                "locked.join(); print(late.name, locked.name)\n"
                "class Loud(str):\n"
                "    def __ne__(self, other): print('compared'); return True\n"
                "threading.current_thread().name = Loud('main')\n"
                "print(threading.Thread.name.fset.__name__)\n"
                "class Own(threading.Thread):\n"
                "    @property\n"
                "    def ident(self): print('ident'); return super().ident\n"
                "Own().name = 'mine'\n")
        for python in interpreters():
            with self.subTest(python=python), PythonSession() as session:
                expected = alone(python, "-c", code)
                done = session.run(python, "-c", code)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (expected.returncode, expected.stdout, expected.stderr))

    def test_python_not_traced(self):
        with PythonSession(trace=1) as session:
            done = session.run(DEBIAN, "-c", "import sys; print('_batchlight_native' in sys.modules)")
            self.assertEqual(done.stdout, "False\n")


class AModuleOfOurName(unittest.TestCase):
    """The program computes with its own module `batchlight`, and may import ours if it has none."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.own = self.write("own/batchlight.py", "X = 'own'\n")
        self.package = self.write("package/batchlight/__init__.py", "from .part import X\n")
        self.write("package/batchlight/part.py", "X = 'own'\n")
        self.write("package/batchlight/__main__.py", "import sys; print(sys.argv[1:])\n")
        self.write("package/batchlight/_bridge.py", "X = 'not the recorder'\n")
        self.write("folders/batchlight/part.py", "X = 'own'\n")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return os.path.dirname(path)

    def same(self, *arguments, **options):
        """The program says the same, and is recorded from its first line."""
        for python in interpreters():
            with self.subTest(python=python, arguments=arguments), PythonSession() as session:
                expected = alone(python, *arguments, **options)
                done = session.run(python, *arguments, **options)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (expected.returncode, expected.stdout, expected.stderr))
                self.assertEqual((expected.returncode, session.reasons()), (0, []))
                self.assertIn("python start", [e.name for e in session.events("PhaseBegin")])

    USE = "import batchlight, sys; print(batchlight.X, sys.modules['batchlight'].__file__)\n"

    def test_beside_the_script(self):
        self.write("own/main.py", self.USE)
        self.same(os.path.join(self.own, "main.py"))

    def test_in_the_present_folder(self):
        self.write("own/main.py", self.USE)
        self.same("-m", "main", cwd=self.own)
        self.same("-c", self.USE, cwd=self.own)

    def test_in_python_path(self):
        for folder in (self.own, os.path.dirname(self.package)):
            self.same("-c", self.USE, env={"PYTHONPATH": folder})

    def test_a_package_that_is_run(self):
        self.same("-m", "batchlight", "a", "b", cwd=os.path.dirname(self.package))
        self.same("-c", "from batchlight import _bridge; print(_bridge.X)", cwd=os.path.dirname(self.package))

    def test_in_a_folder_that_is_found_late(self):
        # Also behind what is there already, as plugins are.
        self.same("-c", "import sys; sys.path.append(%r)\n%s" % (self.own, self.USE))

    def test_a_package_without_init(self):
        self.same("-c", "import batchlight.part; print(batchlight.part.X)",
                  env={"PYTHONPATH": os.path.join(self.folder, "folders")})

    def test_of_a_virtual_environment(self):
        alone(DEBIAN, "-m", "venv", "--without-pip", os.path.join(self.folder, "venv"))
        packages, = glob.glob(os.path.join(self.folder, "venv", "lib", "python3*", "site-packages"))
        os.symlink(self.package, os.path.join(packages, "batchlight"))
        python = os.path.join(self.folder, "venv", "bin", "python")
        with PythonSession() as session:
            done = session.run(python, "-c", self.USE)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, "own %s/batchlight/__init__.py\n" % packages, ""))

    def test_names_of_functions_that_are_traced(self):
        # The bridge itself waits for a module of this name, and makes ranges.
        rules = self.write("rules.json", '[{"module": "batchlight", "functions": ["f"]}]')
        self.write("own/batchlight.py", "def f(): print('own')\n")
        with PythonSession(functions_trace=os.path.join(rules, "rules.json")) as session:
            done = session.run(DEBIAN, "-c", "import batchlight; batchlight.f()", cwd=self.own)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "own\n", ""))
            self.assertEqual([e.message for e in session.events("RangePush")], ["batchlight.f"])

    def test_ours_where_there_is_none(self):
        # A folder of that name that holds no code, as ours is installed in, is no module.
        self.write("empty/batchlight/data.txt", "")
        for options in ({}, {"cwd": os.path.join(self.folder, "empty")}):
            for python in interpreters():
                with self.subTest(python=python, **options), PythonSession() as session:
                    done = session.run(python, "-c", MARK + "; import batchlight.exact", **options)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ran\n", ""))
                    self.assertEqual(len(session.events("Mark")), 1, session.reasons())

    def test_an_installed_package_of_ours(self):
        # Its ranges are the recorder's, whatever lies in the wheel.
        os.makedirs(os.path.join(self.folder, "site"))
        os.symlink(os.path.join(SOURCE, "python", "batchlight"), os.path.join(self.folder, "site", "batchlight"))
        for python in interpreters():
            with self.subTest(python=python), PythonSession() as session:
                done = session.run(python, "-c", MARK + "; print(batchlight.__file__)",
                                   env={"PYTHONPATH": os.path.join(self.folder, "site"),
                                        "PYTHONDONTWRITEBYTECODE": "1"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(self.folder, done.stdout)
                self.assertEqual(len(session.events("Mark")), 1, session.reasons())


EMBEDDING = """
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
typedef struct PyObject PyObject;
#ifdef LINKED
void Py_Initialize(void);
int PyRun_SimpleString(const char*);
PyObject* PyImport_ImportModule(const char*);
int Py_FinalizeEx(void);
#define FUNCTION(result, name, ...)
#else
#define FUNCTION(result, name, ...) result (*name)(__VA_ARGS__) = dlsym(python, #name)
#endif
int main(int count, char** words) {
#ifndef LINKED
  void* python = dlopen(words[3], RTLD_NOW | RTLD_GLOBAL);
#endif
  FUNCTION(void, Py_Initialize, void);
  FUNCTION(int, PyRun_SimpleString, const char*);
  FUNCTION(PyObject*, PyImport_ImportModule, const char*);
  FUNCTION(int, Py_FinalizeEx, void);
  Py_Initialize();
  int failed = 0;
  if (strcmp(words[1], "import") == 0) failed = PyImport_ImportModule(words[2]) == NULL;
  if (strcmp(words[1], "run") == 0) failed = PyRun_SimpleString(words[2]);
  return failed || Py_FinalizeEx() != 0;
}
"""


def python_library():
    found = glob.glob("/usr/lib/*/libpython3.*.so.1.0")
    return found[0] if found else None


@unittest.skipUnless(python_library(), "no libpython here")
class EmbeddedPython(unittest.TestCase):
    """A C program that calls Py_Initialize never says that it runs a script."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, "app.py"), "w") as file:
            file.write(MARK)
        with open(os.path.join(self.folder, "main.c"), "w") as file:
            file.write(EMBEDDING)

    def build(self, *words):
        program = os.path.join(self.folder, "embedding")
        subprocess.run(["cc", "-o", program, os.path.join(self.folder, "main.c")] + list(words),
                       check=True)
        return program

    def run_in(self, session, program, *words):
        return session.run(program, *words, python_library(), cwd=self.folder,
                           env={"PYTHONPATH": self.folder})

    def test_linked(self):
        program = self.build("-DLINKED", python_library())
        for words in (["run", MARK], ["import", "app"]):
            with PythonSession() as session:
                done = self.run_in(session, program, *words)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ran\n", ""))
                self.assertEqual(len(session.events("Mark")), 1, session.reasons())
                self.assertEqual(session.reasons(), [])

    def test_that_runs_nothing(self):
        program = self.build("-DLINKED", python_library())
        with PythonSession() as session:
            done = self.run_in(session, program, "nothing", "")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(session.reasons(), [])

    def test_loaded_later(self):
        program = self.build("-ldl")
        with PythonSession() as session:
            done = self.run_in(session, program, "run", "print('ran')")
            self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)
            self.assertIn("the program loaded Python while it ran", str(session.reasons()))


class OtherPythons(unittest.TestCase):
    def test_pypy(self):
        if not os.path.exists("/usr/bin/pypy3"):
            self.skipTest("no PyPy here")
        with PythonSession() as session:
            done = session.run("/usr/bin/pypy3", "-c", "print('fine')")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "fine\n", ""))
            self.assertTrue(any("PyPy" in text for _, text in session.reasons()))

    # Programs that look like a Python to the library, but are none that it knows.
    FAKES = (
        ("int Py_Initialize(void) { return 0; }", "CPython before 3.8"),
        ("int pypy_main_startup(void) { return 0; }", "PyPy is not supported"),
        ("int PySys_AddAuditHook(int (*hook)(const char*, void*, void*), void* data) { return -1; }",
         "refused the hook"),
        ("static int (*run)(const char*, void*, void*);\n"
         "int PySys_AddAuditHook(int (*hook)(const char*, void*, void*), void* data) {\n"
         "  run = hook; return 0; }\n"
         "__attribute__((destructor)) static void start(void) { run(\"cpython.run_file\", 0, 0); }",
         "this Python has no Py_IncRef"),
    )

    def test_fakes(self):
        with tempfile.TemporaryDirectory() as folder:
            program, source = os.path.join(folder, "python3"), os.path.join(folder, "fake.c")
            for code, reason in self.FAKES:
                with self.subTest(reason=reason), PythonSession() as session:
                    with open(source, "w") as file:
                        file.write("#include <stdio.h>\n%s\n"
                                   "int main(void) { puts(\"fine\"); return 5; }\n" % code)
                    self.assertEqual(alone("cc", "-rdynamic", source, "-o", program).returncode, 0)
                    done = session.run(program)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (5, "fine\n", ""))
                    (feature, text), = session.reasons()
                    self.assertEqual(feature, "python")
                    self.assertIn(reason, text)

    def test_old_pythons(self):
        for path in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/[23].[0-7].*/bin/python"))):
            with self.subTest(path), PythonSession() as session:
                done = session.run(path, "-c", "print('fine')")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "fine\n", ""))
                self.assertIn("before 3.8", "".join(text for _, text in session.reasons()))

    def test_bridge_missing(self):
        # A package that is not there: the program runs, the recording says why nothing is in it.
        with PythonSession(python_path="/no/such/folder") as session:
            done = session.run(DEBIAN, "-c", "print('fine')")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "fine\n", ""))
            self.assertTrue(any("did not start" in text for _, text in session.reasons()))


if __name__ == "__main__":
    unittest.main()
