"""Additive attention: all pairs go through a tanh before they are summed up, so the broadcast is needed."""
# bench: advice=none
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(0)


class Additive(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.weight = nn.Parameter(torch.randn(width) / 8)

    def forward(self, q, x):
        pairs = torch.tanh(self.query(q)[:, :, None] + self.key(x)[:, None])
        return ((pairs * self.weight).sum(-1)).softmax(-1) @ x


model, out = Additive(64), nn.Linear(64, 10)
optimizer = torch.optim.SGD([*model.parameters(), *out.parameters()], lr=0.1)
truth.enter('training')
for _ in range(40):
    x, q, y = torch.randn(16, 64, 64), torch.randn(16, 32, 64), torch.randint(10, (16, 32))
    loss = nn.functional.cross_entropy(out(model(q, x)).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
