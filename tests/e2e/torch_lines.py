"""Which line of Python each operator was called from: part of torch_checks.py."""
from python_session import ALL
from torch_case import TorchCase

LINES = 1 << 8


class Lines(TorchCase):
    def stacks(self, session, *names):
        """(operator, line of the program, its function) of the operators that have a stack."""
        found = []
        for process in session.processes():
            codes, stacks = {}, {}
            for record in process.records("PythonCode", "PythonStack", "OpBegin"):
                if record.kind == "PythonCode":
                    codes[record.id] = record
                elif record.kind == "PythonStack":
                    stacks[record.id] = record
                elif record.stack and record.name in names:
                    found.append((record.name,) + self.own_line(record.stack, codes, stacks))
        return found

    def own_line(self, stack, codes, stacks):
        while stack:
            frame = stacks[stack]
            if frame.code and codes[frame.code].file.endswith("/program.py"):
                return frame.line, codes[frame.code].function.split(".")[-1]
            stack = frame.parent
        return None, None

    def test_operators_know_the_line_that_called_them(self):
        session = self.same("""
            def double(x):
                return torch.add(
                    x,
                    x)
            x = torch.ones(2, 2)
            y = [double(x)
                 for _ in range(2)]
            z = torch.nn.functional.linear(x, x)
            print(z.sum().item())
        """, trace=ALL | LINES, model=False)
        # Line 1 imports torch, `def` is line 2.
        self.assertEqual(self.stacks(session, "aten::add", "aten::linear", "aten::matmul"),
                         [("aten::add", 3, "double")] * 2 + [("aten::linear", 9, "<module>")])

    def test_only_python_calls_have_stacks(self):
        session = self.same("""
            net = Net()
            net(torch.ones(1, 8)).sum().backward()
        """, trace=ALL | LINES)
        names = {record.name for record in session.events("OpBegin") if record.stack}
        self.assertIn("aten::linear", names)
        self.assertNotIn("aten::addmm", names)  # PyTorch calls it itself

    def test_odd_programs_run_as_without_us(self):
        self.same("""
            import sys, threading
            sys.setrecursionlimit(20000)
            def deep(n):
                return torch.ones(1) if n == 0 else deep(n - 1)
            print(deep(900))
            threads = [threading.Thread(target=deep, args=(10,)) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            exec(compile("import torch\\nprint(torch.zeros(1))", "<ipython-input-1-\u00e4>", "exec"))
            class Twice(torch.autograd.Function):
                @staticmethod
                def forward(context, x): return x * 2
                @staticmethod
                def backward(context, gradient): return gradient * 2
            x = torch.ones(2, requires_grad=True)
            x.register_hook(lambda gradient: gradient * 3)
            Twice.apply(x).sum().backward()
            print(x.grad)
            import os
            child = os.fork()
            if child == 0:
                print(torch.full((1,), 7.0), flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            # It outlives the program. (A thread that has used PyTorch 1.13 makes it abort by itself.)
            import time
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        """, trace=ALL | LINES, model=False)
