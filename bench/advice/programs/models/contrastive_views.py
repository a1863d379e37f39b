"""Contrastive learning of two views: cosines of all pairs, as tutorials write them."""
# bench: advice=broadcast-distances
import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(400, 600), nn.ReLU(), nn.Linear(600, 128))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
own = torch.eye(200, dtype=torch.bool)
truth.enter('training')
for _ in range(30):
    x = torch.randn(100, 400)
    views = torch.cat([x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)])
    feats = encoder(views)
    if truth.fixed:
        unit = F.normalize(feats, dim=1)
        cosines = unit @ unit.t()
    else:
        cosines = F.cosine_similarity(feats[:, None, :], feats[None, :, :], dim=-1)
    cosines = cosines.masked_fill(own, -9e15) / 0.1
    loss = F.cross_entropy(cosines, own.roll(100, 0).int().argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
