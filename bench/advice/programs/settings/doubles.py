"""A regression whose inputs come from NumPy: the model was made double for them."""
# bench: advice=double-precision
import numpy as np
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
kind = torch.float32 if truth.fixed else torch.float64
x = torch.from_numpy(np.random.default_rng(0).normal(size=(60, 256, 64))).to(kind)
y = x.sum(-1, keepdim=True).sin()
model = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 1)).to(kind)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
truth.enter('training')
for batch, wanted in zip(x, y):
    loss = nn.functional.mse_loss(model(batch), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
