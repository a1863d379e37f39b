"""REINFORCE with 16 environments whose policy is asked for one of them at a time."""
# bench: advice=rollout-of-one gain=run
import torch
from torch import nn
from torch.distributions import Categorical

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(1)
ENVIRONMENTS, LENGTH = 16, 24

policy = nn.Sequential(nn.Linear(12, 384), nn.Tanh(), nn.Linear(384, 384), nn.Tanh(), nn.Linear(384, 4))
optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)


@torch.no_grad()
def act(states):
    if truth.fixed:
        return Categorical(logits=policy(states)).sample()
    return torch.tensor([Categorical(logits=policy(state[None])).sample().item() for state in states])


def play():
    """Observations, actions and returns of one episode in each environment."""
    states, seen, done, rewards = torch.randn(ENVIRONMENTS, 12), [], [], []
    for _ in range(LENGTH):
        actions = act(states)
        seen.append(states)
        done.append(actions)
        states = 0.9 * states + 0.1 * torch.randn(ENVIRONMENTS, 12)
        rewards.append((actions == states.argmax(1) % 4).float())
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    return torch.cat(seen), torch.cat(done), returns.flatten()


for episode in range(16):
    truth.enter('between')
    states, actions, returns = play()
    truth.enter('training')
    for rows in torch.randperm(len(states)).chunk(2):
        chosen = Categorical(logits=policy(states[rows])).log_prob(actions[rows])
        loss = -(chosen * (returns[rows] - returns.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
truth.enter('shutdown')
