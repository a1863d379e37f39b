"""Adam over some hundred small tensors, one at a time (foreach=False)."""
# bench: advice=unfused-optimizer-cpu
import torch
from torch import nn

from truth import Truth


class Experts(nn.Module):
    """Many small regressors, averaged."""

    def __init__(self, count, inputs):
        super().__init__()
        self.first = nn.ModuleList(nn.Linear(inputs, 8) for _ in range(count))
        self.second = nn.ModuleList(nn.Linear(8, 1) for _ in range(count))

    def forward(self, x):
        return torch.stack([b(torch.tanh(a(x))) for a, b in zip(self.first, self.second)]).mean(0)


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    model = Experts(80, 16)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, foreach=truth.fixed)
    truth.enter('training')
    for i in range(80):
        x = torch.rand(64, 16)
        loss = (model(x) - x.prod(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
