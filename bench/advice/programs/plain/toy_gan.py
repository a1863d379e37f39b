# bench: advice=none
# GAN on 16x16 "blobs". No DataLoader, the data fits in memory, we just index into it.
import os, sys
import torch
from torch import nn, optim

sys.path.append(os.path.realpath(os.path.join(os.path.dirname(__file__), '../..')))
from truth import Truth
truth = Truth(__file__)

Z, B, STEPS = 64, 48, 100
torch.manual_seed(7)

def real_blobs(n):
    ax = torch.arange(16).float()
    cx, cy, s = torch.rand(n, 1, 1) * 8 + 4, torch.rand(n, 1, 1) * 8 + 4, torch.rand(n, 1, 1) * 2 + 1
    img = torch.exp(-((ax.view(1, 1, -1) - cx) ** 2 + (ax.view(1, -1, 1) - cy) ** 2) / (2 * s * s))
    return (img * 2 - 1).unsqueeze(1)

class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(Z, 32 * 4 * 4)
        self.net = nn.Sequential(
            nn.BatchNorm2d(32), nn.ReLU(),
            nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Tanh())
    def forward(self, z):
        return self.net(self.fc(z).view(-1, 32, 4, 4))

class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(32 * 4 * 4, 1))
    def forward(self, x):
        return self.net(x).squeeze(1)

data = real_blobs(4096)
g, d = G(), D()
opt_g = optim.Adam(g.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = optim.Adam(d.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(B), torch.zeros(B)
fixed_z = torch.randn(16, Z)

truth.enter('training')
for step in range(STEPS):
    # --- discriminator
    real = data[torch.randint(0, len(data), (B,))]
    fake = g(torch.randn(B, Z)).detach()
    opt_d.zero_grad()
    loss_d = bce(d(real), ones) + bce(d(fake), zeros)
    loss_d.backward()
    if step % 16 == 0:
        # lazy R1
        real.requires_grad_(True)
        grad, = torch.autograd.grad(d(real).sum(), real, create_graph=True)
        (grad.pow(2).sum((1, 2, 3)).mean() * 0.1 * 16).backward()
    opt_d.step()

    # --- generator
    opt_g.zero_grad()
    loss_g = bce(d(g(torch.randn(B, Z))), ones)
    loss_g.backward()
    opt_g.step()

    if step % 20 == 0:
        print('[%4d/%d] D %.3f  G %.3f' % (step, STEPS, loss_d.item(), loss_g.item()))
    truth.iteration()

truth.enter('shutdown')
with torch.no_grad():
    img = g(fixed_z)
print('final sample mean %.3f std %.3f' % (img.mean(), img.std()))
