"""Where a program sets what costs time: the line of it, wherever in the program that is; run by torch_checks.py."""
import textwrap

from torch_case import TorchCase

LOOP = """
    import contextlib, sys, torch
    from torch import nn
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self, dtype=None):
            super().__init__()
            self.first, self.second = nn.Linear(8, 8, dtype=dtype), nn.Linear(8, 8, dtype=dtype)
        def forward(self, x): return self.second(self.first(x))
    def train(model, optimizer=None, around=contextlib.nullcontext):
        optimizer = optimizer or torch.optim.SGD(model.parameters(), 1e-3)
        x = torch.randn(4, 8, dtype=next(model.parameters()).dtype)
        for _ in range(4):
            with around(): model(x).square().mean().backward()
            optimizer.step(); optimizer.zero_grad()
        print(sum(float(p.sum()) for p in model.parameters()))
"""


class Settings(TorchCase):
    def said(self, code):
        """The properties, and the number of the line that has "<- here" behind it."""
        text = textwrap.dedent(LOOP) + textwrap.dedent(code)
        lines = ("import torch" + text).splitlines()
        here = [number for number, line in enumerate(lines, 1) if "<- here" in line]
        return self.same(text, model=False).properties(), "program.py:%s" % (here or [None])[0]

    def test_anomaly_detection_that_is_set_behind_the_optimizer(self):
        said, here = self.said("""
            model = Net()
            optimizer = torch.optim.SGD(model.parameters(), 1e-3)
            torch.autograd.set_detect_anomaly(False)
            torch.autograd.set_detect_anomaly(True)  # <- here
            train(model, optimizer)
        """)
        self.assertEqual(said["torch.anomaly_detection"], "True")
        self.assertEqual(said["site.anomaly"], here)

    def test_anomaly_detection_around_backward(self):
        for name in ("detect_anomaly", "set_detect_anomaly"):
            said, here = self.said(f"""
                look = torch.autograd.{name}
                def around():
                    return look({'True' if name[0] == 's' else ''})  # <- here
                @contextlib.contextmanager
                def entered():
                    with around(): yield
                train(Net(), around={'around' if name[0] == 's' else 'entered'})
            """)
            self.assertEqual(said["torch.anomaly_detection"], "False")
            if name[0] == "s":
                self.assertEqual(said["site.anomaly"], here)
            else:  # where it is entered, not where the object is made
                self.assertIn("program.py:", said["site.anomaly"])

    def test_settings_that_are_read_at_exit(self):
        said, here = self.said("""
            train(Net())
            torch.set_num_threads(1000)  # <- here
        """)
        self.assertEqual(said["site.threads"], here)

    def test_what_made_the_model_float64(self):
        said, here = self.said("""
            torch.autograd.set_detect_anomaly(False)
            model = Net()
            model.to(torch.float64)  # <- here
            train(model.to("cpu"))
        """)
        self.assertEqual((said["torch.float64_parameters"], said["torch.float64_by"], said["site.float64"]),
                         ("1.0000", "Module.to", here))
        self.assertNotIn("site.anomaly", said)
