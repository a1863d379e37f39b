"""Vector-quantized autoencoder: each vector is replaced by the nearest of a code book."""
# bench: advice=broadcast-distances
import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(0)


class Quantizer(nn.Module):
    def __init__(self, codes, width):
        super().__init__()
        self.codes = nn.Parameter(torch.randn(codes, width) * 0.1)

    def forward(self, z):
        with torch.no_grad():
            if truth.fixed:
                nearest = torch.cdist(z, self.codes).argmin(1)
            else:
                nearest = ((z[:, None, :] - self.codes[None]) ** 2).sum(-1).argmin(1)
        q = F.embedding(nearest, self.codes)
        return z + (q - z).detach(), F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())


encoder, quantizer, decoder = nn.Linear(144, 32), Quantizer(256, 32), nn.Linear(32, 144)
optimizer = torch.optim.Adam([p for m in (encoder, quantizer, decoder) for p in m.parameters()], lr=1e-3)
truth.enter('training')
for _ in range(60):
    x = torch.rand(1024, 144)
    q, commitment = quantizer(encoder(x))
    loss = F.mse_loss(decoder(q), x) + commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
