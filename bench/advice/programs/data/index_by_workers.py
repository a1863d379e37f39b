"""Each worker reads the index of a large table when it is asked for its first sample."""
# bench: advice=first-batch gain=run
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from truth import Truth


class Table(Dataset):
    """Rows by a key; the index of the keys is made when it is needed."""

    def __init__(self, rows, small):
        self.rows, self.small, self.index = rows, small, None

    def __len__(self):
        return 1600

    def read_index(self):
        self.index = {}
        for row in range(self.rows // 200 if self.small else self.rows):
            self.index[f'key-{row % 1600:05d}-{row // 1600}'] = row * 37 % 1009

    def __getitem__(self, i):
        if self.index is None:
            self.read_index()
        value = self.index[f'key-{i:05d}-0']
        return torch.full((256,), value / 1009), value % 5


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    loader = DataLoader(Table(2_500_000, small=truth.fixed), batch_size=32, num_workers=1, persistent_workers=True)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    truth.enter('training')
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
