"""Graph network with a vector for each type of edge, looked up by an index."""
# bench: advice=indexed-gradient requires=cuda
import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.manual_seed(0)
NODES, EDGES, TYPES, WIDTH = 20000, 300000, 12, 96


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.types = nn.Linear(WIDTH, WIDTH), nn.Parameter(1 + 0.1 * torch.randn(TYPES, WIDTH))

    def forward(self, x, source, target, kind):
        of_type = F.embedding(kind, self.types) if truth.fixed else self.types[kind]
        messages = F.relu(x.index_select(0, source) * of_type)
        return self.own(x + torch.zeros_like(x).index_add(0, target, messages) / (EDGES / NODES))


layers = nn.ModuleList([Layer(), Layer()]).cuda()
head = nn.Linear(WIDTH, 8).cuda()
optimizer = torch.optim.Adam([*layers.parameters(), *head.parameters()], lr=1e-3)
truth.enter('training')
for _ in range(60):
    source, target = torch.randint(NODES, (2, EDGES), device='cuda')
    kind = torch.randint(TYPES, (EDGES,), device='cuda')
    x = torch.randn(NODES, WIDTH, device='cuda')
    for layer in layers:
        x = layer(x, source, target, kind)
    loss = F.cross_entropy(head(x), torch.randint(8, (NODES,), device='cuda'))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
torch.cuda.synchronize()
truth.enter('shutdown')
print(loss.item())
