"""Two-tower model: rows of the batch are put in another order by an index, each once."""
# bench: advice=none
import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(0)
left, right = (nn.Sequential(nn.Linear(300, 512), nn.ReLU(), nn.Linear(512, 64)) for _ in range(2))
optimizer = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.05)
truth.enter('training')
for _ in range(40):
    a, b = torch.randn(1024, 300), torch.randn(1024, 300)
    u, v = left(a), right(b)
    order = torch.randperm(1024)
    loss = F.softplus(-(u * v).sum(1)).mean() + F.softplus((u * v[order]).sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
