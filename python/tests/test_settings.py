"""What made a model float64, of programs as they are written."""
import unittest

from bridge_case import BridgeCase

try:
    import torch
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "no PyTorch")
class Doubles(BridgeCase):
    name = "_torch_settings"

    def setUp(self):
        super().setUp()
        module = torch.nn.Module
        for owner, names in ((module, ("double", "to", "type", "register_parameter")),
                             (torch, ("set_default_dtype", "set_default_tensor_type"))):
            for name in names:
                self.addCleanup(setattr, owner, name, getattr(owner, name))
        self.addCleanup(torch.set_default_dtype, torch.float32)
        self.doubles = self.module._doubles = self.module._Doubles(torch)
        self.doubles.install()

    def made(self, *lines):
        """What is said of the module `model` that the program has made by its last line."""
        names = {"torch": torch, "nn": torch.nn}
        exec(compile("\n".join(lines), "train.py", "exec"), names)
        parameters = [p for p in names["model"].parameters() if p.dtype is torch.float64]
        self.module.say_doubles(sum(p.numel() for p in parameters))
        return self.said.get("torch.float64_by"), self.said.get("site.float64")

    def test_a_model_that_is_moved(self):
        self.assertEqual(self.made("model = nn.Linear(8, 8)", "model = model.double()"), ("Module.double", "train.py:2"))

    def test_a_model_that_is_moved_by_its_type(self):
        self.assertEqual(self.made("model = nn.Linear(8, 8).to('cpu')", "model.to(dtype=torch.float64)",
                                   "model.to('cpu').double()"), ("Module.to", "train.py:2"))
        self.assertEqual(self.made("model = nn.Sequential(nn.ReLU(), nn.Linear(8, 80))", "model.type(torch.float64)"),
                         ("Module.type", "train.py:2"))

    def test_a_model_of_the_default_type(self):
        self.assertEqual(self.made("torch.set_default_dtype(torch.float64)", "model = nn.Linear(8, 8)",
                                   "torch.set_default_dtype(torch.float32)", "model.to('cpu')"),
                         ("set_default_dtype", "train.py:1"))

    def test_what_is_most_of_it(self):
        self.assertEqual(self.made("torch.set_default_dtype(torch.float64)", "unused = nn.Linear(2, 2)",
                                   "torch.set_default_dtype(torch.float32)", "model = nn.Linear(8, 8).double()"),
                         ("Module.double", "train.py:4"))

    def test_a_model_of_float64_parameters(self):
        self.assertEqual(self.made("def make():", "    return nn.Linear(8, 8, dtype=torch.float64)", "model = make()"),
                         ("parameters", "train.py:2"))

    def test_nothing_is_said_of_what_was_not_seen(self):
        """Numbers of no module, or of most of which it is not known."""
        self.assertEqual(self.made("model = nn.Linear(2, 2).double()", "model.weight.data = torch.zeros(9, 9).double()"),
                         (None, None))

    def test_calls_are_what_they_were(self):
        lines = ("model = nn.Linear(2, 2)", "assert model.to('cpu') is model", "model.to('nothing')")
        with self.assertRaisesRegex(RuntimeError, "nothing") as caught:
            self.made(*lines)
        self.assertEqual(len([frame for frame in _files(caught.exception) if "_bridge" in frame]), 0)
        with self.assertRaises(TypeError):
            torch.nn.Linear(2, 2).register_parameter("weight")


def _files(error):
    step = error.__traceback__
    while step is not None:
        yield step.tb_frame.f_code.co_filename
        step = step.tb_next


if __name__ == "__main__":
    unittest.main()
