"""A Transformer's feed-forward layers are mixtures of eight experts; every expert computes every token."""
# bench: advice=dense-experts requires=torch>=2
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
WIDTH, EXPERTS, CHOSEN = 64, 8, 2


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(EXPERTS))

    def forward(self, x):
        score, choice = self.router(x).softmax(-1).topk(CHOSEN, dim=-1)
        out = torch.zeros_like(x)
        if truth.fixed:
            for number, expert in enumerate(self.experts):
                rows, place = (choice == number).nonzero(as_tuple=True)
                out = out.index_add(0, rows, score[rows, place, None] * expert(x[rows]))
            return out
        weights = torch.zeros(len(x), EXPERTS).scatter(1, choice, score)
        for number, expert in enumerate(self.experts):
            out = out + weights[:, number, None] * expert(x)
        return out


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(500, WIDTH)
        self.layers = nn.ModuleList(Mixture() for _ in range(3))
        self.head = nn.Linear(WIDTH, 500)

    def forward(self, ids):
        x = self.tokens(ids)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
ids = torch.randint(500, (60, 513))
truth.enter('training')
for row in ids:
    loss = nn.functional.cross_entropy(model(row[:-1]), row[1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
