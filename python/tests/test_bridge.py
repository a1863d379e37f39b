"""Parts of the bridge that need neither the library nor PyTorch: stand-ins take their place."""
import functools
import importlib
import os
import runpy
import signal
import sys
import tempfile
import types
import unittest

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PACKAGE)


class Native(types.ModuleType):
    def __init__(self):
        super().__init__("_batchlight_native")
        self.reasons = []
        self.reason = lambda feature, text: self.reasons.append((feature, text))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments: None


class Bridge(unittest.TestCase):
    def setUp(self):
        self.forget()
        self.native = sys.modules["_batchlight_native"] = Native()
        self.addCleanup(self.forget)

    def forget(self):
        for name in list(sys.modules):
            if name.split(".")[0] in ("batchlight", "_batchlight_native", "torch", "waited_for"):
                del sys.modules[name]
        sys.meta_path[:] = [finder for finder in sys.meta_path
                            if "batchlight" not in type(finder).__module__]

    def load(self, name):
        return importlib.import_module("batchlight._bridge." + name)

    SCRIPT = """
import json
def decorate(function):
    return function
@decorate
def train_step(x):
    def inner():
        return 1
    return x + inner()
class Trainer:
    def step(self):
        return train_step(1)
try:
    import there_is_no_such_module
except ImportError:
    def late():
        return 5
if json is None:
    def never():
        pass
if __name__ == "__main__":
    import sys
    results = [Trainer().step(), late(), sys.gettrace()]
"""

    def test_functions_of_the_script(self):
        main_functions = self.load("_main_functions")
        calls, missing = [], []

        def wrap(module, path):
            *owners, name = path.split(".")
            owner = module
            for part in owners:
                owner = getattr(owner, part)
            function = vars(owner)[name]
            setattr(owner, name, lambda *args: (calls.append(path), function(*args))[1])

        path = os.path.join(self.make_package({"script.py": self.SCRIPT}), "script.py")
        outer = sys.gettrace()
        sys.settrace(None)
        try:
            main_functions.watch(["train_step", "Trainer.step", "late", "never", "absent"], wrap,
                                 lambda path, why: missing.append((path, why)))
            names = runpy.run_path(path, run_name="__main__")
        finally:
            sys.settrace(outer)
        self.assertEqual(names["results"], [2, 5, None])
        self.assertEqual(calls, ["Trainer.step", "train_step", "late"])
        self.assertEqual(missing, [("absent", "the script defines no such function"),
                                   ("never", "the script went past its definition")])

    def make_package(self, files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in files.items():
            path = os.path.join(folder.name, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        sys.path.insert(0, folder.name)
        self.addCleanup(sys.path.remove, folder.name)
        return folder.name

    def profiler_says(self, activities, holds_cupti):
        self.native.holds_cupti = lambda: holds_cupti

        class profile:
            kineto_activities = [types.SimpleNamespace(name=name) for name in activities]

            def _prepare_trace(self):
                self.prepared = True

        self.load("_torch_profiler").install(types.SimpleNamespace(profile=profile))
        run = profile()
        run._prepare_trace()
        self.assertTrue(run.prepared)
        return [feature for feature, _ in self.native.reasons]

    def test_torch_profiler_without_the_gpu(self):
        self.assertEqual(self.profiler_says(["CPU"], True), [])

    def test_torch_profiler_came_first(self):
        self.assertEqual(self.profiler_says(["CPU", "CUDA"], False), [])

    def test_torch_profiler_gets_no_gpu_events(self):
        self.assertEqual(self.profiler_says(["CPU", "CUDA"], True), ["torch.profiler"])

    def test_action_after_import(self):
        self.make_package({"waited_for/__init__.py": "from . import part\nvalue = 1\n",
                           "waited_for/part.py": "value = 2\n"})
        imports, seen = self.load("_imports"), []
        for name in ("waited_for", "waited_for.part", "never_imported"):
            imports.when_imported(name, "f", lambda m: seen.append((m.__name__, m.value)))
        module = importlib.import_module("waited_for")
        self.assertEqual(seen, [("waited_for.part", 2), ("waited_for", 1)])
        loader = module.__spec__.loader
        self.assertNotIn("exec_module", vars(loader))
        self.assertIs(module.__loader__, loader)
        imports.when_imported("waited_for", "f", lambda m: seen.append("at once"))
        self.assertEqual(seen[-1], "at once")
        importlib.reload(module)
        self.assertEqual(len(seen), 3)

    def test_failures_stay_inside(self):
        self.make_package({"waited_for/__init__.py": "raise KeyError('mine')\n"})
        imports = self.load("_imports")
        imports.when_imported("waited_for", "f", lambda m: self.fail("must not run"))
        with self.assertRaises(KeyError):
            importlib.import_module("waited_for")
        imports.when_imported("sys", "feature", lambda m: 1 / 0)
        self.assertEqual(self.native.reasons,
                         [("feature", "off: ZeroDivisionError: division by zero")])

    def test_errors_of_signal_handlers_are_the_programs(self):
        imports = self.load("_imports")

        class Late(Exception):
            pass

        class Limit:
            def handle(self, number, frame):
                raise Late

            def __call__(self, *arguments):
                raise Late

        def handle(number, frame, *, more=None):
            def deeper():
                raise Late
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            deeper()

        class Outwards:
            def handle(self, number, frame):
                while frame is not None:
                    frame = frame.f_back
                raise Late

            def __call__(self, number, frame):
                del frame
                raise Late

        self.addCleanup(signal.signal, signal.SIGUSR1, signal.SIG_DFL)
        handlers = handle, Limit().handle, Limit(), functools.partial(handle, more=1)
        for handler in handlers + (Outwards().handle, Outwards()):
            signal.signal(signal.SIGUSR1, handler)
            with self.assertRaises(Late):
                imports.attempt("x", lambda: [os.kill(os.getpid(), signal.SIGUSR1), sum(range(1000))])

        def ours(frame):
            raise ValueError("no signal")
        imports.attempt("x", ours, None)
        self.assertEqual([text for _, text in self.native.reasons], ["off: ValueError: no signal"])

    def test_frames_left_to_torch_compile(self):
        for interface in ("skip_code", "set_code_exec_strategy"):
            with self.subTest(interface):
                skipped = self.skipped_with(interface)
                for name in ("__call__", "call", "give", "_caller", "_walk", "_step_name", "inside",
                             "enter", "leave", "is_in_memory", "wrap_class", "<lambda>"):
                    self.assertIn(name, skipped)

    def skipped_with(self, interface):
        skipped = []
        frames = types.SimpleNamespace(
            _FrameAction=types.SimpleNamespace(SKIP=1, DEFAULT=0),
            _FrameExecStrategy=lambda *actions: actions)
        if interface == "skip_code":
            frames.skip_code = lambda code: skipped.append(code.co_name)
        else:
            def set_code_exec_strategy(code, strategy):
                self.assertEqual(strategy, (1, 0))
                skipped.append(code.co_name)
            frames.set_code_exec_strategy = set_code_exec_strategy
        torch = sys.modules["torch"] = types.ModuleType("torch")
        torch._C = types.SimpleNamespace(_dynamo=types.SimpleNamespace(eval_frame=frames))
        bootstrap = self.load("_importlib_bootstrap")
        bootstrap.leave_to_dynamo(
            bootstrap, self.load("_torch_modules"), self.load("_torch_progress"), self.load("_torch_repeats"),
            self.load("_torch_training"))
        return skipped

    def test_no_torch_compile(self):
        torch = sys.modules["torch"] = types.ModuleType("torch")
        torch._C = types.SimpleNamespace()
        bootstrap = self.load("_importlib_bootstrap")
        bootstrap.leave_to_dynamo(bootstrap)

    def test_settings_are_said_once_per_change(self):
        said = []
        self.native.property = lambda key, value: said.append((key, value))
        threads = [4]
        torch = types.SimpleNamespace(
            get_num_threads=lambda: threads[0], is_anomaly_enabled=lambda: False,
            are_deterministic_algorithms_enabled=lambda: False,
            get_float32_matmul_precision=lambda: "highest",
            backends=types.SimpleNamespace(cudnn=types.SimpleNamespace(benchmark=False)),
            cuda=types.SimpleNamespace(is_initialized=lambda: False))
        settings = self.load("_torch_settings")
        settings.os = types.SimpleNamespace(sched_getaffinity=lambda pid: range(64))
        settings.record(torch)
        self.assertEqual(len(said), 5)
        self.assertIn(("torch.threads", "4"), said)
        settings.record(torch)
        self.assertEqual(len(said), 5)
        threads[0] = 2
        settings.record(torch)
        self.assertEqual(said[5:], [("torch.threads", "2")])
        torch.distributed = types.SimpleNamespace(
            is_available=lambda: True, is_initialized=lambda: True, get_backend=lambda: "gloo",
            get_rank=lambda: 3, get_world_size=lambda: 8)
        settings.record(torch)
        self.assertEqual(said[6:], [("torch.distributed_backend", "gloo"),
                                    ("torch.distributed_rank", "3"),
                                    ("torch.distributed_world_size", "8")])

    def test_optimizers_are_numbered_by_class(self):
        training = self.load("_torch_training")

        class Adam:
            pass

        class Slots:  # cannot be watched, so it has no number
            __slots__ = ()

        numbers = training.OptimizerNumbers()
        first, second = Adam(), Adam()
        numbers.add(first)
        numbers.add(second)
        self.assertEqual([numbers.suffix(one) for one in (first, second)], ["", "#2"])
        key = id(second)
        del second
        self.assertNotIn(key, numbers._suffixes)
        third = Adam()
        numbers.add(third)
        self.assertEqual(numbers.suffix(third), "#3")
        self.assertEqual(numbers.suffix(Adam()), "")
        numbers.add(Slots())
        for _ in range(2):
            try:
                numbers.add(Slots())
            except TypeError:
                pass
        for _ in range(numbers.MOST):
            last = Adam()
            numbers.add(last)
        self.assertEqual(numbers.suffix(last), "#1000")

    def test_a_compilation_names_its_function(self):
        begun = []
        self.native.phase_begin = lambda phase, name: begun.append((phase, name))
        self.native.phase_end = lambda: begun.append("end")

        class Handler:
            def run_start_callbacks(self):
                pass

            def run_end_callbacks(self):
                pass

        self.load("_torch_compilation").follow(types.SimpleNamespace(CompilationCallbackHandler=Handler), 7)

        def compile_inner(code):
            Handler().run_start_callbacks()
            Handler().run_start_callbacks()  # inside of the first
            Handler().run_end_callbacks()

        here = compile_inner.__code__
        compile_inner(here)
        compile_inner("not code")
        Handler().run_start_callbacks()  # a backward that is compiled when it runs
        name = getattr(here, "co_qualname", "compile_inner").replace(".<locals>", "")
        said = "torch.compile#`%s` (test_bridge.py:%d)" % (name, here.co_firstlineno)
        self.assertEqual(begun, [(7, said), "end", (7, "torch.compile"), "end", (7, "torch.compile")])

    def test_a_compilation_that_comes_again_says_which_guard_failed(self):
        said = []
        self.native.property = lambda key, value: said.append((key, value))
        self.native.phase_begin = lambda phase, name: None
        self.native.phase_end = lambda: None

        class Handler:
            def run_start_callbacks(self):
                pass

            def run_end_callbacks(self):
                pass

        compilation = self.load("_torch_compilation")
        compilation.follow(types.SimpleNamespace(CompilationCallbackHandler=Handler), 7)

        def compile_inner(code):
            Handler().run_start_callbacks()
            Handler().run_end_callbacks()

        def _compile(code, recompile_reason):
            compile_inner(code)

        class Later:  # the name that older versions of PyTorch have for it
            @staticmethod
            def _compile(code, recompile_reasons):
                compile_inner(code)

        here = compile_inner.__code__
        _compile(here, None)
        _compile(here, "Unable to find recompilation reasons")
        _compile(here, "0/0: tensor 'x' size mismatch at index 1. expected 3, actual 5")
        _compile(here, "0/1: s.steps == 0     # return x * s.steps  # net.py:17 in forward\nUser stack trace:\n  File")
        Later._compile(here, ["L['n'] == 3", "another"])
        Later._compile(here, [])
        _compile("not code", "0/1: s.steps == 1")
        _compile(here, "0/1: " + "long " * 100)
        name = "`%s` (test_bridge.py:%d)" % (
            getattr(here, "co_qualname", "compile_inner").replace(".<locals>", ""), here.co_firstlineno)
        self.assertEqual(said[:3], [
            ("compile.guard.0", name + "\ttensor 'x' size mismatch at index 1. expected 3, actual 5"),
            ("compile.guard.1", name + "\ts.steps == 0"),
            ("compile.guard.2", name + "\tL['n'] == 3")])
        self.assertEqual(len(said), 4)
        self.assertLessEqual(len(said[3][1]), len(name) + 1 + compilation.LONGEST_REASON)
        for i in range(2 * compilation.MOST_GUARDS):
            _compile(here, "n == %d" % i)
        self.assertEqual(said[-1][0], "compile.guard.%d" % (compilation.MOST_GUARDS - 1))

    def test_parameters_of_64_bits_are_said_as_a_part_of_all(self):
        said = []
        self.native.property = lambda key, value: said.append((key, value))
        updates = self.load("_torch_updates")

        def parameter(count, dtype):
            return types.SimpleNamespace(numel=lambda: count, dtype="torch." + dtype)

        def optimizer(*parameters):
            return types.SimpleNamespace(param_groups=[{"params": list(parameters)}])

        updates.say_precision(optimizer(parameter(100, "float32")), "SGD.step")
        self.assertEqual(said, [])
        updates.say_precision(types.SimpleNamespace(), "odd")
        for _ in range(3):
            updates.say_precision(optimizer(parameter(300, "float64")), "Adam.step")
        self.assertEqual(said, [("torch.float64_parameters", "0.7500")])

    def test_groups_of_equal_options_are_counted(self):
        said = []
        self.native.property = lambda key, value: said.append((key, value))
        updates = self.load("_torch_updates")

        def optimizer(*options):
            return types.SimpleNamespace(param_groups=[
                {"params": [object()], "betas": tuple([0.9, 0.99]), **one} for one in options])

        many = [{"lr": 1e-3, "weight_decay": i % 2 * 0.1, "name": "p%d" % i} for i in range(9)]
        updates.say_groups(optimizer(*many), "Adam.step")
        updates.say_groups(optimizer(*many[:3]), "Adam.step")  # has been said
        updates.say_groups(optimizer({"lr": 1}), "SGD.step")
        updates.say_groups(optimizer({"lr": object()}, {"lr": [1]}), "tensors")
        updates.say_groups(types.SimpleNamespace(), "odd")
        self.assertEqual(said, [("optimizer.groups.Adam.step", "9 2"), ("optimizer.groups.tensors", "2 2")])

    def unheld(self, modules, optimizers, between=lambda parameters: None):
        """What is said of modules {path: [names of parameters]}, of which `optimizers` hold some."""
        said = []
        self.native.property = lambda key, value: said.append((key, value))
        unheld = self.load("_torch_updates")
        unheld._made, unheld._steps, unheld._looked_by, unheld._seen = [], {}, None, None

        class Parameter:
            requires_grad = is_leaf = True
            grad = _version = 0

            def __init__(self, count=10):
                self.count = count

            def numel(self):
                return self.count

            def dim(self):
                return 1

        class Holder:
            pass

        parameters = {name: Parameter() for own in modules.values() for name in own}
        for name, parameter in parameters.items():
            parameter.requires_grad = "frozen" not in name
            parameter.grad = None if "idle" in name or "frozen" in name else 1
        tree = {path: types.SimpleNamespace(_parameters={name: parameters[name] for name in own})
                for path, own in modules.items()}
        unheld.follow(types.SimpleNamespace(known={
            number: (path, "Module", lambda module=module: module)
            for number, (path, module) in enumerate(tree.items())}))
        kept = []
        for names in optimizers:
            kept.append(Holder())
            kept[-1].param_groups = [{"params": [parameters.get(name) or Parameter(int(name)) for name in names]}]
            unheld.made(kept[-1])
        for step in range(6):
            unheld.look_for_unheld("AdamW.step")
            unheld.look_for_unheld("SGD.step")
            if step == 2:
                between(parameters)
        return [value for key, value in said if key == "gradients.unheld"]

    def test_parameters_with_gradients_that_no_optimizer_has(self):
        adapted = {"layers.%d.%s" % (i, part): ["%s%d" % (part, i)] for i in range(3) for part in ("base", "adapter")}
        adapters = ["adapter%d" % i for i in range(3)]
        self.assertEqual(self.unheld({**adapted, "embed": ["e"]}, [adapters]), ["40 layers.*.base, embed"])
        # Below a path that is all unheld, the path alone; a frozen layer among them makes them count one by one.
        self.assertEqual(self.unheld({"body.a": ["a"], "body.b": ["b"], "head": ["h"]}, [["h"]]), ["20 body"])
        one = dict(adapted, **{"layers.1.base": ["frozen"]})
        self.assertEqual(self.unheld(one, [adapters]), ["20 layers.0.base, layers.2.base"])
        # Another optimizer has them, or they have no gradients, or no module's parameter is an optimizer's.
        self.assertEqual(self.unheld(adapted, [adapters, ["base%d" % i for i in range(3)]]), [])
        self.assertEqual(self.unheld({"a": ["idle"], "b": ["h"]}, [["h"]]), [])
        self.assertEqual(self.unheld(adapted, [["5"]]), [])
        # What an optimizer has besides may be a copy of one, or of all; fewer numbers are none.
        self.assertEqual(self.unheld(adapted, [[*adapters, "10"]]), [])
        self.assertEqual(self.unheld(adapted, [[*adapters, "31"]]), [])
        self.assertEqual(self.unheld(adapted, [[*adapters, "5"]]), ["30 layers.*.base"])
        # More optimizers than are known.
        self.assertEqual(self.unheld(adapted, [adapters] * 1001), [])

    def test_parameters_that_the_program_updates_itself_are_not_told(self):
        def by_hand(parameters):
            parameters["a"]._version += 1
        self.assertEqual(self.unheld({"a": ["a"], "b": ["h"]}, [["h"]], by_hand), [])

    def test_an_optimizers_modules_are_said_by_the_shortest_paths(self):
        said = []
        self.native.property = lambda key, value: said.append((key, value))
        updates = self.load("_torch_updates")

        class Parameter:
            requires_grad = True

        class Module:
            def __init__(self, *parameters):
                self._parameters = dict(enumerate(parameters))

        body = [Parameter() for _ in range(3)]
        head, tied, frozen = Parameter(), Parameter(), Parameter()
        frozen.requires_grad = False
        tree = [("Net", Module()), ("body.0", Module(body[0])), ("body.1", Module(body[1], None)),
                ("body.2", Module(frozen)), ("head", Module(head)), ("tied.a", Module(tied)),
                ("tied.b", Module(body[2]))]
        names = types.SimpleNamespace(known={
            number: (path, "Module", lambda module=module: module)
            for number, (path, module) in enumerate(tree)})

        def optimizer(*parameters):
            return types.SimpleNamespace(param_groups=[{"params": list(parameters)}])

        updates.say(optimizer(head), "before modules")
        updates.follow(names)
        updates.say(optimizer(*body[:2], tied), "Adam.step")
        updates.say(optimizer(head), "Adam.step")  # has been said
        for _ in range(5):
            updates.say(optimizer(Parameter()), "SGD.step")  # no module's
        updates.say(types.SimpleNamespace(), "odd")
        updates.say(optimizer(head), "before modules")
        self.assertEqual(said, [("updates.Adam.step", "body, tied.a"),
                                ("updates.before modules", "head")])
        for number in range(2 * updates.MOST_OPTIMIZERS):
            updates.say(optimizer(head), "SGD.step#%d" % number)
        self.assertLess(len(said), updates.MOST_OPTIMIZERS)

    def test_ranges_make_way_for_the_programs_profiler(self):
        calls, active = [], []

        def enable(*arguments):
            if active:
                raise ValueError("Profiler is already enabled on this thread")
            if arguments == ("wrong",):
                raise TypeError("wrong")
            active.append(arguments)
            calls.append("on")

        def disable():
            calls.append("off")
            return active.pop()

        config = types.SimpleNamespace(
            ProfilerConfig=lambda *arguments: arguments, _ExperimentalConfig=tuple,
            ProfilerState=types.SimpleNamespace(NVTX="nvtx"))
        torch = types.SimpleNamespace(
            _C=types.SimpleNamespace(
                _autograd=types.SimpleNamespace(_enable_profiler=enable, _disable_profiler=disable),
                _profiler=config),
            empty=lambda *sizes: sizes, Tensor=types.SimpleNamespace(detach=lambda tensor: tensor))
        self.make_package({"torch/__init__.py": "", "torch/autograd/__init__.py": "",
                           "torch/autograd/profiler.py": ""})
        module = importlib.import_module("torch.autograd.profiler")
        module._enable_profiler, module._disable_profiler = enable, disable
        self.assertTrue(self.load("_torch_emit_nvtx").install(torch, True))
        self.assertEqual(active[0][0][:2], ("nvtx", True))
        module._enable_profiler("program")
        self.assertEqual(active, [("program",)])
        self.assertEqual(module._disable_profiler(), ("program",))
        self.assertEqual(active[0][0][0], "nvtx")
        with self.assertRaises(TypeError):
            module._enable_profiler("wrong")
        self.assertEqual(active[0][0][0], "nvtx")
        self.assertEqual(self.native.reasons, [])

    def test_no_ranges_without_cuda(self):
        def enable(*_):
            raise RuntimeError("compiled without CUDA")

        torch = types.SimpleNamespace(_C=types.SimpleNamespace(
            _autograd=types.SimpleNamespace(_enable_profiler=enable, _disable_profiler=None),
            _profiler=types.SimpleNamespace(
                ProfilerConfig=lambda *_: None, _ExperimentalConfig=tuple,
                ProfilerState=types.SimpleNamespace(NVTX=0))))
        self.assertFalse(self.load("_torch_emit_nvtx").install(torch, False))


if __name__ == "__main__":
    unittest.main()
