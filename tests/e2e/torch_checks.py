"""PyTorch under the library: what is recorded, and that nothing else changes.

Runs with any PyTorch from 1.13 on: `BATCHLIGHT_BUILD=build/dev python3 tests/e2e/torch_checks.py`
checks the PyTorch of that Python. Every program runs alone and under the library; what it prints,
its warnings and its exit code must be the same.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_session import ALL, SHAPES, PythonSession, alone  # noqa: E402
from torch_case import PYTHON, TorchCase, without_building  # noqa: E402
from torch_compilers import Compilers, Parallel  # noqa: E402, F401: tests
from torch_given import Given, Half  # noqa: E402, F401: tests
from torch_lines import Lines  # noqa: E402, F401: tests
from torch_looks import Looks  # noqa: E402, F401: tests
from torch_masks import Masks  # noqa: E402, F401: tests
from torch_module_names import ModuleNames  # noqa: E402, F401: tests
from torch_operands import Operands  # noqa: E402, F401: tests
from torch_ranges import Ranges  # noqa: E402, F401: tests
from torch_savers import Savers  # noqa: E402, F401: tests
from torch_settings import Settings  # noqa: E402, F401: tests
from torch_unheld import Unheld  # noqa: E402, F401: tests

BACKWARD, STEP, ZERO_GRAD, NEXT, INIT, CHECKPOINT, SCALER = 1, 2, 3, 4, 5, 8, 12


def text_of(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


class Modules(TorchCase):
    def paths(self, session):
        return [record.path for record in session.events("ModuleBegin")]

    def test_paths_and_classes(self):
        session = self.same("""
            net = Net()
            print(net(torch.ones(1, 8)))
        """)
        block = ["encoder.layers.%d", "encoder.layers.%d.linear1", "encoder.layers.%d.Linear",
                 "encoder.layers.%d.Softmax"]
        expected = ["Net", "encoder"] + [path % i for i in range(2) for path in block] + ["head"]
        self.assertEqual(self.paths(session), expected)
        classes = {record.path: record.class_name for record in session.events("ModuleBegin")}
        self.assertEqual(classes["encoder.layers.1.linear1"], "Linear")
        self.balanced(session)

    def test_odd_modules(self):
        session = self.same("""
            class Hostile(nn.Module):
                def __init__(self): super().__init__(); self.linear = nn.Linear(8, 8)
                def __getattr__(self, name):
                    if name == "linear": return super().__getattr__(name)
                    raise KeyError(name)
                def __eq__(self, other): raise TypeError("no")
                __hash__ = None
                def forward(self, x): return self.linear(x)
            class Loop(nn.Module):
                def __init__(self): super().__init__(); self.__dict__["_modules"]["me"] = self
                def forward(self, x): return x
            class Unmade(nn.Module):
                def __init__(self): pass
                def forward(self, x): return x
            x = torch.ones(1, 8)
            print(Hostile()(x).shape, Loop()(x), torch.jit.script(nn.Linear(8, 8))(x).shape)
            try: Unmade()(x)
            except Exception as error: print(type(error))
        """, reasons=None)
        self.assertEqual(self.paths(session)[:3], ["Hostile", "linear", "Loop"])

    def test_dead_modules_are_forgotten(self):
        session = self.same("""
            import gc
            for _ in range(50):
                net = Net(); net(torch.ones(1, 8)); del net; gc.collect()
        """)
        self.assertEqual(Counter(self.paths(session))["Net"], 50)
        self.assertEqual(len(set(self.paths(session))), 11)

    def test_exceptions(self):
        session = self.same("""
            import traceback
            class Failing(nn.Module):
                def forward(self, x): raise RuntimeError("in forward")
            net = nn.Sequential(nn.Linear(8, 8), Failing())
            for _ in range(3):
                try: net(torch.ones(1, 8))
                except RuntimeError as error: print(error)
            nn.Linear(8, 8)(torch.ones(1, 8))
            optimizer = torch.optim.SGD(net.parameters(), lr=1)
            try: optimizer.step(lambda: 1 / 0)
            except ZeroDivisionError as error: print(repr(error))
            if sys.version_info >= (3, 11): net(torch.ones(1, 8))
            sys.exit(1)
        """, returncode=1)
        self.assertEqual(self.paths(session)[:3], ["Sequential", "0", "1"])
        self.balanced(session)

    def test_steps_without_detail_change_nothing(self):
        """Hooks in order, exceptions with the traceback of the program (from Python 3.11 on)."""
        session = self.same("""
            import traceback
            class Failing(nn.Module):
                def forward(self, x): raise RuntimeError("in forward")
            seen, net = [], nn.Sequential(nn.Linear(8, 8), Failing())
            net[0].register_forward_pre_hook(lambda *_: seen.append("before"))
            net[0].register_forward_hook(lambda *_: seen.append("after"))
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for _ in range(50):
                optimizer.zero_grad()
                try: net(torch.ones(1, 8))
                except RuntimeError as error:
                    new = sys.version_info >= (3, 11)
                    seen.append(traceback.format_exc() if new else str(error))
                net[0](torch.ones(1, 8)).sum().backward()
                optimizer.step()
            print(seen[:3], len(seen), len(set(seen)), net[0].weight.double().sum().item().hex())
        """, extra="detail.every=3\n")
        self.assertGreaterEqual(len(session.events("Mark")), 18)
        self.balanced(session)

    def test_warnings_name_the_same_line(self):
        self.same("""
            import warnings
            warnings.simplefilter("always")
            class Warning(nn.Module):
                def forward(self, x):
                    for level in range(1, 5): warnings.warn("in forward %d" % level, stacklevel=level)
                    return x
            class Mine(torch.optim.SGD):
                def __init__(self, *args):
                    super().__init__(*args); warnings.warn("in init", stacklevel=2)
                def step(self):
                    for level in range(1, 4): warnings.warn("in step %d" % level, stacklevel=level)
            def outer(): return nn.Sequential(Warning())(torch.ones(1))
            outer()
            Mine(nn.Linear(1, 1).parameters(), 1.0).step()
            class Odd:
                def __reduce__(self): warnings.warn("in save", stacklevel=3); return Odd, ()
            torch.save(Odd(), "odd.pt")
            class Inner(torch.utils.data.Dataset):
                def __len__(self): return 1
                def __getitem__(self, i):
                    for level in range(1, 7): warnings.warn("in item %d" % level, stacklevel=level)
                    return i
            list(torch.utils.data.DataLoader(Inner()))
        """)

    @unittest.skipUnless((3, 9) <= sys.version_info < (3, 12), "no function gives the level back")
    def test_recursion_comes_as_deep(self):
        self.same("""
            class Deep(nn.Module):
                def __init__(self, depth):
                    super().__init__(); self.depth = depth; self.weight = nn.Parameter(torch.ones(()))
                def forward(self, x): return self(x + 1) if int(x) < self.depth else x
            depth = 220 if hasattr(nn.Module, "_wrapped_call_impl") else 290
            model = Deep(depth)
            for _ in range(8): print(model(torch.zeros(())))  # more than pass before calls are watched
            try: Deep(5000)(torch.zeros(()))
            except RecursionError: print("too deep")
            print(Deep(depth)(torch.zeros(())))
        """)

    def test_threads(self):
        session = self.same("""
            import threading
            nets = [Net() for _ in range(4)]
            def work(net):
                for _ in range(20): net(torch.ones(1, 8))
            threads = [threading.Thread(target=work, args=(net,)) for net in nets]
            for t in threads: t.start()
            for t in threads: t.join()
        """)
        self.assertEqual(sum(bool(re.fullmatch(r"net(#\d)?", path)) for path in self.paths(session)), 80)
        self.balanced(session)


class Training(TorchCase):
    def phases(self, session):
        return Counter((record.phase, record.name) for record in session.events("PhaseBegin"))

    def test_same_numbers(self):
        session = self.same("""
            import copy, hashlib, io, pickle, random
            random.seed(0)
            from torch.utils.data import DataLoader, TensorDataset
            net = Net()
            data = TensorDataset(torch.randn(12, 8), torch.randint(2, (12,)))
            loader = DataLoader(data, batch_size=4, shuffle=True)
            optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
            for epoch in range(2):
                for x, y in loader:
                    optimizer.zero_grad()
                    loss = nn.functional.cross_entropy(net(x), y) + torch.rand(()) * 0
                    loss.backward()
                    optimizer.step()
                    print(loss.item().hex())
            def digest(value):
                buffer = io.BytesIO(); torch.save(value, buffer)
                return hashlib.sha256(buffer.getvalue()).hexdigest()
            print(digest([p.detach() for p in net.parameters()]), torch.rand(3), random.random())
            print(list(net.state_dict()), sorted(vars(net)), len(net._forward_hooks))
            print(digest(copy.deepcopy(net).state_dict()))
            print(digest(pickle.loads(pickle.dumps(net)).state_dict()))
            torch.save(net, "net.pt"); torch.save(optimizer.state_dict(), "optimizer.pt")
            for options in ({"weights_only": False}, {}):
                try: again = torch.load("net.pt", **options); break
                except TypeError: pass
            print(type(again).__name__, again(torch.ones(1, 8)))
            print(pickle.loads(pickle.dumps(torch.save)) is torch.save,
                  pickle.loads(pickle.dumps(torch.autograd.backward)) is torch.autograd.backward)
            pickle.loads(pickle.dumps(optimizer)).step()
            grad, = torch.autograd.grad(net(torch.ones(1, 8)).sum(), [net.head.bias])
            print(grad)
        """)
        phases = self.phases(session)
        self.assertEqual(phases[BACKWARD, "torch.autograd.backward"], 6)
        self.assertEqual(phases[BACKWARD, "torch.autograd.grad"], 1)
        self.assertEqual(phases[STEP, "Optimizer.step#AdamW.step"], 7)
        self.assertEqual(phases[ZERO_GRAD, "Optimizer.zero_grad#AdamW.zero_grad"], 6)
        self.assertEqual(phases[INIT, "DataLoader.__iter__"], 2)
        self.assertEqual(phases[NEXT, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"], 8)
        self.assertEqual(phases[CHECKPOINT, "torch.load"], 1)
        self.assertGreaterEqual(phases[CHECKPOINT, "torch.save"], 2)
        self.balanced(session)

    def test_every_optimizer(self):
        session = self.same("""
            import inspect
            for name, kind in sorted(vars(torch.optim).items()):
                if not inspect.isclass(kind) or kind is torch.optim.Optimizer: continue
                if not issubclass(kind, torch.optim.Optimizer): continue
                sparse = name == "SparseAdam"
                table = nn.Embedding(4, 4, sparse=sparse)
                if name == "Muon": table = nn.Linear(4, 4, bias=False)
                optimizer = kind(table.parameters(), lr=0.1)
                def closure():
                    optimizer.zero_grad()
                    x = torch.ones(2, 4) if name == "Muon" else torch.tensor([1, 2])
                    loss = table(x).sum(); loss.backward(); return loss
                closure(); optimizer.step(closure if name == "LBFGS" else None)
                print("stepped", name)
            class Mine(torch.optim.SGD):
                def step(self, closure=None): return super().step(closure)
            net = nn.Linear(2, 2); Mine(net.parameters(), lr=1).step(); net.zero_grad()
            scheduler_of = torch.optim.SGD(net.parameters(), lr=1)
            scheduler = torch.optim.lr_scheduler.StepLR(scheduler_of, 1)
            scheduler_of.step(); scheduler.step()
        """)
        phases = self.phases(session)
        steps = [name for phase, name in phases if phase == STEP]
        self.assertGreaterEqual(len(steps), 12)
        for name in ("AdamW", "SGD", "LBFGS", "Mine", "SparseAdam", "Rprop"):
            self.assertIn("Optimizer.step#%s.step" % name, steps)
        self.assertEqual(phases[STEP, "Optimizer.step#Adam.step"], 1)
        self.assertEqual(phases[ZERO_GRAD, "Module.zero_grad"], 1)
        self.balanced(session)

    def test_optimizers_of_one_class_are_told_apart(self):
        session = self.same("""
            import copy, gc
            nets = [nn.Linear(2, 2) for _ in range(3)]
            first, second = (torch.optim.Adam(net.parameters()) for net in nets[:2])
            for _ in range(3):
                for net, optimizer in zip(nets, (first, second)):
                    net(torch.ones(1, 2)).sum().backward(); optimizer.step()
            print(sorted(first.state_dict()), sorted(vars(copy.deepcopy(second))) == sorted(vars(second)))
            del first, second; gc.collect()
            third = torch.optim.Adam(nets[2].parameters())
            scheduler = torch.optim.lr_scheduler.StepLR(third, 1)
            third.step(); scheduler.step()
        """)
        phases = self.phases(session)
        names = {name: count for (phase, name), count in phases.items() if phase == STEP}
        self.assertEqual(names, {"Optimizer.step#Adam.step": 3, "Optimizer.step#Adam.step#2": 3,
                                 "Optimizer.step#Adam.step#3": 1})
        self.balanced(session)

    def test_data_loader_workers(self):
        for method in ("fork", "spawn"):
            session = self.same("""
                from torch.utils.data import DataLoader
                def collate(items): return torch.tensor(items).float().sum()
                if __name__ == "__main__":
                    loader = DataLoader(list(range(8)), batch_size=2, num_workers=2,
                                        collate_fn=collate, multiprocessing_context="%s")
                    for _ in range(2): print([float(x) for x in loader])
            """ % method, model=False)
            phases = self.phases(session)
            name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
            self.assertEqual(phases[NEXT, name], 10)
            self.assertEqual(phases[INIT, "DataLoader.__iter__"], 2)
            workers = {record.chunk.pid for record in session.events("OpBegin")
                       if record.name == "aten::sum"}
            self.assertGreaterEqual(len(workers), 2, method)

    def test_modes_and_evaluation_calls(self):
        session = self.same("""
            net = Net()
            x = torch.ones(1, 8)
            net(x).sum().backward()          # trains
            with torch.no_grad(): net(x)     # in train mode
            net.eval()
            net(x)                           # with gradients
            with torch.no_grad():
                net(x)
                nn.MSELoss()(x, x)           # in train mode, as nobody switches it
            net.encoder.train()              # a part of it
            net.train()
            try:
                with torch.no_grad(): net(None)
            except Exception as error: print(type(error).__name__)
        """)
        kinds = {15: "call", 16: "train", 17: "eval"}
        found = [(kinds[record.phase], record.name) for record in session.events("PhaseBegin")
                 if record.phase in kinds]
        self.assertEqual(found, [
            ("call", "no_grad"), ("eval", "Module.eval"), ("call", "eval"),
            ("call", "eval, no_grad"), ("call", "no_grad"), ("train", "Module.train"),
            ("train", "Module.train"), ("call", "no_grad")])
        self.balanced(session)

    def test_scaler_and_checkpointing(self):
        session = self.same("""
            import warnings; warnings.simplefilter("ignore")
            from torch.utils.checkpoint import checkpoint
            device = "cuda" if torch.cuda.is_available() else "cpu"
            encoder = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).to(device)
            head = nn.Linear(8, 2).to(device)
            scaler = torch.cuda.amp.GradScaler(enabled=device == "cuda")
            optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
            x = torch.ones(4, 8, device=device, requires_grad=True)
            y = head(checkpoint(encoder, x, use_reentrant=True)).sum()
            scaler.scale(y).backward()
            scaler.unscale_(optimizer); scaler.step(optimizer); scaler.update()
            print(head.bias.grad)
        """)
        phases = self.phases(session)
        self.assertEqual(phases[BACKWARD, "torch.autograd.backward"], 1)  # not the inner one
        for name in ("step", "unscale_", "update"):
            self.assertEqual(phases[SCALER, "GradScaler." + name], 1)
        self.balanced(session)


class Operators(TorchCase):
    def test_operators(self):
        session = self.same("""
            x = torch.ones(2, 3, requires_grad=True)
            y = torch.nn.functional.linear(x, torch.ones(4, 3))
            y.sum().backward()
            with torch.profiler.record_function("mine"): torch.add(x, x)
            print(y.shape)
        """, model=False)
        begins = session.events("OpBegin")
        names = Counter(record.name for record in begins)
        for name in ("aten::linear", "mine"):
            self.assertEqual(names[name], 1, name)
        linear, = (record for record in begins if record.name == "aten::linear")
        self.assertEqual((linear.scope, linear.shapes), (0, ""))
        mine, = (record for record in begins if record.name == "mine")
        self.assertEqual(mine.scope, 7)
        backward = [record for record in begins if record.scope == 1]
        forward = {record.sequence for record in begins if record.scope == 0}
        self.assertTrue(backward)
        self.assertTrue(any(record.sequence in forward and record.sequence >= 0
                            for record in backward))
        self.balanced(session)

    def test_inputs(self):
        session = self.same("""
            torch.add(torch.ones(2, 3), torch.ones(3, dtype=torch.int64), alpha=2)
            torch.cat([torch.ones(1, 2), torch.ones(4, 2)], 0)
            torch.nn.functional.max_pool2d(torch.ones(1, 1, 4, 4), [2, 2])
            torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3), None)
            torch.cat([torch.ones(1, 1)] * 2000)                  # more than there is room for
            nested = torch.nested_tensor if hasattr(torch, "nested_tensor") else None
            try: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]) * 2
            except Exception: pass
        """, trace=ALL | SHAPES, model=False)
        found = {}
        for record in session.events("OpBegin"):
            found.setdefault(record.name, self.raw_shapes(record))
        add = (tensor(6, 2, 3) + tensor(4, 3) + b"\xfc" + struct.pack("<q", 2))
        self.assertEqual(found["aten::add"], add)
        cat = b"\xfd\x02" + tensor(6, 1, 2) + tensor(6, 4, 2) + b"\xfc" + struct.pack("<q", 0)
        self.assertEqual(found["aten::cat"], cat)
        self.assertTrue(found["aten::max_pool2d"].startswith(
            tensor(6, 1, 1, 4, 4) + b"\xfb\x02" + struct.pack("<qq", 2, 2)))
        self.assertEqual(found["aten::linear"][-1:], b"\xff")
        for record in session.events("OpBegin"):
            self.assertLessEqual(len(self.raw_shapes(record)), 4096)
        self.balanced(session)

    def raw_shapes(self, record):
        return record.raw.get("shapes", b"")

    def test_beside_torch_profiler(self):
        session = self.same("""
            from torch.profiler import profile, ProfilerActivity
            net = Net()
            with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as p:
                net(torch.ones(1, 8))
            print(sum(e.count for e in p.key_averages() if e.key == "aten::linear"))
            with torch.autograd.profiler.profile() as p: net(torch.ones(1, 8))
        """)
        names = Counter(record.name for record in session.events("OpBegin"))
        self.assertEqual(names["aten::linear"], 10)

    def test_torch_profiler_knows_modules_by_their_frames(self):
        self.same("""
            from torch.profiler import profile
            import collections, json
            net = Net()
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            def step():
                net(torch.ones(1, 8)).sum().backward()
                opt.step()
                opt.zero_grad()
            for _ in range(200):
                step()
            with profile(with_stack=True) as p:
                step()
            p.export_chrome_trace("trace.json")
            trace = json.load(open("trace.json"))
            events = trace if isinstance(trace, list) else trace["traceEvents"]  # list: without Kineto
            names = [e.get("name", "") for e in events]
            modules = collections.Counter(n for n in names if n.startswith("nn.Module: "))
            print(sorted(modules.items()))
        """)

    def test_costs_are_measured(self):
        session = self.same("Net()(torch.ones(1, 8)); print('done')")
        costs = {r.key: float(r.value) for r in session.events("Property")
                 if r.key.startswith("cost.")}
        self.assertEqual(set(costs), {"cost.module_ns", "cost.operator_ns", "cost.phase_ns"})
        for key, ns in costs.items():
            self.assertTrue(1 < ns < 1e6, (key, ns))
        self.assertNotIn("calibration", {r.path for r in session.events("ModuleBegin")})
        detached = sum(r.name == "aten::detach" for r in session.events("OpBegin"))
        self.assertLess(detached, 40, "calibration calls it 200 times")
        self.balanced(session)

    def test_ranks_build_once(self):
        # Processes that start together on an empty cache: one builds, all record.
        with tempfile.TemporaryDirectory() as empty, PythonSession() as session:
            environment = dict(session.environment(), XDG_CACHE_HOME=empty)
            running = [subprocess.Popen(
                [PYTHON, "-c", "import torch; torch.ones(2).sum()"], env=environment,
                stderr=subprocess.PIPE, text=True) for _ in range(3)]
            errors = "".join(process.communicate(timeout=300)[1] for process in running)
            self.assertEqual([process.returncode for process in running], [0, 0, 0])
            self.assertEqual(errors.count("building the operator recorder"), 1, errors)
            self.assertEqual(errors.count("\n"), 1, errors)
            sums = [r for r in session.events("OpBegin") if r.name == "aten::sum"]
            self.assertEqual(len({record.chunk.pid for record in sums}), 3)
            files = [name for _, _, names in os.walk(empty) for name in names]
            self.assertEqual(sorted(files), ["lock", "torch_ops.so"])

    def test_no_compiler_with_cuda(self):
        # Operators come from PyTorch's NVTX ranges, with one line that says why. The program's own
        # profiler goes first.
        if not self.has_cuda():
            self.skipTest("this PyTorch is built without CUDA")
        program = """
            import torch
            from torch.profiler import ProfilerActivity, profile
            x = torch.ones(2)
            x.sin()
            for _ in range(2):
                with profile(activities=[ProfilerActivity.CPU]) as p: x.cos()
                print(sum(e.count for e in p.key_averages() if e.key == "aten::cos"))
            x.tan().requires_grad_().exp().sum().backward()
            print(torch.cuda.is_initialized())
        """
        with tempfile.TemporaryDirectory() as empty, PythonSession() as session:
            done = session.run(PYTHON, "-c", textwrap.dedent(program),
                               env={"XDG_CACHE_HOME": empty, "PATH": empty, "CXX": ""})
            self.assertEqual((done.returncode, done.stdout), (0, "1\n1\nFalse\n"), done.stderr)
            self.assertRegex(done.stderr, r"\Abatchlight: operators come from PyTorch's NVTX .*\n")
            self.assertEqual([feature for feature, _ in session.reasons()], ["torch_ops"])
            self.assertEqual(session.events("RangePush"), [])
            names = Counter(record.name for record in session.events("OpBegin"))
            self.assertEqual([names["aten::" + name] for name in ("sin", "cos", "tan", "exp")],
                             [1, 0, 1, 1])
            exp, = (r for r in session.events("OpBegin") if r.name == "aten::exp")
            backward = [r for r in session.events("OpBegin") if r.name.startswith("ExpBackward")]
            self.assertEqual([(r.sequence, r.scope) for r in backward], [(exp.sequence, 1)])
            self.balanced(session)

    def has_cuda(self):
        return alone(PYTHON, "-c", "import torch, sys; sys.exit(torch.version.cuda is None)"
                     ).returncode == 0

    def test_no_compiler(self):
        # Operators are off, with one line that says why; everything else is recorded.
        if self.has_cuda():
            self.skipTest("this PyTorch is built with CUDA")
        with tempfile.TemporaryDirectory() as empty:
            with PythonSession() as session:
                done = session.run(PYTHON, "-c", "import torch; torch.nn.Linear(2, 2)(torch.ones(2))",
                                   env={"XDG_CACHE_HOME": empty, "PATH": empty, "CXX": ""})
                self.assertEqual((done.returncode, done.stdout), (0, ""))
                self.assertRegex(done.stderr, r"\Abatchlight: operators are not recorded.*\n\Z")
                self.assertEqual([feature for feature, _ in session.reasons()], ["torch_ops"])
                self.assertEqual(len(session.events("ModuleBegin")), 1)
                self.assertEqual(session.events("OpBegin"), [])

    def compiler(self, folder, header="", link=""):
        """A compiler that counts its runs, finds another record_function.h first, and leaves that
        code in the library."""
        os.makedirs(os.path.join(folder, "broken", "ATen"))
        with open(os.path.join(folder, "broken", "ATen", "record_function.h"), "w") as file:
            file.write(header or "#include_next <ATen/record_function.h>\n")
        with open(os.path.join(folder, "extra.cpp"), "w") as file:
            file.write(link)
        path = os.path.join(folder, "compiler")
        with open(path, "w") as file:
            file.write('#!/bin/sh\necho run >> "%s/runs"\nexec c++ -I"%s/broken" "$@" "%s/extra.cpp" '
                       '-O0 -Wfatal-errors\n'
                       % (folder, folder, folder))
        os.chmod(path, 0o755)
        return path

    def operators_without_recorder(self, folder, compiler, processes=1):
        """Runs the program with that compiler; its standard error. The next best source is used."""
        with PythonSession() as session:
            environment = dict(session.environment(), XDG_CACHE_HOME=os.path.join(folder, "cache"),
                               CXX=compiler)
            program = "import torch; torch.nn.Linear(2, 2)(torch.ones(2)); print('fine')"
            running = [subprocess.Popen([PYTHON, "-c", program], env=environment, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                       for _ in range(processes)]
            ends = [process.communicate(timeout=300) for process in running]
            errors = "".join(error for _, error in ends)
            self.assertEqual([(process.returncode, out) for process, (out, _) in zip(running, ends)],
                             [(0, "fine\n")] * processes, errors)
            self.assertEqual([name for name, _ in session.reasons()], ["torch_ops"] * processes)
            self.assertEqual(len(session.events("ModuleBegin")), processes)
            linear = [r for r in session.events("OpBegin") if r.name == "aten::linear"]
            self.assertEqual(len(linear), processes if self.has_cuda() else 0)
        return errors

    NEXT_BEST = r"batchlight: operators (come from PyTorch's NVTX ranges|are not recorded)"

    def test_headers_that_do_not_compile(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler = self.compiler(folder, "#error another interface\n")
            errors = self.operators_without_recorder(folder, compiler, processes=2)
            self.assertEqual(len(re.findall(self.NEXT_BEST, errors)), 2, errors)
            self.assertEqual(errors.count("building the operator recorder"), 1, errors)
            log, = set(re.findall(r"see (\S+build\.log)\)", errors))
            self.assertIn("another interface", text_of(log))
            runs = text_of(folder, "runs")
            self.assertEqual(runs.count("run"), 2, "once with each C++ standard, by one process")

            # It is not tried again, until the compiler or the headers are others.
            errors = self.operators_without_recorder(folder, compiler)
            self.assertRegex(errors, r"\A%s.*build\.log\)\n\Z" % self.NEXT_BEST)
            self.assertEqual(text_of(folder, "runs"), runs)
            os.utime(compiler, (1, 1))
            self.operators_without_recorder(folder, compiler)
            self.assertNotEqual(text_of(folder, "runs"), runs)

    def test_recorder_that_does_not_load(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler = self.compiler(folder, link="void missing(); struct At { At() { missing(); } } at;")
            errors = self.operators_without_recorder(folder, compiler)
            self.assertRegex(without_building(errors), r"\A%s.*missing.*\n\Z" % self.NEXT_BEST)


def tensor(dtype, *sizes):
    return bytes([len(sizes), dtype]) + struct.pack("<%dq" % len(sizes), *sizes)


if __name__ == "__main__":
    if alone(PYTHON, "-c", "import torch").returncode != 0:
        print("skipped: %s does not import torch" % PYTHON)
        sys.exit(77)
    unittest.main()
