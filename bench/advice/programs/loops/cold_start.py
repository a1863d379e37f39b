"""The first step is cold: the data set builds its index when the first sample is asked for."""
# bench: advice=none
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from truth import Truth


class Records(Dataset):
    def __init__(self, n):
        self.n, self.index = n, None

    def build_index(self):
        self.index = sorted(range(400000), key=lambda i: (i * 2654435761) % 1000003)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if self.index is None:
            self.build_index()
        return torch.tensor(self.index[i:i + 256], dtype=torch.float32) / 4e5, i % 7


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    loader = DataLoader(Records(2000), batch_size=50)
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 7))
    optimizer = torch.optim.Adam(model.parameters())
    truth.enter('training')
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')


main()
