"""Sequences are aligned in the loss, by a table that Python fills cell by cell."""
# bench: advice=slow-function
import numpy as np
import torch
from torch import nn

from truth import Truth


def warping_path(costs, whole):
    """The cells of the cheapest path from corner to corner."""
    rows, columns = costs.shape
    total = np.full((rows + 1, columns + 1), np.inf)
    total[0, 0] = 0.0
    if whole:  # an anti-diagonal at a time
        for d in range(2, rows + columns + 1):
            i = np.arange(max(1, d - columns), min(rows, d - 1) + 1)
            j = d - i
            before = np.minimum(np.minimum(total[i - 1, j], total[i, j - 1]), total[i - 1, j - 1])
            total[i, j] = costs[i - 1, j - 1] + before
    else:
        for i in range(1, rows + 1):
            for j in range(1, columns + 1):
                before = min(total[i - 1, j], total[i, j - 1], total[i - 1, j - 1])
                total[i, j] = costs[i - 1, j - 1] + before
    i, j, path = rows, columns, []
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        step = np.argmin([total[i - 1, j - 1], total[i - 1, j], total[i, j - 1]])
        i, j = (i - 1, j - 1) if step == 0 else (i - 1, j) if step == 1 else (i, j - 1)
    return np.array(path)


class AlignmentLoss(nn.Module):
    def __init__(self, whole):
        super().__init__()
        self.whole = whole

    def forward(self, ours, theirs):
        loss = 0.0
        for a, b in zip(ours, theirs):
            distances = torch.cdist(a, b)
            path = warping_path(distances.detach().numpy(), self.whole)
            loss = loss + distances[path[:, 0], path[:, 1]].mean()
        return loss / len(ours)


truth = Truth(__file__)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 48))
criterion = AlignmentLoss(whole=truth.fixed)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(160, 110, 20), torch.randn(160, 100, 48)
truth.enter('training')
for step in range(40):
    rows = slice(4 * step, 4 * step + 4)
    loss = criterion(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
