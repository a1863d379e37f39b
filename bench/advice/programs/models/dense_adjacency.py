"""A graph network multiplies by its adjacency matrix, of which three numbers in a thousand are set."""
# bench: advice=sparse-as-dense
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
NODES, WIDTH = 1500, 48


class GraphNetwork(nn.Module):
    def __init__(self, adjacency):
        super().__init__()
        self.register_buffer('adjacency', adjacency)
        self.first, self.second = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 8)

    def forward(self, x):
        x = torch.mm(self.adjacency, self.first(x)).relu()
        return torch.mm(self.adjacency, self.second(x))


adjacency = (torch.rand(NODES, NODES) < 0.003).float()
adjacency = adjacency / adjacency.sum(1, keepdim=True).clamp(min=1)
model = GraphNetwork(adjacency.to_sparse() if truth.fixed else adjacency)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
features, labels = torch.randn(NODES, WIDTH), torch.randint(8, (NODES,))
truth.enter('training')
for _ in range(80):
    loss = nn.functional.cross_entropy(model(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
