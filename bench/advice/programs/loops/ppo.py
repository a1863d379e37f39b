"""Proximal policy optimization: a rollout, then four epochs over its minibatches; the author counts minibatches."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu
import torch
from torch import nn
from torch.distributions import Normal

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(4)
OBS, ACT, HORIZON, MINIBATCH = 17, 6, 512, 128


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(OBS, 192), nn.Tanh(), nn.Linear(192, 192), nn.Tanh(), nn.Linear(192, 1))
        self.actor = nn.Sequential(nn.Linear(OBS, 192), nn.Tanh(), nn.Linear(192, 192), nn.Tanh(), nn.Linear(192, ACT))
        self.logstd = nn.Parameter(torch.zeros(1, ACT))

    def get_value(self, x):
        return self.critic(x).squeeze(-1)

    def get_action_and_value(self, x, action=None):
        dist = Normal(self.actor(x), self.logstd.exp().expand(len(x), ACT))
        if action is None:
            action = dist.sample()
        return action, dist.log_prob(action).sum(1), dist.entropy().sum(1), self.get_value(x)


def collect(agent):
    """512 steps of eight environments at once, which are nothing but noise here."""
    observations, actions, logprobs, values = [], [], [], []
    state = torch.randn(8, OBS)
    for _ in range(HORIZON // 8):
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(state)
        observations.append(state)
        actions.append(action)
        logprobs.append(logprob)
        values.append(value)
        state = 0.9 * state + 0.1 * torch.randn(8, OBS)
    return tuple(torch.cat(part) for part in (observations, actions, logprobs, values))


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
for update in range(8):
    truth.enter('between')
    obs, actions, old_logprobs, values = collect(agent)
    advantages = torch.randn(HORIZON)
    returns = advantages + values
    truth.enter('training')
    for epoch in range(4):
        for rows in torch.randperm(HORIZON).split(MINIBATCH):
            _, logprob, entropy, value = agent.get_action_and_value(obs[rows], actions[rows])
            ratio = (logprob - old_logprobs[rows]).exp()
            clipped = torch.clamp(ratio, 0.8, 1.2)
            pg_loss = torch.max(-advantages[rows] * ratio, -advantages[rows] * clipped).mean()
            v_loss = 0.5 * ((value - returns[rows]) ** 2).mean()
            loss = pg_loss - 0.01 * entropy.mean() + 0.5 * v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
            truth.iteration()
truth.enter('shutdown')
