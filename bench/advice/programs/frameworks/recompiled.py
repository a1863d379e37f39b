"""torch.compile meets a new Python number every few steps and compiles anew each time."""
# bench: advice=recompilation requires=torch>=2
import torch
from torch import nn

from truth import Truth


class Noisy(nn.Module):
    """Noise that the schedule changes, kept as a number of the module."""

    def __init__(self):
        super().__init__()
        self.level = 0.5
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x, level=None):
        level = self.level if level is None else level
        return self.layers(x + torch.randn_like(x) * level)


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    model = Noisy()
    compiled = torch.compile(model)
    optimizer = torch.optim.Adam(model.parameters())
    truth.enter('training')
    for step in range(64):
        level = 0.5 * 0.9 ** (step // 16)
        model.level = 0.0 if truth.fixed else level
        x = torch.randn(128, 64)
        loss = nn.functional.mse_loss(compiled(x, torch.tensor(level) if truth.fixed else None), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
