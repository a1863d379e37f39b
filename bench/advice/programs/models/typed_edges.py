"""Graph network with a vector for each type of edge, looked up by an index: no slower than an embedding on a CPU."""
# bench: advice=none
import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(0)
NODES, EDGES, TYPES, WIDTH = 2000, 60000, 12, 48


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.types = nn.Linear(WIDTH, WIDTH), nn.Parameter(1 + 0.1 * torch.randn(TYPES, WIDTH))

    def forward(self, x, source, target, kind):
        messages = F.relu(x.index_select(0, source) * self.types[kind])
        return self.own(x + torch.zeros_like(x).index_add(0, target, messages) / (EDGES / NODES))


layers = nn.ModuleList([Layer(), Layer()])
head = nn.Linear(WIDTH, 8)
optimizer = torch.optim.Adam([*layers.parameters(), *head.parameters()], lr=1e-3)
truth.enter('training')
for _ in range(25):
    source, target, kind = torch.randint(NODES, (EDGES,)), torch.randint(NODES, (EDGES,)), torch.randint(TYPES, (EDGES,))
    x = torch.randn(NODES, WIDTH)
    for layer in layers:
        x = layer(x, source, target, kind)
    loss = F.cross_entropy(head(x), torch.randint(8, (NODES,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
