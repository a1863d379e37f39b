"""Six tasks share a trunk, and each task's loss goes backward by itself through all of it."""
# bench: advice=repeated-backward
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Shared(nn.Module):
    def __init__(self, tasks=6):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(200, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(),
                                   nn.Linear(400, 200), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(200, 3) for _ in range(tasks))

    def forward(self, x):
        shared = self.trunk(x)
        return [head(shared) for head in self.heads]


model = Shared()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(3200, 200), torch.randint(3, (6, 3200))
truth.enter('training')
for step in range(50):
    rows = slice(64 * step, 64 * step + 64)
    losses = [nn.functional.cross_entropy(out, of_task) for out, of_task in zip(model(x[rows]), y[:, rows])]
    optimizer.zero_grad()
    if truth.fixed:
        sum(losses).backward()
    else:
        for loss in losses:
            loss.backward(retain_graph=True)
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
