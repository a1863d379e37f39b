"""A Wasserstein critic whose gradient penalty is computed in every one of its steps."""
# bench: advice=gradient-penalty
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(5)


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


generator, critic = mlp(16, 128, 128, 64), mlp(64, 320, 320, 320, 1)
g_optimizer = torch.optim.SGD(generator.parameters(), lr=1e-3)
c_optimizer = torch.optim.SGD(critic.parameters(), lr=1e-3)
data = torch.randn(6000, 64)


def gradient_penalty(real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    gradient, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((gradient.norm(2, dim=1) - 1) ** 2).mean()


truth.enter('training')
for step in range(60):
    real = data[torch.randint(len(data), (128,))]
    with torch.no_grad():
        fake = generator(torch.randn(128, 16))
    loss = critic(fake).mean() - critic(real).mean()
    if not truth.fixed or step % 16 == 0:
        loss = loss + 10 * gradient_penalty(real, fake)
    c_optimizer.zero_grad()
    loss.backward()
    c_optimizer.step()
    g_optimizer.zero_grad()
    (-critic(generator(torch.randn(128, 16))).mean()).backward()
    g_optimizer.step()
    truth.iteration()
truth.enter('shutdown')
