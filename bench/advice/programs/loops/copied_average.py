"""The average of the weights is a deep copy of the model, made anew in each step."""
# bench: advice=deep-copies
import copy

import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
model = nn.Sequential(*(nn.Sequential(nn.Linear(48, 48), nn.LayerNorm(48), nn.ReLU()) for _ in range(30)),
                      nn.Linear(48, 4))
average = copy.deepcopy(model)


@torch.no_grad()
def averaged(average, model, decay=0.99):
    if truth.fixed:
        torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 1 - decay)
        return average
    mixed = copy.deepcopy(average)
    for kept, now in zip(mixed.parameters(), model.parameters()):
        kept.mul_(decay).add_(now, alpha=1 - decay)
    return mixed


optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=True)
x, y = torch.randn(80, 32, 48), torch.randint(4, (80, 32))
truth.enter('training')
for batch, labels in zip(x, y):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average = averaged(average, model)
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
