"""The program's tensors and modules stay as they are when they are looked at for advice; run by torch_checks.py."""
import importlib.util
import textwrap
import unittest
from collections import Counter

from torch_case import TorchCase

PICKLERS = [name for name in ("cloudpickle", "dill") if importlib.util.find_spec(name)]
PICKLED = """
    import os, subprocess, textwrap
    class Sgd(torch.optim.SGD):
        def step(self, closure=None): return super().step(closure)
    class Other(torch.optim.Optimizer):
        def __init__(self, parameters): super().__init__(parameters, {})
        def step(self): return "stepped"
        def zero_grad(self, set_to_none=True): return super().zero_grad(set_to_none)
    linear = torch.nn.Linear(2, 2)
    optimizers = [Sgd(linear.parameters(), lr=0.1), Other(linear.parameters())]
    for optimizer in optimizers: linear(torch.ones(1, 2)).sum().backward(); optimizer.step()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizers[0], 1)
    READ = '''
    import sys
    optimizers, scheduler = __import__(sys.argv[1]).load(sys.stdin.buffer)
    for optimizer in optimizers:
        optimizer.zero_grad()
        print(optimizer.step(), type(optimizer).step.__name__)
        try: optimizer.step(1, 2, 3)
        except TypeError as error: print(type(error).__name__)
    scheduler.step()
    '''
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(READ), pickler.__name__],
                          env={"PYTHONPATH": os.pathsep.join(sys.path)}, input=pickler.dumps((optimizers, scheduler)),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout.decode())
    assert done.returncode == 0
"""


class Looks(TorchCase):
    """What is looked at is of the sizes and in the steps where it is looked at."""

    def test_storages_can_still_be_resized(self):
        self.same("""
            from torch.utils.data import DataLoader, TensorDataset
            torch.manual_seed(0)
            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.embedding, self.linear = torch.nn.Embedding(99, 8), torch.nn.Linear(8, 8)
                    self.register_buffer("graph", torch.zeros(1100, 1100))
                def forward(self, ids): return self.linear(self.embedding(ids))
            net = Net()
            optimizer = torch.optim.SGD(net.parameters(), 0.1)
            def free(tensor):
                tensor.resize_(2 * tensor.numel())
                getattr(tensor, "untyped_storage", tensor.storage)().resize_(0)
            def step(ids):
                a, b = net(ids), net(ids)
                (a.sum() + b.sum()).backward(); optimizer.step(); optimizer.zero_grad()
                for tensor in (a.detach(), b.detach(), ids): free(tensor)
            for ids, in DataLoader(TensorDataset(torch.randint(0, 99, (64, 32))), 8): step(ids)
            for _ in range(10): step(torch.randint(0, 99, (8, 32)))
            free(net.graph)
            print("done")
        """, model=False)

    def test_without_a_loader(self):
        self.same("""
            embedding = torch.nn.Embedding(99, 8)
            for _ in range(10):
                ids = torch.randint(0, 99, (8, 32))
                embedding(ids).sum().backward()
                getattr(ids, "untyped_storage", ids.storage)().resize_(0)
            print("freed")
        """, model=False)

    def test_models_that_are_traced(self):
        self.same("""
            class Net(torch.nn.Module):
                def __init__(self): super().__init__(); self.embedding = torch.nn.Embedding(9, 4)
                def forward(self, ids): return self.embedding(ids).sum()
            net, ids = Net(), torch.ones(4, 32, dtype=torch.long)
            for _ in range(5): print(torch.jit.trace(net, ids, check_trace=False).graph)
        """, model=False)

    def test_what_listens_to_calls_hears_the_programs_alone(self):
        self.same("""
            try: from torch.overrides import TorchFunctionMode
            except ImportError: TorchFunctionMode = None
            from torch.utils._python_dispatch import TorchDispatchMode
            name = lambda function: getattr(function, "__name__", "?") + str(getattr(function, "__self__", ""))[:12]
            class Listener(TorchFunctionMode):
                def __torch_function__(self, function, types, args=(), kwargs=None):
                    print("mode", name(function)); return function(*args, **(kwargs or {}))
            class Operators(TorchDispatchMode):
                def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                    print("operator", function); return function(*args, **(kwargs or {}))
            class Loud(torch.Tensor):
                @classmethod
                def __torch_function__(cls, function, types, args=(), kwargs=None):
                    print("class", name(function)); return super().__torch_function__(function, types, args, kwargs)
            net, ids = Net(), torch.ones(8, 32, dtype=torch.long)
            net.graph = nn.parameter.Parameter(torch.zeros(1100, 1100), requires_grad=False)
            optimizer = torch.optim.SGD(net.parameters(), 0.1)
            batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(ids, torch.ones(8, 8)), 2)
            for listener in (Listener(), Operators()):
                with listener:
                    for ids, x in batches:
                        net(x).sum().backward(); optimizer.step(); optimizer.zero_grad()
            class Embedding(nn.Module):
                def forward(self, ids, graph): return ids.shape[0] * graph.sum()
            loud = Embedding()
            own = nn.Parameter(torch.ones(2).as_subclass(Loud)) if hasattr(nn.Parameter, "data") else None
            for _ in range(6): loud(torch.ones(8, 32, dtype=torch.long).as_subclass(Loud), torch.zeros(1100, 1100).as_subclass(Loud))
            other = torch.optim.Adam([torch.ones(3).as_subclass(Loud).requires_grad_()]); other.step()
        """)

    def test_attributes_that_a_class_hands_out_itself(self):
        self.same("""
            from collections import Counter
            asked = Counter()
            class Asked(torch.nn.Module):
                def __getattribute__(self, name): asked[name] += 1; return super().__getattribute__(name)
            class Net(Asked):
                def __init__(self): super().__init__(); self.inner, self.head = Inner(), torch.nn.Linear(8, 2)
                def forward(self, x): return self.head(self.inner(x))
            class Inner(Asked):
                def __init__(self): super().__init__(); self.one = torch.nn.Linear(8, 8)
                def forward(self, x): return self.one(x)
            net, other = Net(), Net()
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for _ in range(15):
                optimizer.zero_grad()
                (net(torch.ones(4, 8)) + other(torch.ones(4, 8))).sum().backward()
                optimizer.step()
            print(sorted(asked.items()))
        """, model=False)

    def test_functions_that_are_wrapped(self):
        self.same("""
            import inspect, pickle
            module, sgd = torch.nn.Module, torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
            print(pickle.loads(pickle.dumps(module.__call__)) is module.__call__, module.__call__.__qualname__)
            print([name for name in dir(module) if getattr(module, name) is module.__call__])
            for call in (torch.optim.SGD.step, torch.optim.Adam.step, torch.optim.SGD.__init__, module.__call__,
                         torch.optim.SGD.zero_grad, module.train, torch.utils.data.DataLoader.__init__, torch.save,
                         torch.utils.data.DataLoader.__iter__, module.zero_grad, sgd.step, sgd.zero_grad, torch.load):
                for given, named in (((), {}), ((), {"neither": 1}), ((), {"self": sgd}), ((1, 2, 3, 4), {})):
                    try: print(call(*given, **named))
                    except Exception as error: print(call.__qualname__, type(error), error)
        """, model=False, reasons=None)

    def test_modes_inside_of_a_module(self):
        self.same("""
            try: from torch.overrides import TorchFunctionMode
            except ImportError: TorchFunctionMode = object
            from torch.utils._python_dispatch import TorchDispatchMode
            class Functions(TorchFunctionMode):
                def __torch_function__(self, function, types, args=(), kwargs=None):
                    print("function", function.__name__); return function(*args, **(kwargs or {}))
            class Operators(TorchDispatchMode):
                def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                    print("operator", function); return function(*args, **(kwargs or {}))
            class Twice(torch.nn.Module):
                def __init__(self): super().__init__(); self.part = torch.nn.Sequential(torch.nn.Linear(4, 4))
                def forward(self, x, mode):
                    with mode(): return (self.part(x) + self.part(x)).sum()
            for mode in [Functions, Operators][TorchFunctionMode is object:]:
                net = Twice()
                optimizer = torch.optim.SGD(net.parameters(), 0.1)
                for _ in range(10):
                    net(torch.ones(2, 4), mode).backward(); optimizer.step(); optimizer.zero_grad()
        """, model=False)

    def test_tensors_without_memory(self):
        self.same("""
            func = getattr(torch, "func", None)
            words = torch.nn.Embedding(99, 8)
            for _ in range(6):
                ids = torch.ones(10, 32, dtype=torch.long)
                if func: print(func.functionalize(lambda ids: words(ids[2:]).sum())(ids).isfinite().item())
        """, model=False)

    def test_dynamo_compiles_nothing_of_ours(self):
        self.same("""
            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__(); self.words = torch.nn.Embedding(99, 8); self.out = torch.nn.Linear(8, 8)
                def forward(self, ids):
                    torch._dynamo.graph_break()
                    return self.out(self.words(ids))
            net, stance = Net(), getattr(getattr(torch, "compiler", None), "set_stance", None)
            optimizer = torch.optim.SGD(net.parameters(), .01)
            def step(ids):
                loss = net(ids).mean(); loss.backward(); optimizer.step(); optimizer.zero_grad(); return loss
            if stance:
                compiled = torch.compile(step, backend="eager")
                compiled(torch.randint(0, 99, (8, 32)))
                stance("fail_on_recompile")
                for _ in range(70): compiled(torch.randint(0, 99, (8, 32)))
            print("done")
        """, model=False, reasons=None)

    def test_operators_are_the_programs_alone(self):
        self.same("""
            from collections import Counter
            net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
            optimizer, x = torch.optim.SGD(net.parameters(), 0.1), torch.ones(2, 4)
            with torch.autograd.profiler.profile() as profile:
                for _ in range(10):
                    (net(x) + net(x)).sum().backward(); optimizer.step(); optimizer.zero_grad()
            # Not key_averages(): what two equal microseconds make look nested is dropped from there.
            print(sorted(Counter(event.name() for event in profile.kineto_results.events()).items()))
        """, model=False, reasons=None)

    def test_methods_of_the_programs_classes(self):
        self.same("""
            class Telling:
                def __getattribute__(self, name):
                    if name in ("modules", "named_modules", "parameters", "named_parameters", "buffers",
                                "named_buffers", "children", "keys", "values", "items"): print(name)
                    return super().__getattribute__(name)
                def __len__(self): print("len"); return super().__len__()
                def __iter__(self): print("iter"); return super().__iter__()
                def __hash__(self): print("hash"); return id(self)
            class List(Telling, list): pass
            class Dict(Telling, dict): pass
            class Parts(Telling, torch.nn.Sequential): pass
            net = Parts(torch.nn.Linear(4, 4))
            net.forward = lambda given: net._modules["0"](torch.ones(2, 4)).sum()
            optimizer = torch.optim.SGD([net._modules["0"].weight], 0.1)
            for given in [List([torch.ones(2, 20)]), Dict(a=torch.ones(2, 20))] * 5:
                (net(given) + net(given)).backward(); optimizer.step(); optimizer.zero_grad()
        """, model=False)

    def test_zero_grad_that_is_no_method(self):
        self.same("""
            class Static(torch.optim.SGD):
                zero_grad = staticmethod(lambda *args: print("static", len(args)))
            class OfClass(torch.optim.SGD):
                @classmethod
                def zero_grad(cls, *args): print(cls.__name__, len(args))
            class Callable:
                def __call__(self, *args): print("callable", len(args))
            class Held(torch.optim.SGD):
                zero_grad = Callable()
            for kind in (Static, OfClass, Held):
                kind([torch.nn.Parameter(torch.ones(2))], 0.1).zero_grad()
        """, model=False)

    def test_zero_grad_that_is_exchanged_for_a_while(self):
        self.same("""
            from unittest import mock
            parameters = [torch.nn.Parameter(torch.ones(2))]
            class Base(torch.optim.Optimizer):
                def __init__(self, parameters): super().__init__(parameters, {})
                def zero_grad(self, *_): print("of the base")
            class First(Base):
                def step(self): pass
            class Second(Base):
                def step(self): pass
            for owner, kinds in (torch.optim.Optimizer, (torch.optim.SGD,)), (Base, (First, Second)):
                for kind in kinds:
                    with mock.patch.object(owner, "zero_grad", lambda self: print("exchanged")):
                        kind(parameters, **({"lr": 0.1} if kind is torch.optim.SGD else {})).zero_grad()
                    optimizer = kind(parameters, **({"lr": 0.1} if kind is torch.optim.SGD else {}))
                    optimizer.zero_grad()
                    with mock.patch.object(owner, "zero_grad", lambda self: print("exchanged again")):
                        optimizer.zero_grad()
                    print("zero_grad" in vars(kind))
        """, model=False)

    def test_classes_with_a_metaclass(self):
        self.same("""
            class Watched(type):
                def __setattr__(cls, name, value):
                    if name == "zero_grad": raise AttributeError(name)
                    super().__setattr__(name, value)
                def __getattribute__(cls, name):
                    if name in ("__dict__", "__mro__", "zero_grad"): print(name)
                    return super().__getattribute__(name)
            class Own(torch.optim.SGD, metaclass=Watched):
                def zero_grad(self, *arguments): print("own"); super().zero_grad(*arguments)
            Own([torch.nn.Parameter(torch.ones(2))], 0.1).zero_grad()
            class Asked(torch.nn.Module):
                @property
                def training(self): print("asked"); return True
                @training.setter
                def training(self, value): pass
                def forward(self, x): return x
            asked = Asked()
            for _ in range(3): asked(torch.ones(1))
        """, model=False)

    def test_memory_that_cannot_be_read(self):
        """Mapped files that became shorter, a buffer over reserved addresses: the program itself reads none of it."""
        self.same("""
            import ctypes, mmap, tempfile
            def mapped():
                file = tempfile.NamedTemporaryFile()
                file.truncate(1 << 23)
                tensor = torch.from_file(file.name, shared=True, size=1 << 20, dtype=torch.int64)
                file.truncate(0)
                return tensor.view(1 << 10, 1 << 10)
            libc = ctypes.CDLL(None)
            libc.mmap.restype = ctypes.c_void_p
            reserved = libc.mmap(None, ctypes.c_size_t(1 << 23), 0, 0x22, -1, 0)
            memory = (ctypes.c_char * (1 << 23)).from_address(reserved)
            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.linear = torch.nn.Linear(4, 4)
                    self.register_buffer("cache", torch.frombuffer(memory, dtype=torch.float32).view(1 << 10, 1 << 11))
                def forward(self, ids): return self.linear(torch.ones(2, 4)) * ids.shape[0]
            net, ids = Net(), mapped()
            optimizer = torch.optim.SGD(net.parameters(), 0.1)
            for i in range(8): net(ids).sum().backward(); optimizer.step()
            for x, i in torch.utils.data.DataLoader([(ids, i) for i in range(8)], batch_size=None): pass
            print("done")
        """, model=False)

    def test_a_model_that_goes_runs_no_python_of_ours(self):
        """What a signal's handler raises in there reaches nobody: a call back of a weak reference has no caller."""
        self.same("""
            import sys
            def trained():
                net = Net(); optimizer = torch.optim.SGD(net.parameters(), 0.1)
                for i in range(4): net(torch.randn(2, 8)).sum().backward(); optimizer.step(); optimizer.zero_grad()
                net.eval(); net(torch.randn(2, 8))
                return [net, optimizer]
            trained()
            kept, called = trained(), []
            sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
            kept.clear()
            sys.setprofile(None)
            print(called)
        """)

    def test_errors_of_signal_handlers(self):
        """A time limit's error reaches the program, whichever line of ours it interrupts."""
        session = self.same("""
            import random, signal, time
            from torch.utils.data import DataLoader, TensorDataset
            class Late(Exception): pass
            class Limit:
                raised = seen = 0
                def __call__(self, *arguments):
                    self.raised += 1
                    raise Late
            limit, data = Limit(), TensorDataset(torch.randn(8, 8), torch.ones(8, dtype=torch.long))
            signal.signal(signal.SIGALRM, limit)
            def work():
                net = Net(); optimizer = torch.optim.SGD(net.parameters(), 0.1)
                for x, _ in DataLoader(data, 2):
                    net.train(); optimizer.zero_grad(); net(x).sum().backward(); optimizer.step()
                    net.eval(); net(x)
            work()
            def limited():
                try:
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(0.00005, 0.006))
                    work()
                except Late: raise
                except Exception: pass  # PyTorch was left in the middle of something
                signal.setitimer(signal.ITIMER_REAL, 0)
            end = time.monotonic() + 3
            while time.monotonic() < end:
                try: limited()
                except Late: limit.seen += 1
                torch.set_grad_enabled(True)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            print(limit.raised > 50, limit.raised - limit.seen < limit.raised / 100)
        """, reasons=None)
        kinds = Counter(record.kind for record in session.events("PhaseBegin", "PhaseEnd"))
        self.assertGreaterEqual(kinds["PhaseEnd"], kinds["PhaseBegin"], "phases that never end")

    @unittest.skipUnless(PICKLERS, "no cloudpickle or dill here")
    def test_classes_that_are_pickled_whole(self):
        """cloudpickle takes the functions of the script's classes to pieces, dill those of PyTorch's too; a Python
        without the library puts them together."""
        for pickler in PICKLERS:
            with self.subTest(pickler):
                self.same("import %s as pickler\n" % pickler + textwrap.dedent(PICKLED), reasons=None)

    def test_errors_of_calls_that_are_no_phase(self):
        self.same("""
            import sys, traceback
            class Unwilling(torch.nn.Module):
                def train(self, mode=True): return super().train("never")
            def backward_inside(gradient): torch.autograd.backward(torch.ones(1))
            x = torch.ones(2, requires_grad=True)
            x.register_hook(backward_inside)
            for fails in (lambda: (2 * x).sum().backward(), torch.nn.Sequential(Unwilling()).eval):
                try: fails()
                except Exception as error:
                    if sys.version_info >= (3, 11): traceback.print_exc()
        """, model=False)

    def test_full_collections_are_phases(self):
        session = self.same("""
            import gc
            gc.disable()
            gc.collect()
            for generation in (0, 1, 2): gc.collect(generation)
            class Loop:
                def __init__(self): self.me = self
            loop = Loop(); del loop
            print(gc.collect() > 0, len(gc.callbacks) < 2)
        """, model=False)
        self.balanced(session)
        phases = [event for event in session.events("PhaseBegin") if event.name == "garbage collection"]
        self.assertEqual([event.phase for event in phases][:3], [21, 21, 21])
        self.assertLessEqual(len(phases), 5)  # those at the end of the interpreter
