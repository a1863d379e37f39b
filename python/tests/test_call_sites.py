"""Files and lines of the program for the advice."""
import importlib.machinery
import os
import runpy
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

from bridge_case import BridgeCase


class CallSites(BridgeCase):
    name = "_call_sites"

    def test_call_sites_are_lines_of_the_program_said_once(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "site-packages", "made.py")
            os.mkdir(os.path.dirname(library))
            with open(library, "w") as file:
                file.write("def make(say):\n    say('optimizer')\n")
            script = os.path.join(folder, "train.py")
            with open(script, "w") as file:
                file.write("\nmake(say)\nmake(say)\n")
            make = runpy.run_path(library)["make"]
            before = os.getcwd()
            os.chdir(folder)
            try:
                runpy.run_path("train.py", {"make": make, "say": self.module.say})
            finally:
                os.chdir(before)
        self.assertEqual(self.said, {"site.optimizer": "train.py:2"})

    def test_folders_that_packages_were_installed_into_are_no_code_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {"libs/made.py": "def make(say):\n    say('optimizer')\n", "libs/made-1.0.dist-info/RECORD": "",
                     "project/made.egg-info/PKG-INFO": "", "own/other-1.0.dist-info/RECORD": "",
                     "own/train.py": "\nmake(say)\n"}
            for name, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            libs, script = os.path.join(folder, "libs"), os.path.join(folder, "own", "train.py")
            make = runpy.run_path(os.path.join(libs, "made.py"))["make"]
            paths = [os.path.join(folder, "own"), libs + os.sep, os.path.join(folder, "project"), "", "/missing", None]
            with mock.patch.object(sys, "path", paths + sys.path), mock.patch.object(sys, "argv", [script]):
                self.module.say_libraries()
            runpy.run_path(script, {"make": make, "say": self.module.say})
        self.assertEqual(self.said, {"python.library_folders": libs, "site.optimizer": script + ":2"})

    def test_loops_that_the_steps_of_optimizers_are_in(self):
        text = """
import contextlib
def decorate(function): return function
class Trainer:
    async def wait(self, steps):
        async for _ in steps:
            say("waited")
    @decorate
    def train(self, rounds):
        '''not a loop:
for _ in text:
    '''
        for n in range(3):
            text = '''
for _ in text:
'''
            for _ in range(2): say("critic")
            if n % 2:
                for _ in (): pass
                with contextlib.suppress(
                        OSError):
                    (say
                     ("actor"))
            else:
                while True:
                    say("other"); break
            [say("listed") for _ in range(2)]
for _ in range(3):
    pass
else:
    say("once")
while True:
    Trainer().train(2)
    # here it ends
    break
"""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "train.py")
            with open(script, "w") as file:
                file.write(text)
            before = os.getcwd()
            os.chdir(folder)
            try:
                # In a thread, where no test calls it: a package in between may have loops of its own.
                thread = threading.Thread(target=runpy.run_path, args=("train.py", {"say": self.module.say_loops}))
                thread.start()
                thread.join()
            finally:
                os.chdir(before)
        listed = "" if sys.version_info >= (3, 12) else " train.py:27"  # else it has no frame of its own
        self.assertEqual(self.said, {
            "optimizer.loops.critic": "train.py:32 train.py:13 train.py:17",
            "optimizer.loops.actor": "train.py:32 train.py:13",
            "optimizer.loops.other": "train.py:32 train.py:13 train.py:25",
            "optimizer.loops.listed": "train.py:32 train.py:13" + listed})

    def test_loops_that_may_be_another_are_not_said(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {os.path.join("site-packages", "trainer.py"): "def run(step):\n    for _ in range(5): step()\n",
                     "package.py": "def step(): say('critic'); say('actor')\nfor _ in range(3): run(step)\n",
                     "twice.py": "for _ in range(3):\n    say('twice')\n    say('twice')\n    say('other')\n"}
            os.mkdir(os.path.join(folder, "site-packages"))
            for name, text in files.items():
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            run = runpy.run_path(os.path.join(folder, "site-packages", "trainer.py"))["run"]
            for name in ("package.py", "twice.py"):
                thread = threading.Thread(target=runpy.run_path, args=(
                    os.path.join(folder, name), {"say": self.module.say_loops, "run": run}))
                thread.start()
                thread.join()
        known = {key: value.rpartition(os.sep)[2] for key, value in self.said.items() if value}
        self.assertEqual(known, {"optimizer.loops.other": "twice.py:1"})

    def test_loops_of_one_optimizer_or_without_a_text_are_not_said(self):
        for _ in range(3):
            self.module.say_loops("only")
        exec(compile("for _ in range(3): say('b')", "/missing.py", "exec"), {"say": self.module.say_loops})
        here = {key: value for key, value in self.said.items() if "/missing" in value}
        self.assertEqual(here, {})
        self.assertNotIn("optimizer.loops.only", self.said)

    def test_functions_of_the_program_are_said_where_they_begin(self):
        here = {}
        exec(compile("import functools, json\n\ndef collate(samples): pass\n\n"
                     "class Collate:\n    def __call__(self, samples): pass\n", "/home/u/data.py", "exec"), here)
        for number, function in enumerate((
                here["collate"], here["functools"].partial(here["collate"], 1), here["Collate"](), here["json"].loads,
                None, list)):
            self.module.say_function("collate%d" % number, types.SimpleNamespace(of=function), "of")
        self.module.say_function("collate0", types.SimpleNamespace(of=here["Collate"]()), "of")
        self.assertEqual(self.said, {"site.collate0": "/home/u/data.py:3", "site.collate1": "/home/u/data.py:3",
                                     "site.collate2": "/home/u/data.py:6"})

    def test_asking_runs_nothing_of_the_program(self):
        class Meta(type):
            def __getattribute__(self, name):
                raise AssertionError(name)

        class Lazy(metaclass=Meta):
            def __getattribute__(self, name):
                raise AssertionError(name)

        class Loader:
            def __getattribute__(self, name):
                raise AssertionError(name)

        loader = Loader()
        object.__getattribute__(loader, "__dict__")["collate_fn"] = Lazy()
        self.module.say_function("collate", loader, "collate_fn")
        self.assertEqual(self.said, {})

    def test_settings_are_looked_for_in_the_program_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "train.py")
            with open(script, "w") as file:
                file.write("import torch\n# torch.set_num_threads(1) is slower\ntorch.set_num_threads(8)\n")
            main = types.ModuleType("__main__")
            main.__file__ = script
            with mock.patch.dict(sys.modules, {"__main__": main}):
                self.module.say_text("threads", b"set_num_threads(")
                self.module.say_text("threads", b"import torch")
                self.module.say_text("anomaly", b"detect_" + b"anomaly")
        self.assertEqual(self.said, {"site.threads": script + ":3"})

    def test_the_program_is_found_when_it_has_ended(self):
        """Python takes __file__ out of its names before what runs at exit."""
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "train.py")
            with open(script, "w") as file:
                file.write("import torch\ntorch.set_num_threads(8)\n")
            main = types.ModuleType("__main__")
            main.__loader__ = importlib.machinery.SourceFileLoader("__main__", script)
            with mock.patch.dict(sys.modules, {"__main__": main}):
                self.module.say_text("threads", b"set_num_threads(")
        self.assertEqual(self.said, {"site.threads": script + ":2"})

    def test_a_line_that_sets_what_costs_time(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {"main.py": "def fit(): pass\nTrainer(detect=1)\nfit()\n",
                     "site-packages/torch/mode.py": "def detect():\n    say('torch')\n",
                     "site-packages/trainer/fit.py": "def fit():\n    say('found', b'detect=')\n"
                                                     "    say('other', b'no' + b'thing=')\n"}
            for name, text in files.items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(text)
            script = os.path.join(folder, "main.py")
            main = types.ModuleType("__main__")
            main.__file__ = script
            names = {"say": self.module.say_set, "Trainer": lambda detect: None}
            for name in list(files)[1:]:
                exec(compile(files[name], os.path.join(folder, name), "exec"), names)
            text = "Trainer(detect=1)\ndetect()\nfit()\n"
            with mock.patch.dict(sys.modules, {"__main__": main}):
                exec(compile(text, script, "exec"), names)
        self.assertEqual(self.said, {"site.torch": script + ":2", "site.found": script + ":2",
                                     "site.other": script + ":3"})


if __name__ == "__main__":
    unittest.main()
