"""What made a model float64, of programs as they are written."""
import sys
import types
import unittest
from unittest import mock

from bridge_case import BridgeCase


class Kind:
    is_floating_point = True


FLOAT32, FLOAT64 = Kind(), Kind()


class Parameter:
    def __init__(self, count, dtype):
        self.count, self.dtype = count, dtype

    def numel(self):
        return self.count


def stand_in():
    """As much of PyTorch as is asked for: Linear has two parameters of eight and one numbers."""
    torch = types.SimpleNamespace(float32=FLOAT32, float64=FLOAT64, default=FLOAT32, _utils=None, compiler=None)

    class Module:
        def __init__(self, *parts):
            self._modules, self._parameters = dict(enumerate(parts)), {}

        def register_parameter(self, name, param):
            self._parameters[name] = param

        def parameters(self):
            yield from filter(None, self._parameters.values())
            for part in self._modules.values():
                yield from part.parameters()

        def type(self, dtype):
            for parameter in self.parameters():
                parameter.dtype = dtype
            return self

        def double(self):
            for parameter in self.parameters():
                parameter.dtype = FLOAT64
            return self

        def to(self, device=None, dtype=None):
            if device == "nothing":
                raise RuntimeError(device)
            for parameter in self.parameters():
                parameter.dtype = dtype or parameter.dtype
            return self

    class Linear(Module):
        def __init__(self, width, dtype=None):
            Module.__init__(self)
            self.register_parameter("weight", Parameter(width, dtype or torch.default))
            self.register_parameter(name="bias", param=None)

    def set_default(kind):
        torch.default = kind

    torch.nn = types.SimpleNamespace(Module=Module, Linear=Linear, ReLU=Module, Sequential=Module)
    torch.set_default_dtype = torch.set_default_tensor_type = set_default
    torch.get_default_dtype = lambda: torch.default
    return torch


class Doubles(BridgeCase):
    name = "_torch_settings"

    def setUp(self):
        super().setUp()
        self.torch = stand_in()
        patch = mock.patch.dict(sys.modules, {"torch": self.torch})
        patch.start()
        self.addCleanup(patch.stop)
        sys.modules["batchlight._bridge._call_sites"]._LIBRARIES += (__file__,)
        self.doubles = self.module._doubles = self.module._Doubles(self.torch)
        self.doubles.install()

    def made(self, *lines):
        """What is said of the module `model` that the program has made by its last line."""
        names = {"torch": self.torch, "nn": self.torch.nn}
        exec(compile("\n".join(lines), "train.py", "exec"), names)
        parameters = [p for p in names["model"].parameters() if p.dtype is FLOAT64]
        self.module.say_doubles(sum(p.numel() for p in parameters))
        return self.said.get("torch.float64_by"), self.said.get("site.float64")

    def test_a_model_that_is_moved(self):
        self.assertEqual(self.made("model = nn.Linear(8)", "model = model.double()"), ("Module.double", "train.py:2"))

    def test_a_model_that_is_moved_by_its_type(self):
        self.assertEqual(self.made("model = nn.Linear(8).to('cpu')", "model.to(dtype=torch.float64)",
                                   "model.to('cpu').double()"), ("Module.to", "train.py:2"))
        self.assertEqual(self.made("model = nn.Sequential(nn.ReLU(), nn.Linear(80))", "model.type(torch.float64)"),
                         ("Module.type", "train.py:2"))

    def test_a_model_of_the_default_type(self):
        self.assertEqual(self.made("torch.set_default_dtype(torch.float64)", "model = nn.Linear(8)",
                                   "torch.set_default_dtype(torch.float32)", "model.to('cpu')"),
                         ("set_default_dtype", "train.py:1"))

    def test_what_is_most_of_it(self):
        self.assertEqual(self.made("torch.set_default_dtype(torch.float64)", "unused = nn.Linear(2)",
                                   "torch.set_default_dtype(torch.float32)", "model = nn.Linear(8).double()"),
                         ("Module.double", "train.py:4"))

    def test_a_model_of_float64_parameters(self):
        self.assertEqual(self.made("def make():", "    return nn.Linear(8, dtype=torch.float64)", "model = make()"),
                         ("parameters", "train.py:2"))

    def test_nothing_is_said_of_what_was_not_seen(self):
        """Numbers of no module, or of most of which it is not known."""
        self.assertEqual(self.made("model = nn.Linear(2).double()", "model._parameters['weight'].count = 100"),
                         (None, None))

    def test_calls_are_what_they_were(self):
        lines = ("model = nn.Linear(2)", "assert model.to('cpu') is model", "model.to('nothing')")
        with self.assertRaisesRegex(RuntimeError, "nothing") as caught:
            self.made(*lines)
        self.assertEqual(len([frame for frame in _files(caught.exception) if "_bridge" in frame]), 0)
        with self.assertRaises(TypeError):
            self.torch.nn.Linear(2).register_parameter("weight")


def _files(error):
    step = error.__traceback__
    while step is not None:
        yield step.tb_frame.f_code.co_filename
        step = step.tb_next


if __name__ == "__main__":
    unittest.main()
