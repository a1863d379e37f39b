"""A linear recurrence over time, one step after the other, where all steps are one cumulative sum."""
# bench: advice=small-operators
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Scan(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.decay = nn.Parameter(torch.rand(width) * 0.02)
        self.into, self.out = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        u = self.into(x)
        if truth.fixed:
            fade = torch.exp(self.decay * torch.arange(x.shape[1])[:, None])
            return self.out(torch.cumsum(u * fade, 1) / fade)
        state, states = torch.zeros_like(u[:, 0]), []
        for t in range(x.shape[1]):
            state = torch.exp(-self.decay) * state + u[:, t]
            states.append(state)
        return self.out(torch.stack(states, 1))


model = nn.Sequential(Scan(32), nn.Tanh(), Scan(32))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x, y = torch.randn(60, 16, 100, 32), torch.randn(60, 16, 100, 32)
truth.enter('training')
for batch, target in zip(x, y):
    loss = nn.functional.mse_loss(model(batch), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
