"""What operators of the training thread are given, of programs as they are written; run by torch_checks.py."""
import re
import textwrap

from torch_case import TorchCase

LOOP = """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    x, table = torch.randn(80, 16), nn.Parameter(torch.randn(8, 16))
    layer = nn.Linear(16, 16)
    def train(loss_of):
        optimizer = torch.optim.SGD([*layer.parameters(), table], 1e-3)
        for _ in range(6):
            loss_of(layer(x)).mean().backward()
            optimizer.step(); optimizer.zero_grad()
"""


FEWEST_ROWS = 64  # of 16 numbers, that are looked at


class Operands(TorchCase):
    def said(self, code):
        """Without autograd's numbers."""
        session = self.same(textwrap.dedent(LOOP) + textwrap.dedent(code), model=False)
        said = session.properties().get("forward.operands", "")
        calls = [each.split(" ") for each in said.split(";")]
        return ";".join(" ".join("-".join(end.split(":")[0] for end in word.split("-")) for word in words)
                        for words in calls)

    def all_said(self, *expressions, before=""):
        """Of one program; each expression has rows of its own number, `e`, by which it is known."""
        terms = ["(lambda e: %s)(e[:%d]).mean()" % (code, FEWEST_ROWS + i) for i, code in enumerate(expressions)]
        return self.said(textwrap.dedent(before) + "\ntrain(lambda e: %s)" % " + ".join(terms))

    def test_distances_of_all_pairs(self):
        for told in (
                (("(e[:, None] - e[None]).pow(2).sum(-1).sqrt()", "squared", "sub-sum"),
                 ("((e.unsqueeze(0) - e.unsqueeze(1)) ** 2).mean(dim=2)", "squared", "sub-mean"),
                 ("(e[:, None] - e.detach()[None]).abs().sum(-1)", "absolute", "sub-sum"),
                 ("(e[:, None] * e[None]).sum(-1)", "product", "mul-sum")),
                (("F.cosine_similarity(e[:, None], e[None], dim=-1)", "cosine", "cosine_similarity"),
                 ("((e[:, None].expand(len(e), len(e), 16) - e.expand(len(e), len(e), 16)) ** 2).sum(2)", "squared",
                  "sub-sum"),
                 ("(e[:, None] - e[None]).norm(dim=-1)", "norm", "sub-norm"))):
            # By its version of PyTorch.
            said = re.sub("linalg_vector_norm|frobenius_norm", "norm", self.all_said(*(code for code, _, _ in told)))
            expected = ["broadcast %s %dx%dx16 16 2 %s %s" % (kind, FEWEST_ROWS + i, FEWEST_ROWS + i, calls, calls)
                        for i, (_, kind, calls) in enumerate(told)]
            self.assertEqual(sorted(said.split(";")), sorted(expected))

    def test_without_gradients(self):
        said = self.said("""
            def loss(e):
                with torch.no_grad():
                    nearest = ((e[:, None, :] - x[None]) ** 2).sum(-1).argmin(1)
                return (e - x[nearest]) ** 2
            train(loss)
        """)
        self.assertEqual(said, "broadcast squared 80x80x16 16 2 sub-sum sub-sum")

    def test_broadcasts_that_are_needed_are_not_told(self):
        self.assertEqual("", self.all_said(
            "torch.tanh(e[:, None] + e[None]).sum(-1)",                            # additive attention
            "F.relu(e[:, None] - e[None]).sum(-1)",
            "(e[:, None] - e[None]).pow(2).sum(0)",                                # over one side's own
            "(lambda d: d / d.norm(dim=-1, keepdim=True))(e[:, None] - e[None])",  # directions
            "(e[:, None] - e[None]).pow(2).cumsum(-1)",
            "(e - e.mean(1, keepdim=True)).pow(2).sum(-1)",                        # of single rows
            "(lambda d: d.pow(2).sum(-1) + Kept.apply(d).sum(-1))(e[:, None] - e[None])",
            "torch.cdist(e, e)", "e @ e.T",
            before="""
                class Kept(torch.autograd.Function):
                    @staticmethod
                    def forward(ctx, d): return d.clone()
                    @staticmethod
                    def backward(ctx, gradient): return gradient
            """))

    def test_rows_chosen_again_and_again(self):
        said = self.said("""
            i, j = torch.randint(8, (8192,)), torch.randint(8, (5000,))
            deep = nn.Parameter(torch.randn(8, 4, 16))
            train(lambda e: sum(rows.mean() for rows in (
                table[i], e,
                F.embedding(j, table), table.index_select(0, j), table.detach()[j], table[:, j], table[j, j],
                deep[j], deep[:, 0][:, j], x.expand(128, 80, 16).reshape(-1, 16)[torch.randperm(10240)],
                torch.cat([e] * 200)[torch.randperm(len(e) * 200)])))  # each row once
        """)
        self.assertEqual(said, "indexed 8 8192 16 2 index index")
