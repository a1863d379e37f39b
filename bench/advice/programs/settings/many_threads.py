"""Copied from a script for a large server: sixteen threads, whatever the machine has."""
# bench: advice=too-many-threads
import argparse

import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
parser = argparse.ArgumentParser()
parser.add_argument('--threads', type=int, default=16)
parser.add_argument('--fixed', action='store_true')
args = parser.parse_args()
torch.set_num_threads(2 if args.fixed else args.threads)

model = nn.Sequential(nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU(),
                      nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(16, 5))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
truth.enter('training')
for step in range(30):
    images, labels = torch.rand(8, 8, 16, 16), torch.randint(5, (8,))
    optimizer.zero_grad(set_to_none=True)
    criterion(model(images), labels).backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
