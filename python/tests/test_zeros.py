"""What is told of large matrices that are nearly all zeros."""
import sys
import types
import unittest
import unittest.mock

from bridge_case import BridgeCase, Tensor

try:
    import numpy
except ImportError:
    numpy = None


class Module:
    def __init__(self, *buffers):
        self._modules, self._buffers = {}, dict(enumerate(buffers))


@unittest.skipIf(numpy is None, "no NumPy in this Python")
class Zeros(BridgeCase):
    name = "_torch_zeros"

    def setUp(self):
        super().setUp()
        self.traced = None
        stub = types.SimpleNamespace(Tensor=Tensor, nn=types.SimpleNamespace(Parameter=type("Parameter", (Tensor,), {})),
                                     _C=types.SimpleNamespace(_get_tracing_state=lambda: self.traced))
        patch = unittest.mock.patch.dict(sys.modules, torch=stub)
        patch.start()
        self.addCleanup(patch.stop)

    @staticmethod
    def graph(nodes, kept=0.002):
        random = numpy.random.RandomState(1)
        edges = numpy.zeros((nodes, nodes), numpy.float32)
        count = int(kept * nodes * nodes)
        edges[random.randint(0, nodes, count), random.randint(0, nodes, count)] = 1
        return edges

    def test_an_argument_a_part_of_one_and_a_buffer(self):
        adjacency = Tensor(self.graph(1200))
        for call in ((Module(), (adjacency,), {}), (Module(), ([adjacency],), {}),
                     (Module(), (), {"adj": adjacency}), (Module(adjacency), (), {})):
            self.said.clear()
            self.module._largest = self.module._looked = 0
            self.module.look_at_call(*call)
            self.assertEqual(self.said["data.zeros_shape"], "1200 x 1200")
            self.assertGreater(float(self.said["data.zeros"]), 0.99)

    def test_the_largest_counts(self):
        matrices = (Tensor(self.graph(1100)), Tensor(self.graph(1300)), Tensor(self.graph(1200)))
        self.module.look_at_call(Module(), matrices, {})
        self.assertEqual(self.said["data.zeros_shape"], "1300 x 1300")

    def test_what_is_no_sparse_matrix(self):
        dense = numpy.ones((1200, 1200), numpy.float32)
        learned = Tensor(self.graph(1200))
        learned.learns = True
        for tensor in (Tensor(dense), Tensor(self.graph(200)), learned,
                       Tensor(self.graph(1200), "cuda"), Tensor(self.graph(1200).astype(numpy.int64)),
                       Tensor(self.graph(1200).T)):
            self.module.look_at_call(Module(), (tensor,), {})
        self.assertEqual(self.said, {})

    def test_nothing_is_asked_while_a_model_is_traced(self):
        class Traced:
            @property
            def _buffers(self):
                raise AssertionError("asked for its buffers")

        self.traced = object()
        for _ in range(2 * self.module.LOOKS):
            self.module.look_at_call(Traced(), (Tensor(self.graph(1200)),), {})
        self.assertEqual(self.said, {})
        self.traced = None
        self.module.look_at_call(Module(), (Tensor(self.graph(1200)),), {})
        self.assertEqual(self.said["data.zeros_shape"], "1200 x 1200")

    def test_only_the_first_calls_are_looked_at_and_one_that_is_odd_is_the_last(self):
        class Odd:
            """Has no buffers."""

        self.module.look_at_call(Odd(), (), {})
        self.module.look_at_call(Module(), (Tensor(self.graph(1200)),), {})
        self.assertEqual(self.said, {})


if __name__ == "__main__":
    unittest.main()
