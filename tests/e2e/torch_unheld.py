"""Parameters that get gradients and are no optimizer's, and groups of parameters, of programs as they are written; run
by torch_checks.py."""
import textwrap

from torch_case import TorchCase

LOOP = """
    import torch, torch.nn as nn
    torch.manual_seed(0)
    class Adapted(nn.Module):
        def __init__(self, base):
            super().__init__()
            self.base, self.down, self.up = base, nn.Linear(8, 2, bias=False), nn.Linear(2, 8, bias=False)
        def forward(self, x): return self.base(x) + self.up(self.down(x))
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(Adapted(nn.Linear(8, 8)) for _ in range(3))
            self.head = nn.Linear(8, 8)
        def forward(self, x):
            for layer in self.layers: x = layer(x)
            return self.head(x)
    def train(model, *optimizers, by_hand=(), by_data=()):
        for _ in range(6):
            model(torch.randn(4, 8)).square().mean().backward()
            for optimizer in optimizers: optimizer.step(); optimizer.zero_grad()
            with torch.no_grad():
                for p in by_hand: p -= 0.01 * p.grad; p.grad = None
                for p in by_data: p.data -= 0.01 * p.grad.data; p.grad = None
        print(sum(float(p.sum()) for p in model.parameters()))
    model = Model()
    adapters = [p for name, p in model.named_parameters() if "down" in name or "up" in name]
    rest = [p for name, p in model.named_parameters() if "down" not in name and "up" not in name]
"""


class Unheld(TorchCase):
    def said(self, code):
        return self.same(textwrap.dedent(LOOP) + textwrap.dedent(code), model=False).properties()

    def test_a_base_model_that_was_not_frozen(self):
        said = self.said("train(model, torch.optim.SGD(adapters, 1e-3))")
        self.assertEqual(said["gradients.unheld"], "288 layers.*.base, head")

    def test_what_is_held_frozen_or_updated_by_hand_is_not_told(self):
        for code in ("train(model, torch.optim.SGD(adapters, 1e-3), torch.optim.SGD(rest, 1e-3))",
                     "for p in rest: p.requires_grad_(False)\\n    train(model, torch.optim.SGD(adapters, 1e-3))",
                     "train(model, torch.optim.SGD(adapters, 1e-3), by_hand=rest)",
                     "train(model, torch.optim.SGD(adapters, 1e-3), by_data=rest)"):
            self.assertNotIn("gradients.unheld", self.said(code.replace("\\n    ", "\n")), code)

    def test_what_an_optimizer_has_a_copy_of_is_not_told(self):
        said = self.said("""
            copies = [p.detach().double().requires_grad_() for p in rest]
            class Mixed(torch.optim.SGD):
                def step(self):
                    for p, copy in zip(rest, copies): copy.grad = p.grad.double()
                    super().step()
                    for p, copy in zip(rest, copies): p.data.copy_(copy.data); p.grad = None
            train(model, Mixed(copies + adapters, 1e-3))
        """)
        self.assertNotIn("gradients.unheld", said)

    def test_groups_of_parameters(self):
        said = self.said("""
            groups = [{"params": [p], "weight_decay": 0.1 if p.dim() > 1 else 0.0} for p in model.parameters()]
            train(model, torch.optim.AdamW(groups, 1e-3))
        """)
        self.assertEqual(said["optimizer.groups.Optimizer.step#AdamW.step"], "14 2")

    def test_loops_that_optimizers_step_in(self):
        said = self.said("""
            first, second = torch.optim.SGD(adapters, 1e-3), torch.optim.Adam(rest, 1e-3)
            def update(step):
                model(torch.randn(4, 8)).square().mean().backward(); first.step()
                if step % 2: second.step()
                second.zero_grad(); first.zero_grad()
            for step in range(6): update(step)
        """)
        (loops,) = {value for key, value in said.items() if key.startswith("optimizer.loops.")}
        self.assertRegex(loops, r"^\S*program\.py:\d+$")
        self.assertEqual({key for key in said if key.startswith("optimizer.loops.")},
                         {"optimizer.loops.Optimizer.step#SGD.step", "optimizer.loops.Optimizer.step#Adam.step"})
