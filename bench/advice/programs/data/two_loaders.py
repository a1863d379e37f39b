"""Two tasks with a loader each; the second task's samples are slow to come."""
# bench: advice=dataloader-wait
import itertools
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from truth import Truth


class SlowLabels(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, i):
        time.sleep(0.004)
        return torch.rand(48), torch.tensor(i % 2, dtype=torch.float32)


class SharedTrunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(48, 128), nn.ReLU())
        self.heads = nn.ModuleDict({'regression': nn.Linear(128, 1), 'binary': nn.Linear(128, 1)})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x)).squeeze(1)


truth = Truth(__file__)
torch.set_num_threads(1)
workers = {'num_workers': 2, 'persistent_workers': True} if truth.fixed else {}
values = DataLoader(TensorDataset(torch.rand(640, 48), torch.rand(640)), batch_size=8)
labels = DataLoader(SlowLabels(), batch_size=4, **workers)
model = SharedTrunk()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

truth.enter('training')
for (xa, ya), (xb, yb) in itertools.islice(zip(values, labels), 80):
    loss = F.mse_loss(model(xa, 'regression'), ya)
    loss = loss + 0.5 * F.binary_cross_entropy_with_logits(model(xb, 'binary'), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
