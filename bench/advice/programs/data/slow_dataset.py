"""Every sample is fetched from a store over the network, in the training process."""
# bench: advice=dataloader-wait
import time

import torch
from torch import nn
from torch.utils import data

from truth import Truth


class RemoteImages(data.Dataset):
    def __init__(self, count, latency=0.002):
        self.count, self.latency = count, latency

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.latency)
        generator = torch.Generator().manual_seed(index)
        return torch.rand(3, 16, 16, generator=generator), index % 10


class Trainer:
    def __init__(self, truth, workers):
        self.truth = truth
        self.model = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(784, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.loader = data.DataLoader(RemoteImages(640), batch_size=8, shuffle=True, num_workers=workers,
                                      persistent_workers=workers > 0)

    def fit(self, epochs):
        for _ in range(epochs):
            self.truth.enter('training')
            for images, labels in self.loader:
                self.step(images, labels)
                self.truth.iteration()

    def step(self, images, labels):
        loss = nn.functional.cross_entropy(self.model(images), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


if __name__ == '__main__':
    clock = Truth(__file__)
    torch.set_num_threads(1)
    Trainer(clock, workers=2 if clock.fixed else 0).fit(epochs=2)
    clock.enter('shutdown')
