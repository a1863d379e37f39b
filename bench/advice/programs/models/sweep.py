"""A sweep over widths and learning rates: one model after the other, of different speed."""
# bench: advice=none
import itertools

import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
x, y = torch.randn(640, 80), torch.randn(640, 1)
results = {}


def run(width, lr, steps=20):
    model = nn.Sequential(nn.Linear(80, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                          nn.Linear(width, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for i in range(steps):
        rows = slice(32 * i % 640, 32 * i % 640 + 32)
        loss = (model(x[rows]) - y[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    return loss.item()


truth.enter('training')
for width, lr in itertools.product((96, 160, 224), (1e-2, 1e-3)):
    results[width, lr] = run(width, lr)
truth.enter('shutdown')
best = min(results, key=results.get)
print('best:', best, results[best])
