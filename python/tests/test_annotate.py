"""The package without the profiler, and what it calls under the profiler (a stand-in records)."""
import importlib.util
import os
import subprocess
import sys
import timeit
import types
import unittest

from annotate_uses import add_line, every_use

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PACKAGE)


def load(native=None):
    """The package as a program sees it first, with or without the profiler."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("batchlight", "_batchlight")]:
        del sys.modules[name]
    sys.modules.pop("_batchlight_native", None)
    if native is not None:
        sys.modules["_batchlight_native"] = native
        folder = os.path.join(PACKAGE, "batchlight")  # as the injected library does
        spec = importlib.util.spec_from_file_location(
            "_batchlight", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
        sys.modules["_batchlight"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["_batchlight"])
    return importlib.import_module("batchlight")


class Native(types.ModuleType):
    """Stands in for the native module: remembers what it is called with."""

    def __init__(self):
        super().__init__("_batchlight_native")
        self.calls = []
        for name in ("push", "pop", "end", "mark", "name_category", "profile_start",
                     "profile_stop"):
            setattr(self, name, lambda *arguments, name=name: self.calls.append((name, *arguments)))
        self.collecting = lambda: True
        self.domains = ["default"]
        self.started = 0

    def domain(self, name):
        self.domains.append(name)
        return len(self.domains) - 1

    def start(self, *arguments):
        self.calls.append(("start", *arguments))
        self.started += 1
        return self.started


class Annotate(unittest.TestCase):
    EXPECTED = [True, 3, "add", "Adds.", "failed", 1, 9, [], 5, [1, 7, []], True, True, True,
                7, "r", 0xFF112233]

    def test_without_profiler(self):
        package = load()
        self.assertEqual(every_use(package), self.EXPECTED)
        self.assertIsNone(sys.getprofile())
        with package.annotate("a") as outer, package.annotate("b") as inner:
            self.assertIs(outer, inner)  # one object, in any number of places at once
        with self.assertRaises(KeyError), package.annotate("what is raised goes through"):
            raise KeyError("{} %s")
        self.assertFalse(package.enabled())
        self.assertFalse(package.collecting())

    def test_under_profiler(self):
        native = Native()
        package = load(native)
        self.assertEqual(every_use(package), self.EXPECTED)
        self.assertTrue(package.enabled())
        red = 0xFFFF0000
        self.assertEqual(native.calls[:3], [
            ("name_category", 1, 1, "c"), ("push", "a", red, 1, 1, 3), ("pop", 1)])
        self.assertIn(("push", "named", 0xFF0000FF, 0, 0, None), native.calls)
        self.assertIn(("push", "fail"), native.calls)
        self.assertIn(("mark", "m", 0xFF00FF00, 0, 4, None), native.calls)
        self.assertIn(("start", "s", None, 0, 0, 1.5), native.calls)
        self.assertIn(("mark", "o", 0xFF008000, 2, 1, None), native.calls)
        self.assertIn(("mark", "r", 0xFF112233, 2, 2, 7), native.calls)
        self.assertEqual(native.domains, ["default", "d", "other", "nvtx.py"])
        for begin, end in (("push", "pop"), ("start", "end")):
            names = [call[0] for call in native.calls]
            self.assertEqual(names.count(begin), names.count(end))
        at = native.calls.index(("profile_start",))
        self.assertEqual(native.calls[at + 1], ("profile_stop",))
        line = add_line()
        self.assertIn(("push", "annotate_uses.py:%d(add)" % line, 0xFF0000FF, 3, 0, None),
                      native.calls[at:])

    def test_profile_leaves_nothing_open(self):
        native = Native()
        package = load(native)
        for functions_of_c in (True, False):
            del native.calls[:]

            def deeper(profile):
                profile.enable()
                len("")

            profile = package.Profile(linenos=False, annotate_cfuncs=functions_of_c)
            deeper(profile)  # enabled in a frame that ends
            sum([1])
            with self.assertRaises(ValueError):
                int("x")
            profile.disable()
            names = [call[1] for call in native.calls if call[0] == "push"]
            self.assertEqual("len" in names, functions_of_c)
            self.assertNotIn("enable", names)
            depth = 0
            for call in native.calls:
                depth += 1 if call[0] == "push" else -1
                self.assertGreaterEqual(depth, 0)
            self.assertEqual(depth, 0)
        self.assertIsNone(sys.getprofile())

    def test_categories_have_a_number_in_each_domain(self):
        native = Native()
        package = load(native)
        for domain, category in ((None, "a"), (None, "b"), ("d", "b"), (None, "a")):
            package.mark("m", domain=domain, category=category)
        self.assertEqual([call[1:] for call in native.calls if call[0] == "name_category"],
                         [(0, 1, "a"), (0, 2, "b"), (1, 1, "b")])
        self.assertEqual([call[4] for call in native.calls if call[0] == "mark"], [1, 2, 1, 1])

    def test_colours(self):
        native = Native()
        package = load(native)
        colours = {"red": 0xFFFF0000, "Rapids": 0xFF7400FF, "#102030": 0xFF102030,
                   "#80102030": 0x80102030, "0xff112233": 0xFF112233, 0xFF00FF: 0xFF00FF,
                   "no such colour": None, "#xyz": None, None: None, (1, 2): None}
        for colour, number in colours.items():
            package.mark("m", color=colour)
            self.assertEqual(native.calls[-1][2], number, colour)
        package.mark("m", color=[1])  # not hashable
        self.assertIsNone(native.calls[-1][2])

    def test_cheap_without_profiler(self):
        # The bound is ten times what it takes, for busy machines.
        package = load()
        count = 20000
        seconds = min(timeit.repeat("with annotate('x'): pass", globals=vars(package),
                                    number=count, repeat=5))
        self.assertLess(seconds / count, 2e-6)

    def test_imports_little(self):
        script = ("import sys; before = set(sys.modules); import batchlight; "
                  "print(sorted(m for m in set(sys.modules) - before - set(sys.builtin_module_names) "
                  "if 'batchlight' not in m))")
        done = subprocess.run([sys.executable, "-c", script], env=dict(os.environ, PYTHONPATH=PACKAGE),
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout, "[]\n")


if __name__ == "__main__":
    unittest.main()
