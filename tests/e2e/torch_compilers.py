"""PyTorch's compilers and parallel wrappers under the library; run by torch_checks.py."""
from collections import Counter

from python_session import alone
from torch_case import PYTHON, TorchCase

COMPILE = 7


PLAIN = """
            class Plain(nn.Module):
                def __init__(self):
                    super().__init__(); self.a = nn.Linear(8, 8); self.b = nn.Linear(8, 2)
                def forward(self, x): return self.b(torch.relu(self.a(x)))
"""


class Compilers(TorchCase):
    def test_script_and_trace(self):
        self.same(PLAIN + """
            net, x = Plain(), torch.ones(1, 8)
            traced, scripted = torch.jit.trace(net, x), torch.jit.script(net)
            print(traced(x), scripted(x)); print(traced.graph, scripted.graph)
            graph = torch.fx.symbolic_trace(net); print(graph.code, graph(x))
            class Words(nn.Module):
                def __init__(self):
                    super().__init__(); self.table = nn.Embedding(9, 4)
                def forward(self, ids): return self.table(ids).sum()
            print(torch.jit.trace(Words(), torch.arange(256).reshape(8, 32) % 9).graph)
        """)

    def test_compile(self):
        if not self.has_compile():
            self.skipTest("this PyTorch has no torch.compile")
        session = self.same(PLAIN + """
            import torch._dynamo
            from torch._dynamo.utils import counters
            net, x = Plain(), torch.ones(1, 8)
            compiled = torch.compile(net, backend="aot_eager", fullgraph=True)
            for size in (1, 1, 2, 3): print(compiled(torch.ones(size, 8)).sum().item().hex())
            compiled(x).sum().backward()
            print(sorted(counters["stats"].items()), dict(counters["graph_break"]))
            torch._dynamo.reset(); counters.clear()

            class Breaking(nn.Module):
                def __init__(self):
                    super().__init__(); self.net = Plain()
                def forward(self, x):
                    y = self.net(x); torch._dynamo.graph_break(); return self.net(y.repeat(1, 4))
            breaking = Breaking(); breaking.compile(backend="aot_eager")
            for _ in range(3): print(breaking(x).sum().item().hex())
            print(sorted(counters["stats"].items()), sum(counters["graph_break"].values()))
            torch._dynamo.reset(); counters.clear()

            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            @torch.compile(backend="aot_eager")
            def step(x):
                optimizer.zero_grad(); loss = net(x).sum(); loss.backward(); optimizer.step()
                return loss
            for _ in range(3): print(step(x).item().hex())
            print(sorted(counters["stats"].items()), sum(counters["graph_break"].values()))
        """)
        phases = Counter(record.phase for record in session.events("PhaseBegin"))
        paths = [record.path for record in session.events("ModuleBegin")]
        self.assertIn("OptimizedModule", paths)
        self.assertGreaterEqual(phases[COMPILE], 2)
        if self.says_why_it_recompiles():
            function, _, guard = session.properties()["compile.guard.0"].partition("\t")
            self.assertIn("Plain.forward` (", function)
            self.assertIn("size mismatch at index 0. expected 1, actual 2", guard)
        self.balanced(session)

    def test_export(self):
        if not self.has_compile():
            self.skipTest("this PyTorch has no torch.export")
        self.same(PLAIN + """
            net, x = Plain(), torch.ones(1, 8)
            for strict in (True, False):
                print(torch.export.export(net, (x,), strict=strict).graph_module.code)
        """)

    def has_compile(self):
        return alone(PYTHON, "-c", "import torch, sys; sys.exit(not hasattr(torch, 'export'))"
                     ).returncode == 0

    def says_why_it_recompiles(self):
        return alone(PYTHON, "-c", "import torch, sys; sys.exit(torch.__version__ < '2.11')").returncode == 0


class Parallel(TorchCase):
    def test_distributed_wrappers(self):
        session = self.same("""
            import os, torch.distributed as dist
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
            dist.init_process_group("gloo", rank=0, world_size=1,
                                    store=dist.HashStore())
            net = nn.parallel.DistributedDataParallel(Net())
            net(torch.ones(1, 8)).sum().backward()
            print(list(net.state_dict())[:2])
            dist.destroy_process_group()
        """)
        paths = [record.path for record in session.events("ModuleBegin")]
        self.assertEqual(paths[:3], ["DistributedDataParallel", "Net", "encoder"])
        self.balanced(session)
