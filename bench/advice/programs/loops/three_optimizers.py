"""Soft actor-critic with a learned temperature: critic, actor and alpha step in every update."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn, optim

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
OBS, ACT, BATCH, TAU = 20, 4, 128, 0.005


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1, self.q2 = (nn.Sequential(nn.Linear(OBS + ACT, 96), nn.ReLU(), nn.Linear(96, 1)) for _ in range(2))

    def forward(self, s, a):
        x = torch.cat([s, a], -1)
        return self.q1(x), self.q2(x)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 96), nn.ReLU(), nn.Linear(96, 2 * ACT))

    def forward(self, s):
        mean, log_std = self.body(s).chunk(2, -1)
        normal = torch.distributions.Normal(mean, log_std.clamp(-5, 2).exp())
        z = normal.rsample()
        a = torch.tanh(z)
        return a, (normal.log_prob(z) - torch.log(1 - a.pow(2) + 1e-6)).sum(-1, keepdim=True)


critic, target, actor = Q(), Q(), Policy()
target.load_state_dict(critic.state_dict())
log_alpha = torch.zeros(1, requires_grad=True)
critic_opt, actor_opt = optim.Adam(critic.parameters(), lr=3e-4), optim.Adam(actor.parameters(), lr=3e-4)
alpha_opt = optim.Adam([log_alpha], lr=3e-4)
replay = deque(maxlen=5000)
for _ in range(2000):
    replay.append((torch.randn(OBS), torch.rand(ACT) * 2 - 1, torch.randn(1), torch.randn(OBS)))


def update():
    s, a, r, s2 = (torch.stack(part) for part in zip(*random.sample(replay, BATCH)))
    with torch.no_grad():
        a2, logp2 = actor(s2)
        q_target = r + 0.99 * (torch.min(*target(s2, a2)) - log_alpha.exp() * logp2)
    q1, q2 = critic(s, a)
    critic_opt.zero_grad()
    (F.mse_loss(q1, q_target) + F.mse_loss(q2, q_target)).backward()
    critic_opt.step()

    a_new, logp = actor(s)
    actor_opt.zero_grad()
    (log_alpha.exp().detach() * logp - torch.min(*critic(s, a_new))).mean().backward()
    actor_opt.step()

    alpha_opt.zero_grad()
    (-log_alpha * (logp + ACT).detach()).mean().backward()
    alpha_opt.step()
    with torch.no_grad():
        for p, p_target in zip(critic.parameters(), target.parameters()):
            p_target.mul_(1 - TAU).add_(TAU * p)


truth.enter('training')
for step in range(80):
    replay.append((torch.randn(OBS), torch.rand(ACT), torch.randn(1), torch.randn(OBS)))
    update()
    truth.iteration()
truth.enter('shutdown')
