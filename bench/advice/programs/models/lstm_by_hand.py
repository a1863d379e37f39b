"""Tags each position of a sequence with an LSTM that is written out: two layers called once a time step."""
# bench: advice=small-operators
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Recurrent(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.width = width
        self.lstm = nn.LSTM(inputs, width, batch_first=True) if truth.fixed else None
        self.into, self.over = nn.Linear(inputs, 4 * width), nn.Linear(width, 4 * width, bias=False)

    def forward(self, x):
        if truth.fixed:
            return self.lstm(x)[0]
        h = c = x.new_zeros(len(x), self.width)
        outputs = []
        for t in range(x.shape[1]):
            i, f, g, o = (self.into(x[:, t]) + self.over(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(h)
        return torch.stack(outputs, 1)


model = nn.Sequential(Recurrent(24, 32), Recurrent(32, 32), nn.Linear(32, 9))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
series, tags = torch.randn(960, 80, 24), torch.randint(9, (960, 80))
truth.enter('training')
for start in range(0, 960, 16):
    scores = model(series[start:start + 16])
    loss = nn.functional.cross_entropy(scores.transpose(1, 2), tags[start:start + 16])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
