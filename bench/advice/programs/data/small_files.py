"""One file a sample, read one after the other; the change packs them into one array."""
# bench: advice=dataloader-wait
import glob
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from truth import Truth


def write_samples(folder, count):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(count, 128)).astype(np.float32)
    for i, row in enumerate(rows):
        np.save(os.path.join(folder, f'{i:05d}.npy'), row)
    np.save(os.path.join(folder, 'all.npy'), rows)


class FolderOfArrays(Dataset):
    def __init__(self, folder):
        self.paths = sorted(glob.glob(os.path.join(folder, '[0-9]*.npy')))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        return torch.from_numpy(np.load(self.paths[i])), i % 2


class PackedArray(Dataset):
    def __init__(self, folder):
        self.rows = np.load(os.path.join(folder, 'all.npy'), mmap_mode='r')

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.tensor(self.rows[i]), i % 2


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    folder = tempfile.mkdtemp()
    write_samples(folder, 3200)
    dataset = PackedArray(folder) if truth.fixed else FolderOfArrays(folder)
    loader = DataLoader(dataset, batch_size=64, shuffle=True)
    net = nn.Sequential(nn.Linear(128, 32), nn.ReLU(), nn.Linear(32, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        truth.enter('training')
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
