"""What masks attention is given, of programs as they are written; run by torch_checks.py."""
import os
import subprocess
import tempfile
import textwrap
import unittest

import torch

from recorded import BATCHLIGHT
from torch_case import PYTHON, TorchCase

LOOP = """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    L, D = 128, 8
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    class Attention(nn.Module):
        def __init__(self, **given):
            super().__init__()
            self.qkv, self.given = nn.Linear(2 * D, 6 * D), given
        def forward(self, x):
            q, k, v = self.qkv(x).view(len(x), L, 3, 2, D).permute(2, 0, 3, 1, 4)
            given = {name: value() if callable(value) else value for name, value in self.given.items()}
            return x + F.scaled_dot_product_attention(q, k, v, **given).transpose(1, 2).reshape(x.shape)
    def train(*parts, steps=6):
        model = nn.Sequential(*parts)
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        for _ in range(steps):
            model(torch.randn(4, L, 2 * D)).square().mean().backward()
            optimizer.step(); optimizer.zero_grad()
        print(sum(float(p.sum()) for p in model.parameters()), torch.rand(1))
"""


@unittest.skipIf(not hasattr(torch.nn.functional, "scaled_dot_product_attention"), "PyTorch 2 has it")
class Masks(TorchCase):
    def said(self, code):
        return self.same(textwrap.dedent(LOOP) + textwrap.dedent(code), model=False).properties().get("attention.masks")

    def test_causal_masks_of_any_type(self):
        for mask, kind in (
                ("causal", "Bool 128x128"), ("causal[None, None]", "Bool 1x1x128x128"),
                ("causal.expand(4, 2, L, L)", "Bool 4x2x128x128"),
                ("torch.zeros(L, L).masked_fill(~causal, float('-inf'))", "Float 128x128"),
                ("lambda: torch.full((L, L), -1e9).triu(1)", "Float 128x128")):
            self.assertEqual(self.said("train(Attention(attn_mask=%s), Attention(attn_mask=%s))" % (mask, mask)),
                             "4 4 0 0 128 " + kind)

    def test_other_masks_are_not_told(self):
        for given in (
                "is_causal=True", "attn_mask=None",
                "attn_mask=lambda: torch.rand(4, 1, 1, L) > 0.1",           # padding
                "attn_mask=causal.expand(4, 1, L, L).clone()",              # one for each sample
                "attn_mask=causal & causal.triu(-64)",                      # a window
                "attn_mask=causal & (torch.arange(L) < 100)",               # a padded batch of one length
                "attn_mask=torch.randn(L, L)",                              # a bias
                "attn_mask=nn.Parameter(torch.zeros(L, L).masked_fill(~causal, -1e9))",  # that learns
                "attn_mask=causal.T", "attn_mask=torch.ones_like(causal)"):
            self.assertIsNone(self.said("train(Attention(%s))" % given), given)

    def test_masks_of_several_layers(self):
        said = self.said("train(Attention(attn_mask=causal), Attention(attn_mask=causal.triu(-64) & causal), "
                         "Attention(is_causal=True))")
        self.assertEqual(said, "6 2 0 2 128 Bool 128x128")

    def test_masks_of_pytorchs_module(self):
        said = self.said("""
            class Block(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.attention = nn.MultiheadAttention(2 * D, 2, batch_first=True)
                def forward(self, x): return x + self.attention(x, x, x, attn_mask=~causal, need_weights=False)[0]
            train(Block())
        """)
        self.assertEqual(said, "2 2 0 0 128 Float 1x1x128x128")

    def test_under_autocast_and_checkpointing(self):
        said = self.said("""
            from torch.utils.checkpoint import checkpoint
            class Again(nn.Module):
                def __init__(self, inner): super().__init__(); self.inner = inner
                def forward(self, x):
                    with torch.autocast("cpu", torch.bfloat16):
                        return checkpoint(self.inner, x, use_reentrant=False)
            train(Again(Attention(attn_mask=causal)))
        """)
        self.assertEqual(said, "8 8 0 0 128 Bool 128x128")  # each call is made again in backward

    def test_memory_is_let_go_of(self):
        """A mask that is made for each call lives no longer than the step; a tensor of the program's not even so."""
        self.assertEqual(self.said("""
            import weakref
            made = []
            def mask():
                made.append(torch.ones(L, L, dtype=torch.bool).tril())
                made[:] = [weakref.ref(one) if isinstance(one, torch.Tensor) else one for one in made[:-1]] + made[-1:]
                return made[-1]
            train(Attention(attn_mask=mask))
            print([one() is None for one in made[:-1]])
        """), "2 2 0 0 128 Bool 128x128")

    def test_transformed_calls_are_not_told(self):
        self.assertIsNone(self.said("""
            def one(q, k, v): return F.scaled_dot_product_attention(q, k, v, attn_mask=causal)
            w = torch.randn(D, D, requires_grad=True)
            optimizer = torch.optim.SGD([w], 1e-3)
            for _ in range(6):
                x = torch.randn(4, 2, L, D) @ w
                torch.func.vmap(one)(x, x, x).square().mean().backward()
                optimizer.step(); optimizer.zero_grad()
            print(w.sum())
        """))

    def test_compiled_calls_are_not_told(self):
        self.assertIsNone(self.said("""
            model = Attention(attn_mask=causal)
            optimizer = torch.optim.SGD(model.parameters(), 1e-3)
            compiled = torch.compile(model, backend="aot_eager_decomp_partition")
            for _ in range(6):
                compiled(torch.randn(4, L, 2 * D)).square().mean().backward()
                optimizer.step(); optimizer.zero_grad()
            print(sum(float(p.sum()) for p in model.parameters()))
        """))

    def test_the_finding(self):
        """On the CPU, where what is hidden is skipped from 1,024 positions on."""
        for given, told in (("attn_mask=causal", True), ("is_causal=True", False),
                            ("attn_mask=lambda: torch.rand(1, 1, 1, L) > 0.1", False)):
            code = textwrap.dedent(LOOP).replace("L, D = 128, 8", "L, D = 1024, 32").replace(
                "torch.randn(4,", "torch.randn(1,") + "train(Attention(%s), steps=12)\n" % given
            with tempfile.TemporaryDirectory() as folder:
                script, recording = os.path.join(folder, "program.py"), os.path.join(folder, "run.batchlight")
                with open(script, "w") as file:
                    file.write(code)
                subprocess.run([BATCHLIGHT, "profile", "-o", recording, PYTHON, script], check=True,
                               capture_output=True, text=True, timeout=300)
                rules = subprocess.run([BATCHLIGHT, "table", "advice", recording, "-f", "csv"], check=True,
                                       capture_output=True, text=True, timeout=300).stdout
            self.assertEqual("causal-mask" in rules, told, given + rules)
