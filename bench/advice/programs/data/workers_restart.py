"""Short epochs, and the workers, which open a large index first, start again in each."""
# bench: advice=dataloader-restart
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from truth import Truth


class Indexed(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, i):
        return torch.full((64,), i / 160), i % 3


def open_index(worker):
    time.sleep(0.3)


truth = Truth(__file__)
torch.set_num_threads(1)
loader = DataLoader(Indexed(), batch_size=16, num_workers=1, worker_init_fn=open_index,
                    persistent_workers=truth.fixed)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(8):
    truth.enter('training')
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        truth.iteration()
truth.enter('shutdown')
