"""Somebody looked for a NaN once and left autograd's anomaly detection on."""
# bench: advice=anomaly-detection
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.autograd.set_detect_anomaly(not truth.fixed)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


model = nn.Sequential(nn.Linear(20, 32), *[Residual(32) for _ in range(12)], nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
truth.enter('training')
for step in range(100):
    x = torch.randn(32, 20)
    loss = nn.functional.smooth_l1_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
