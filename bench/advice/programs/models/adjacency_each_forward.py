"""A graph net on one fixed graph that normalizes its adjacency anew in each forward."""
# bench: advice=work-without-gradient|sparse-as-dense fix=work-without-gradient
import torch
from torch import nn

from truth import Truth


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, adjacency):
        return adjacency @ self.linear(x)


class GraphNet(nn.Module):
    def __init__(self, edges, once):
        super().__init__()
        self.register_buffer('edges', edges)
        self.first, self.second = GraphConvolution(32, 16), GraphConvolution(16, 7)
        self.once, self.kept = once, None

    def normalized(self):
        if self.kept is not None:
            return self.kept
        adjacency = self.edges + self.edges.T + torch.eye(len(self.edges))
        degree = adjacency.sum(1).clamp(min=1).rsqrt()
        adjacency = degree[:, None] * adjacency * degree[None, :]
        if self.once:
            self.kept = adjacency
        return adjacency

    def forward(self, x):
        adjacency = self.normalized()
        return self.second(torch.relu(self.first(x, adjacency)), adjacency)


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    torch.manual_seed(6)
    nodes = 1600
    model = GraphNet((torch.rand(nodes, nodes) < 0.004).float(), once=truth.fixed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    x, y = torch.randn(nodes, 32), torch.randint(7, (nodes,))
    truth.enter('training')
    for _ in range(50):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x)[:300], y[:300]).backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
