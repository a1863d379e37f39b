"""A denoising diffusion model of tiny pictures."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth

T = 200


def time_embedding(t, width=16):
    angles = t[:, None] * torch.exp(-math.log(1e4) * torch.arange(width // 2) / (width // 2))
    return torch.cat([angles.sin(), angles.cos()], 1)


class Denoiser(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.inp, self.out = nn.Conv2d(1, width, 3, padding=1), nn.Conv2d(width, 1, 3, padding=1)
        self.mid = nn.Conv2d(width, width, 3, padding=1)
        self.time = nn.Linear(16, width)
        self.norm = nn.GroupNorm(4, width)

    def forward(self, x, t):
        h = torch.relu(self.inp(x)) + self.time(time_embedding(t))[:, :, None, None]
        return self.out(h + torch.relu(self.mid(self.norm(h))))


class Diffusion:
    def __init__(self):
        self.alpha_bar = torch.cumprod(1 - torch.linspace(1e-4, 0.02, T), 0)

    def noisy(self, x, t):
        noise, a = torch.randn_like(x), self.alpha_bar[t][:, None, None, None]
        return a.sqrt() * x + (1 - a).sqrt() * noise, noise


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    model, diffusion = Denoiser(), Diffusion()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    loader = DataLoader(TensorDataset(torch.rand(640, 1, 16, 16)), batch_size=16, shuffle=True)
    truth.enter('training')
    for epoch in range(2):
        for (x,) in loader:
            t = torch.randint(T, (len(x),))
            noisy, noise = diffusion.noisy(2 * x - 1, t)
            loss = nn.functional.mse_loss(model(noisy, t), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
