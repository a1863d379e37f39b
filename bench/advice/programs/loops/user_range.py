"""The author marked what he calls a batch with NVTX: the computing, but not the reading before it."""
# bench: advice=dataloader-wait
import time

import torch
from torch.utils.data import DataLoader, Dataset

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


def push(name):
    try:
        torch.cuda.nvtx.range_push(name)
    except RuntimeError:  # a PyTorch without CUDA
        pass


def pop():
    try:
        torch.cuda.nvtx.range_pop()
    except RuntimeError:
        pass


class Frames(Dataset):
    """Frames from a camera archive that answers after a while."""

    def __len__(self):
        return 560

    def __getitem__(self, index):
        time.sleep(0.003)
        return torch.full((3, 32, 32), index / 560), index % 4


if __name__ == '__main__':
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 64), torch.nn.Tanh(),
                                torch.nn.Linear(64, 4))
    opt = torch.optim.Adam(model.parameters())
    criterion = torch.nn.CrossEntropyLoss()
    options = {'num_workers': 2, 'persistent_workers': True} if truth.fixed else {}
    loader = DataLoader(Frames(), batch_size=8, **options)
    truth.enter('training')
    for images, target in loader:
        push('Batch')
        opt.zero_grad()
        criterion(model(images), target).backward()
        opt.step()
        pop()
        truth.iteration()
    truth.enter('shutdown')
