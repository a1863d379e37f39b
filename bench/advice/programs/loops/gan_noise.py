"""A GAN that learns a two-dimensional ring; samples are drawn in the loop, there is no DataLoader."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu
import math

import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


def mlp(inputs, outputs, width=96):
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, outputs))


def ring(n):
    angle = torch.rand(n) * 2 * math.pi
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


G, D = mlp(8, 2), mlp(2, 1)
g_opt = torch.optim.RMSprop(G.parameters(), lr=1e-4)
d_opt = torch.optim.RMSprop(D.parameters(), lr=1e-4)
bce = nn.BCEWithLogitsLoss()

truth.enter('training')
for it in range(80):
    d_opt.zero_grad()
    with torch.no_grad():
        made = G(torch.randn(128, 8))
    d_loss = bce(D(ring(128)), torch.ones(128, 1)) + bce(D(made), torch.zeros(128, 1))
    d_loss.backward()
    d_opt.step()

    g_opt.zero_grad()
    g_loss = bce(D(G(torch.randn(128, 8))), torch.ones(128, 1))
    g_loss.backward()
    g_opt.step()
    truth.iteration()
truth.enter('shutdown')
print('D', d_loss.item(), 'G', g_loss.item())
