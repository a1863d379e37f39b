"""What operators cost that PyTorch writes as NVTX ranges, with a stand-in for a PyTorch with CUDA."""
import os
import sys
import textwrap
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_session import PYTHON_PATH, PythonSession  # noqa: E402

# An operator is a range around it, and of the work for its text: 20 us here.
STAND_IN = """
    import sys, time, types
    sys.path.insert(0, {path!r})
    import batchlight
    from _batchlight._bridge import _torch_emit_nvtx

    on, calls = [], [0]
    def detach(tensor):
        calls[0] += 1
        if not on: return
        begin = time.perf_counter_ns()
        while time.perf_counter_ns() - begin < 20_000: pass
        batchlight.push_range("aten::detach, op_id = %d" % calls[0])
        batchlight.pop_range()

    anything = lambda *args: None
    torch = types.SimpleNamespace(
        empty=anything, Tensor=types.SimpleNamespace(detach=detach),
        _C=types.SimpleNamespace(
            _autograd=types.SimpleNamespace(_enable_profiler=lambda *_: on.append(1),
                                            _disable_profiler=on.clear),
            _profiler=types.SimpleNamespace(
                ProfilerConfig=anything, _ExperimentalConfig=anything,
                ProfilerState=types.SimpleNamespace(NVTX=2))))
    print(_torch_emit_nvtx.install(torch, {shapes}))
    detach(None)
"""

STEPS = """
    import _batchlight_native as native
    ranges = []
    for step in range(61):
        ranges.append(bool(on))
        native.phase_begin(2, "Optimizer.step#SGD.step")
        native.phase_end()
    print(ranges[:21].count(False), ranges[21:].count(False))
"""


class Cost(unittest.TestCase):
    def test_it_is_more_than_the_record(self):
        for shapes in (False, True):
            with PythonSession() as session:
                done = session.run("/usr/bin/python3", "-c", textwrap.dedent(
                    STAND_IN.format(path=PYTHON_PATH, shapes=shapes)))
                self.assertEqual((done.returncode, done.stdout), (0, "True\n"), done.stderr)
                self.assertEqual(session.reasons(), [])
                cost = float(session.properties()["cost.operator_ns"])
                self.assertTrue(20_000 < cost < 1e6, cost)
                self.assertEqual(len(session.events("RangePush")), 1,
                                 "nothing of the calibration is recorded")

    def test_steps_without_detail_have_none(self):
        with PythonSession(extra="detail.every=4\n") as session:
            code = STAND_IN.format(path=PYTHON_PATH, shapes=False) + STEPS
            done = session.run("/usr/bin/python3", "-c", textwrap.dedent(code))
        self.assertEqual((done.returncode, done.stdout), (0, "True\n0 10\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
