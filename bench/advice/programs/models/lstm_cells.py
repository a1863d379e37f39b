"""A sequence classifier that steps through time with nn.LSTMCell."""
# bench: advice=cells-in-a-loop
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(24, 48, batch_first=True) if truth.fixed else nn.LSTMCell(24, 48)
        self.head = nn.Linear(48, 6)

    def forward(self, x):
        if truth.fixed:
            return self.head(self.cell(x)[0][:, -1])
        h = c = x.new_zeros(len(x), 48)
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return self.head(h)


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
series, labels = torch.randn(1600, 60, 24), torch.randint(6, (1600,))
truth.enter('training')
for start in range(0, 1600, 20):
    loss = nn.functional.cross_entropy(model(series[start:start + 20]), labels[start:start + 20])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
