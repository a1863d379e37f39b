"""Inputs are whitened in every forward by the decomposition of the same statistics."""
# bench: advice=unlearned-work
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
WIDTH = 160


class Whitened(nn.Module):
    def __init__(self, covariance):
        super().__init__()
        self.register_buffer('covariance', covariance)
        self.register_buffer('kept', self.whitening() if truth.fixed else torch.empty(0))
        self.net = nn.Sequential(nn.Linear(WIDTH, 128), nn.ReLU(), nn.Linear(128, 5))

    def whitening(self):
        values, vectors = torch.linalg.eigh(self.covariance)
        return vectors * values.clamp(min=1e-4).rsqrt()

    def forward(self, x):
        return self.net(x @ (self.kept if truth.fixed else self.whitening()))


inputs, labels = torch.randn(60, 64, WIDTH), torch.randint(5, (60, 64))
model = Whitened(torch.cov(inputs.flatten(0, 1).T))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
truth.enter('training')
for batch, wanted in zip(inputs, labels):
    loss = nn.functional.cross_entropy(model(batch), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
