"""What operators of the training thread are given, of programs as they are written; run by torch_checks.py."""
import textwrap

from torch_case import TorchCase

LOOP = """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.manual_seed(0)
    x, table = torch.randn(64, 16), nn.Parameter(torch.randn(8, 16))
    layer = nn.Linear(16, 16)
    def train(loss_of):
        optimizer = torch.optim.SGD([*layer.parameters(), table], 1e-3)
        for _ in range(6):
            loss_of(layer(x)).mean().backward()
            optimizer.step(); optimizer.zero_grad()
"""


class Operands(TorchCase):
    def said(self, code):
        """Without autograd's numbers."""
        session = self.same(textwrap.dedent(LOOP) + textwrap.dedent(code), model=False)
        said = session.properties().get("forward.operands", "")
        calls = [each.split(" ") for each in said.split(";")]
        return ";".join(" ".join("-".join(end.split(":")[0] for end in word.split("-")) for word in words)
                        for words in calls)

    def test_distances_of_all_pairs(self):
        for code, what in (
                ("(e[:, None] - e[None]).pow(2).sum(-1).sqrt()", "squared 64x64x16 16 2 sub-sum sub-sum"),
                ("((e.unsqueeze(0) - e.unsqueeze(1)) ** 2).mean(dim=2)", "squared 64x64x16 16 2 sub-mean sub-mean"),
                ("(e[:, None] - e.detach()[None]).abs().sum(-1)", "absolute 64x64x16 16 2 sub-sum sub-sum"),
                ("(e[:, None] * e[None]).sum(-1)", "product 64x64x16 16 2 mul-sum mul-sum"),
                ("F.cosine_similarity(e[:, None], e[None], dim=-1)", "cosine 64x64x16 16 2 cosine_similarity "
                                                                     "cosine_similarity"),
                ("((e[:, None].expand(64, 64, 16) - e.expand(64, 64, 16)) ** 2).sum(2)",
                 "squared 64x64x16 16 2 sub-sum sub-sum")):
            self.assertEqual(self.said("train(lambda e: %s)" % code), "broadcast " + what, code)
        self.assertIn("broadcast norm 64x64x16 16 2 sub-", self.said("train(lambda e: (e[:, None] - e[None]).norm(dim=-1))"))

    def test_without_gradients(self):
        said = self.said("""
            def loss(e):
                with torch.no_grad():
                    nearest = ((e[:, None, :] - x[None]) ** 2).sum(-1).argmin(1)
                return (e - x[nearest]) ** 2
            train(loss)
        """)
        self.assertEqual(said, "broadcast squared 64x64x16 16 2 sub-sum sub-sum")

    def test_broadcasts_that_are_needed_are_not_told(self):
        for code in (
                "torch.tanh(e[:, None] + e[None]).sum(-1)",                    # additive attention
                "F.relu(e[:, None] - e[None]).sum(-1)",
                "(e[:, None] - e[None]).pow(2).sum(0)",                        # over one side's own
                "(lambda d: d / d.norm(dim=-1, keepdim=True))(e[:, None] - e[None])",  # directions
                "(e[:, None] - e[None]).pow(2).cumsum(-1)",
                "(e - e.mean(1, keepdim=True)).pow(2).sum(-1)",                # of single rows
                "torch.cdist(e, e)", "e @ e.T"):
            self.assertEqual(self.said("train(lambda e: %s)" % code), "", code)

    def test_rows_chosen_again_and_again(self):
        said = self.said("i = torch.randint(8, (8192,)); train(lambda e: table[i])")
        self.assertEqual(said, "indexed 8 8192 16 2 index index")
        for code in (
                "F.embedding(i, table)", "table.index_select(0, i)", "table.detach()[i] + e.sum()",
                "x.expand(128, 64, 16).reshape(-1, 16)[torch.randperm(8192)] + e.sum()",
                "torch.cat([e] * 200)[torch.randperm(12800)]"):  # each row once
            self.assertEqual(self.said("i = torch.randint(8, (8192,)); train(lambda e: %s)" % code), "", code)
