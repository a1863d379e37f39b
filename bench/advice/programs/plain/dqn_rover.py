# bench: advice=python-work
"""DQN, after the usual tutorial. The environment is a rover with a range finder, in pure Python/numpy
(gym is not installed on the cluster)."""
import math
import pathlib
import random
import sys
from collections import deque, namedtuple
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))
from truth import Truth
truth = Truth(__file__)

Transition = namedtuple('Transition', ('state', 'action', 'next_state', 'reward', 'done'))

BATCH_SIZE = 192
GAMMA = 0.97
EPS_START, EPS_END, EPS_DECAY = 0.9, 0.05, 150
TARGET_UPDATE = 50
WARMUP = 300
TOTAL_STEPS = 320
RAYS = 120
OBS = RAYS + 4


class RoverEnv:
    """Drive to the goal, do not hit the pillars."""
    n_actions = 5

    def __init__(self, seed=0):
        self.rng = np.random.RandomState(seed)
        self.pillars = [(self.rng.uniform(-4, 4), self.rng.uniform(-4, 4), 0.3) for _ in range(6)]

    def reset(self):
        self.x, self.y, self.th = self.rng.uniform(-5, 5), -5.0, math.pi / 2
        self.goal = (self.rng.uniform(-4, 4), 5.0)
        self.t = 0
        return self.observe()

    def observe(self):
        obs = np.empty(OBS, dtype=np.float64)
        for k in range(RAYS):
            a = self.th - math.pi / 2 + math.pi * k / (RAYS - 1)
            c, s, best = math.cos(a), math.sin(a), 6.0
            for px, py, r in self.pillars:
                dx, dy = px - self.x, py - self.y
                along = dx * c + dy * s
                if along > 0 and abs(dx * s - dy * c) < r:
                    best = min(best, along)
            obs[k] = best / 6.0
        gx, gy = self.goal[0] - self.x, self.goal[1] - self.y
        obs[RAYS:] = (gx / 10, gy / 10, math.sin(self.th), math.cos(self.th))
        return obs

    def step(self, action):
        before = math.hypot(self.goal[0] - self.x, self.goal[1] - self.y)
        self.th += (action - 2) * 0.2
        self.x += 0.25 * math.cos(self.th)
        self.y += 0.25 * math.sin(self.th)
        self.t += 1
        after = math.hypot(self.goal[0] - self.x, self.goal[1] - self.y)
        crash = any(math.hypot(px - self.x, py - self.y) < r for px, py, r in self.pillars)
        reward = (before - after) - (5.0 if crash else 0.0)
        return self.observe(), reward, crash or after < 0.5 or self.t >= 80


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        batch = Transition(*zip(*random.sample(self.memory, batch_size)))
        return (torch.tensor([list(s) for s in batch.state], dtype=torch.float32),
                torch.tensor(batch.action).unsqueeze(1),
                torch.tensor([list(s) for s in batch.next_state], dtype=torch.float32),
                torch.tensor(batch.reward, dtype=torch.float32),
                torch.tensor(batch.done, dtype=torch.float32))

    def __len__(self):
        return len(self.memory)


class ArrayMemory:
    """The same in arrays, made once."""

    def __init__(self, capacity):
        self.s = np.zeros((capacity, OBS), np.float32)
        self.n = np.zeros((capacity, OBS), np.float32)
        self.a = np.zeros((capacity, 1), np.int64)
        self.r = np.zeros(capacity, np.float32)
        self.d = np.zeros(capacity, np.float32)
        self.at, self.full, self.capacity = 0, 0, capacity

    def push(self, state, action, next_state, reward, done):
        i = self.at
        self.s[i], self.a[i], self.n[i], self.r[i], self.d[i] = state, action, next_state, reward, done
        self.at = (i + 1) % self.capacity
        self.full = min(self.full + 1, self.capacity)

    def sample(self, batch_size):
        pick = np.random.randint(0, self.full, batch_size)
        return tuple(torch.from_numpy(x[pick]) for x in (self.s, self.a, self.n, self.r, self.d))

    def __len__(self):
        return self.full


class DQN(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_obs, 32)
        self.layer2 = nn.Linear(32, 32)
        self.layer3 = nn.Linear(32, n_actions)

    def forward(self, x):
        return self.layer3(F.relu(self.layer2(F.relu(self.layer1(x)))))


random.seed(3); np.random.seed(3); torch.manual_seed(3)
env = RoverEnv()
policy_net, target_net = DQN(OBS, env.n_actions), DQN(OBS, env.n_actions)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.RMSprop(policy_net.parameters(), lr=5e-4)
memory = (ArrayMemory if truth.fixed else ReplayMemory)(10000)
steps_done = 0


def select_action(state):
    eps = EPS_END + (EPS_START - EPS_END) * math.exp(-steps_done / EPS_DECAY)
    if random.random() < eps:
        return random.randrange(env.n_actions)
    with torch.no_grad():
        return int(policy_net(torch.as_tensor(state, dtype=torch.float32).unsqueeze(0)).argmax())


def optimize_model():
    state, action, next_state, reward, done = memory.sample(BATCH_SIZE)
    q = policy_net(state).gather(1, action).squeeze(1)
    with torch.no_grad():
        expected = reward + GAMMA * (1 - done) * target_net(next_state).max(1)[0]
    loss = F.smooth_l1_loss(q, expected)
    optimizer.zero_grad()
    loss.backward()
    for param in policy_net.parameters():
        param.grad.data.clamp_(-1, 1)
    optimizer.step()


# some random driving first
state = env.reset()
for _ in range(WARMUP):
    action = random.randrange(env.n_actions)
    next_state, reward, done = env.step(action)
    memory.push(state, action, next_state, reward, done)
    state = env.reset() if done else next_state

truth.enter('training')
for episode in count():
    state, total = env.reset(), 0.0
    while True:
        action = select_action(state)
        next_state, reward, done = env.step(action)
        memory.push(state, action, next_state, reward, done)
        state = next_state
        total += reward
        optimize_model()
        steps_done += 1
        if steps_done % TARGET_UPDATE == 0:
            target_net.load_state_dict(policy_net.state_dict())
        truth.iteration()
        if done or steps_done >= TOTAL_STEPS:
            break
    print('episode', episode, 'return %.2f' % total, 'steps', steps_done)
    if steps_done >= TOTAL_STEPS:
        break
truth.enter('shutdown')
