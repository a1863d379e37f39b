"""REINFORCE: the environment steps in Python, one after the other, before every update.

The change: a coarser integration, as a simulator in C would cost.
"""
# bench: advice=python-work
import math
import random

import torch
from torch import nn
from torch.distributions import Categorical

from truth import Truth


class Pendulum:
    """A pole on a cart, integrated in many small steps."""

    def reset(self):
        self.state = [random.uniform(-0.05, 0.05) for _ in range(4)]
        return self.state

    def step(self, action, substeps=60):
        x, v, angle, spin = self.state
        dt = 0.02 / substeps
        for _ in range(substeps):
            force = (10 if action else -10) + 0.05 * spin * spin * math.sin(angle)
            acceleration = (9.8 * math.sin(angle) - math.cos(angle) * force / 1.1) / 0.6
            v, spin = v + dt * force / 1.1, spin + dt * acceleration
            x, angle = x + dt * v, angle + dt * spin
        self.state = [x, v, angle, spin]
        return self.state, 1.0, abs(angle) > 0.5


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, states):
        return Categorical(logits=self.body(states))


def rollout(env, policy, steps, substeps):
    states, actions, rewards = [], [], []
    state = env.reset()
    for _ in range(steps):
        action = random.randrange(2) if random.random() < 0.9 else policy(torch.tensor(state)).sample().item()
        states.append(state)
        state, reward, done = env.step(action, substeps)
        actions.append(action)
        rewards.append(reward)
        if done:
            state = env.reset()
    return torch.tensor(states), torch.tensor(actions), torch.tensor(rewards)


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    random.seed(0)
    policy, env = Policy(), Pendulum()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    truth.enter('training')
    for _ in range(60):
        states, actions, rewards = rollout(env, policy, 100, substeps=4 if truth.fixed else 60)
        returns = rewards.flip(0).cumsum(0).flip(0)
        loss = -(policy(states).log_prob(actions) * (returns - returns.mean()) / returns.std()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
