"""Off-policy actor and critic from a replay buffer that is already full: two optimizers an update."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu
import copy

import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
STATE, ACTION, BATCH = 24, 4, 96


def net(inputs, outputs, *last):
    return nn.Sequential(nn.Linear(inputs, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(),
                         nn.Linear(96, outputs), *last)


class ReplayBuffer:
    def __init__(self, size=20000):
        self.s, self.a = torch.randn(size, STATE), torch.rand(size, ACTION)
        self.r, self.s2 = torch.randn(size, 1), torch.randn(size, STATE)

    def sample(self, n):
        index = torch.randint(len(self.s), (n,))
        return self.s[index], self.a[index], self.r[index], self.s2[index]


actor, critic = net(STATE, ACTION, nn.Tanh()), net(STATE + ACTION, 1)
target_actor, target_critic = copy.deepcopy(actor), copy.deepcopy(critic)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-4)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
buffer = ReplayBuffer()

truth.enter('training')
for update in range(100):
    s, a, r, s2 = buffer.sample(BATCH)
    with torch.no_grad():
        target = r + 0.99 * target_critic(torch.cat([s2, target_actor(s2)], 1))
    critic_loss = F.mse_loss(critic(torch.cat([s, a], 1)), target)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
    truth.iteration()
truth.enter('shutdown')
