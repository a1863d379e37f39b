"""Gradients are clipped by hand, tensor by tensor, with a number fetched for each."""
# bench: advice=unfused-updates|python-work
import math

import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
MAX_NORM = 1.0


def clip_gradients(parameters):
    total = 0.0
    for p in parameters:
        for row in p.grad.view(p.grad.shape[0], -1):
            total += row.norm().item() ** 2
    scale = MAX_NORM / (math.sqrt(total) + 1e-6)
    if scale < 1:
        for p in parameters:
            p.grad.mul_(scale)


layers = [nn.Linear(40, 40) for _ in range(16)]
model = nn.Sequential(*[part for layer in layers for part in (layer, nn.ELU())], nn.Linear(40, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
truth.enter('training')
for step in range(80):
    loss = nn.functional.cross_entropy(model(torch.randn(48, 40)), torch.randint(2, (48,)))
    optimizer.zero_grad()
    loss.backward()
    if truth.fixed:
        nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
    else:
        clip_gradients(list(model.parameters()))
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
