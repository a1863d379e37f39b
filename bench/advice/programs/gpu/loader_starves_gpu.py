"""Pictures are decoded and augmented in the training process while the GPU has nothing to do."""
# bench: advice=dataloader-wait requires=cuda
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from truth import Truth


class Pictures(Dataset):
    def __init__(self, count=3200):
        self.raw = np.random.default_rng(0).integers(0, 255, (200, 96, 96, 3), dtype=np.uint8)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        picture = self.raw[i % 200].astype(np.float32) / 255
        top, left = np.random.randint(0, 32, 2)
        picture = picture[top:top + 64, left:left + 64]
        for _ in range(4):  # blur
            picture = (picture + np.roll(picture, 1, 0) + np.roll(picture, 1, 1)) / 3
        return torch.from_numpy(picture.transpose(2, 0, 1).copy()), i % 10


def main():
    truth = Truth(__file__)
    workers = {'num_workers': 8, 'persistent_workers': True} if truth.fixed else {}
    loader = DataLoader(Pictures(), batch_size=32, shuffle=True, pin_memory=True, **workers)
    model = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Conv2d(64, 128, 3, stride=2), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    truth.enter('training')
    for images, labels in loader:
        images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    torch.cuda.synchronize()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
