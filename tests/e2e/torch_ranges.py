"""Ranges that the program and --python-functions-trace make with PyTorch; run by torch_checks.py."""
import json
import os
import tempfile
import textwrap

from python_session import PythonSession
from torch_case import PYTHON, TorchCase, without_building


class Ranges(TorchCase):
    def test_torch_nvtx(self):
        with PythonSession() as session:
            done = session.run(PYTHON, "-c", textwrap.dedent("""
                import torch
                nvtx = torch.cuda.nvtx
                nvtx.range_push("outer"); nvtx.range_push("inner")
                nvtx.range_pop(); nvtx.range_pop()
                nvtx.mark("mark")
                nvtx.range_end(nvtx.range_start("process"))
                with nvtx.range("with {}", 5): pass
            """))
            self.assertEqual((done.returncode, without_building(done.stderr)), (0, ""))
            self.assertEqual([record.message for record in session.events("RangePush")],
                             ["outer", "inner", "with 5"])
            self.assertEqual(len(session.events("RangePop")), 3)
            self.assertEqual([r.message for r in session.events("Mark")], ["mark"])
            self.assertEqual([r.message for r in session.events("RangeStart")], ["process"])
            self.assertEqual(len(session.events("RangeEnd")), 1)

    def test_functions_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "functions.json")
            with open(path, "w") as file:
                json.dump([{"module": "torch.nn.functional", "domain": "mine", "color": "red",
                            "functions": ["softmax", "no_such_function"]},
                           {"module": "json", "functions": ["JSONEncoder.encode", "dumps"]},
                           {"module": "__main__", "functions": ["f"]}], file)
            with PythonSession(functions_trace=path) as session:
                done = session.run(PYTHON, "-c", "import torch, json\n"
                                   "torch.nn.functional.softmax(torch.ones(2), 0)\njson.dumps(1)")
                self.assertEqual((done.returncode, without_building(done.stderr)), (0, ""))
                pushes = session.events("RangePush", "RangePushEx")
                self.assertEqual(
                    [(r.message, r.get("domain", "")) for r in pushes],
                    [("torch.nn.functional.softmax", "mine"), ("json.dumps", ""),
                     ("json.JSONEncoder.encode", "")])
                reasons = session.reasons()
                self.assertEqual(len(reasons), 2)
                self.assertTrue(any("functions.json: torch.nn.functional.no_such_function is not "
                                    "traced" in str(reason) for reason in reasons), reasons)
