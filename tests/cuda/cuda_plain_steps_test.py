"""Steps without detail on the stand-in libcupti: nothing of CUDA is recorded in them, and where the
program has CUDA graphs, CUPTI is left alone."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from python_session import ALL, BUILD, LIBRARY, PythonSession  # noqa: E402

FAKES = os.environ.get("BATCHLIGHT_FAKES") or os.path.join(BUILD, "test", "fakes")
TRACE_CUDA = 1 << 5

# 61 steps of ten kernels each; one in four of the last forty goes without detail.
STEPS = """
import ctypes, sys
import _batchlight_native as native
cuda = ctypes.CDLL(%r)
class Launch(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("grid", ctypes.c_int32 * 3), ("block", ctypes.c_int32 * 3),
                ("stream", ctypes.c_uint32), ("duration_ns", ctypes.c_uint32),
                ("graph_node", ctypes.c_uint64), ("through_driver", ctypes.c_uint32)]
launch = Launch(b"_ZN4gemmEv", (1, 1, 1), (32, 1, 1), 7, 1000, 0, 0)
cuda.fake_cuda_init()
graphs = int(sys.argv[1])
for step in range(61):
    for _ in range(10):
        cuda.fake_cuda_launch(ctypes.byref(launch))
    cuda.fake_cuda_stream_synchronize(7, 1000)
    if graphs and step == 5:
        cuda.fake_cuda_graph_node(ctypes.c_uint64(1), ctypes.c_uint64(0))
    if graphs and step > 5:
        cuda.fake_cuda_graph_launch(5, 7, 1000)
    native.phase_begin(2, "Optimizer.step#SGD.step")
    native.phase_end()
""" % os.path.join(FAKES, "libcupti.so.13")


class PlainSteps(unittest.TestCase):
    def run_steps(self, graphs):
        with PythonSession(trace=ALL | TRACE_CUDA, extra="detail.every=4\n") as session:
            done = session.run("/usr/bin/python3", "-c", STEPS, str(graphs),
                               env={"CUDA_INJECTION64_PATH": LIBRARY, "LD_LIBRARY_PATH": FAKES})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(session.reasons(), [])
            return {kind: session.events(kind)
                    for kind in ("Kernel", "CudaCall", "GpuWait", "GraphLaunch", "Mark")}

    def test_nothing_of_cuda(self):
        records = self.run_steps(graphs=0)
        self.assertEqual(len(records["Mark"]), 20)
        self.assertEqual(len(records["Kernel"]), 510)
        self.assertEqual(len(records["GpuWait"]), 51)
        launched = {record.correlation for record in records["Kernel"]}
        self.assertLessEqual(launched, {record.correlation for record in records["CudaCall"]})

    def test_a_program_with_graphs(self):
        """The stand-in, as CUPTI, crashes a replay if whole graphs are enabled late."""
        records = self.run_steps(graphs=1)
        self.assertEqual(len(records["Mark"]), 20, "operators and modules are left out all the same")
        self.assertEqual(len(records["Kernel"]), 610)
        self.assertEqual(len(records["GraphLaunch"]), 55)


if __name__ == "__main__":
    unittest.main()
