"""An exponential moving average of the weights through state_dict(), each step."""
# bench: advice=unfused-updates|python-work
import copy

import torch
from torch import nn

from truth import Truth


class EMA:
    def __init__(self, model, decay=0.999):
        self.shadow = copy.deepcopy(model).eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        current = model.state_dict()
        for name, value in self.shadow.state_dict().items():
            if value.dtype.is_floating_point:
                value.copy_(value * self.decay + current[name].detach() * (1 - self.decay))


def block(width):
    return nn.Sequential(nn.Linear(width, width), nn.BatchNorm1d(width), nn.Hardswish())


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    model = nn.Sequential(*[block(24) for _ in range(24)], nn.Linear(24, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    ema, every = EMA(model), 10 if truth.fixed else 1
    truth.enter('training')
    for step in range(100):
        loss = nn.functional.cross_entropy(model(torch.randn(32, 24)), torch.randint(3, (32,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            ema.update(model)
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
