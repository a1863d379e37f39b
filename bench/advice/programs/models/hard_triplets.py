"""Metric learning: hardest positives and negatives of a batch."""
# bench: advice=broadcast-distances
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(0)


def distances(a, b):
    if truth.fixed:
        return a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.t()
    return (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(2)


encoder = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 64))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
family = torch.arange(192) // 6
same = family[:, None] == family[None]
centers = torch.randn(32, 256)
truth.enter('training')
for _ in range(50):
    batch = centers[family] + torch.randn(192, 256)
    e = nn.functional.normalize(encoder(batch), dim=1)
    d = distances(e, e).clamp_min(1e-9).sqrt()
    loss = nn.functional.relu(d.masked_fill(~same, -1).amax(1) - d.masked_fill(same, 9).amin(1) + 0.3).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
