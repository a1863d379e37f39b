"""A program with PyTorch, run alone and under the library: what torch_checks.py is made of."""
import os
import re
import sys
import tempfile
import textwrap
import unittest
from collections import Counter

from python_session import ALL, PythonSession, alone

PYTHON = sys.executable

MODEL = """
    import sys, torch
    from torch import nn
    torch.manual_seed(0)
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear1 = nn.Linear(8, 8)
            self.extra = [nn.Linear(8, 8)]
        def forward(self, x):
            return nn.Softmax(dim=-1)(self.extra[0](self.linear1(x)))
    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(Block() for _ in range(2))
        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = Encoder()
            self.head = nn.Linear(8, 2)
        def forward(self, x):
            return self.head(self.encoder(x))
"""


def without_times(text):
    """PyTorch's log lines start with the time and the process; a finalizer's warning names a folder
    of that run only; and whether Python still tracks a worker's semaphore when it ends is a race of
    processes that are ending."""
    text = re.sub(r"/tmp/tmp\w+", "/tmp/tmp", text)
    text = re.sub(r"(?m)^\S*resource_tracker\.py:\d+: UserWarning: .*\n +warnings\.warn\(.*\n", "", text)
    return re.sub(r"(?m)^(\[rank\d\]:)?\[?[WEI]\d{4} [\d:.]+( +\d+)?|^[A-Z]+:[\d: -]+", "", text)


def without_building(text):
    """The first run with a PyTorch says that it builds the operator recorder."""
    return re.sub(r"(?m)^batchlight: building .*\n", "", text)


class TorchCase(unittest.TestCase):
    def same(self, program, trace=ALL, model=True, returncode=0, reasons=(), **members):
        """Runs the program both ways; the session, to look into."""
        code = textwrap.dedent(MODEL if model else "import torch") + textwrap.dedent(program)
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "program.py")
            with open(script, "w") as file:
                file.write(code)
            expected = alone(PYTHON, script, cwd=folder)
            self.assertEqual(expected.returncode, returncode, expected.stderr)
            session = self.entered(PythonSession(trace, **members))
            done = session.run(PYTHON, script, cwd=folder)
        errors = without_times(without_building(done.stderr))
        self.assertEqual((done.returncode, done.stdout), (expected.returncode, expected.stdout),
                         done.stderr + expected.stderr)
        self.assertEqual(errors, without_times(expected.stderr))
        if reasons is not None:
            self.assertEqual(session.reasons(), list(reasons))
        return session

    def entered(self, manager):
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def balanced(self, session):
        """Begins and ends of each kind are paired on every thread."""
        for process in session.processes():
            depth = Counter()
            for record in process.records():
                match = re.match(r"(Module|Phase|Op|Range)(Begin|Push|End|Pop)$", record.kind)
                if match:
                    key = record.chunk.thread_index, match[1]
                    depth[key] += 1 if match[2] in ("Begin", "Push") else -1
                    self.assertGreaterEqual(depth[key], 0)
            self.assertFalse(+depth)
