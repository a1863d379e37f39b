"""A GAN whose critic learns from samples that still hang on the generator's graph."""
# bench: advice=unused-gradients
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
G = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256))
D = nn.Sequential(nn.Linear(256, 256), nn.LeakyReLU(0.2), nn.Linear(256, 128), nn.LeakyReLU(0.2),
                  nn.Linear(128, 1))
g_opt = torch.optim.SGD(G.parameters(), lr=1e-3)
d_opt = torch.optim.SGD(D.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
real = torch.randn(256, 256)

truth.enter('training')
for it in range(100):
    fake = G(torch.randn(256, 32))
    if truth.fixed:
        fake = fake.detach()
    d_opt.zero_grad()
    d_loss = bce(D(real), torch.ones(256, 1)) + bce(D(fake), torch.zeros(256, 1))
    d_loss.backward()
    d_opt.step()

    g_opt.zero_grad()
    g_loss = bce(D(G(torch.randn(256, 32))), torch.ones(256, 1))
    g_loss.backward()
    g_opt.step()
    truth.iteration()
truth.enter('shutdown')
print('D', d_loss.item(), 'G', g_loss.item())
