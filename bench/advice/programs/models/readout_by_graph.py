"""A readout that goes through the graphs of a batch, one by one, where index_add does all of them."""
# bench: advice=masked-loop
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
GRAPHS, NODES, WIDTH = 64, 24, 32


class Readout(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate, self.value = nn.Linear(width, 1), nn.Linear(width, width)

    def forward(self, nodes, graph):
        if truth.fixed:
            weight = torch.exp(self.gate(nodes))
            total = nodes.new_zeros(GRAPHS, 1).index_add(0, graph, weight)
            return nodes.new_zeros(GRAPHS, WIDTH).index_add(0, graph, weight * self.value(nodes)) / total
        out = []
        for g in range(GRAPHS):
            of_graph = nodes[graph == g]
            weight = torch.softmax(self.gate(of_graph), 0)
            out.append((weight * self.value(of_graph)).sum(0))
        return torch.stack(out)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        self.readout, self.head = Readout(WIDTH), nn.Linear(WIDTH, 1)

    def forward(self, nodes, graph):
        return self.head(self.readout(self.layers(nodes), graph))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
graph = torch.arange(GRAPHS).repeat_interleave(NODES)
x, y = torch.randn(60, GRAPHS * NODES, WIDTH), torch.randn(60, GRAPHS, 1)
truth.enter('training')
for batch, target in zip(x, y):
    loss = nn.functional.mse_loss(model(batch, graph), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
