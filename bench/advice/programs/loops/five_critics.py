"""Wasserstein GAN with clipped weights: five steps of the critic, one of the generator, an iteration."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 fix=unfused-optimizer-cpu
import torch
from torch import nn

from truth import Truth

N_CRITIC, CLIP, LATENT, BATCH = 5, 0.01, 16, 64


class WGAN:
    def __init__(self):
        self.generator = nn.Sequential(nn.Linear(LATENT, 128), nn.BatchNorm1d(128), nn.ReLU(),
                                       nn.Linear(128, 196), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(196, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128),
                                    nn.LeakyReLU(0.2), nn.Linear(128, 1))
        self.opt_g = torch.optim.RMSprop(self.generator.parameters(), lr=5e-5, foreach=truth.fixed)
        self.opt_c = torch.optim.RMSprop(self.critic.parameters(), lr=5e-5, foreach=truth.fixed)

    def critic_step(self, real):
        self.opt_c.zero_grad()
        fake = self.generator(torch.randn(len(real), LATENT)).detach()
        loss = self.critic(fake).mean() - self.critic(real).mean()
        loss.backward()
        self.opt_c.step()
        for p in self.critic.parameters():
            p.data.clamp_(-CLIP, CLIP)
        return loss

    def generator_step(self):
        self.opt_g.zero_grad()
        loss = -self.critic(self.generator(torch.randn(BATCH, LATENT))).mean()
        loss.backward()
        self.opt_g.step()
        return loss


if __name__ == '__main__':
    truth = Truth(__file__)
    torch.set_num_threads(1)
    data = torch.rand(4000, 196) * 2 - 1
    gan = WGAN()
    truth.enter('training')
    for iteration in range(40):
        for _ in range(N_CRITIC):
            gan.critic_step(data[torch.randint(len(data), (BATCH,))])
        gan.generator_step()
        truth.iteration()
    truth.enter('shutdown')
