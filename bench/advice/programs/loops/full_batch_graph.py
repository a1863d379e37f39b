"""A graph network on one graph: an epoch is one update on everything, and every epoch is tested."""
# bench: advice=validation-cost
import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth


class GraphConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, adjacency):
        return torch.sparse.mm(adjacency, self.linear(x))


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GraphConv(200, 32), GraphConv(32, 7)

    def forward(self, x, adjacency):
        x = F.dropout(F.relu(self.first(x, adjacency)), training=self.training)
        return self.second(x, adjacency)


truth = Truth(__file__)
torch.set_num_threads(1)
nodes = 2700
edges = torch.randint(nodes, (2, 12000))
adjacency = torch.sparse_coo_tensor(edges, torch.full((12000,), 0.2), (nodes, nodes)).coalesce()
x, y = torch.rand(nodes, 200), torch.randint(7, (nodes,))
train_mask, test_mask = torch.rand(nodes) < 0.2, torch.rand(nodes) < 0.4
model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


def train():
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x, adjacency)[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def test():
    model.eval()
    guess = model(x, adjacency).argmax(dim=1)
    return [(guess[mask] == y[mask]).float().mean().item() for mask in (train_mask, test_mask)]


truth.enter('training')
for epoch in range(1, 81):
    loss = train()
    truth.iteration()
    if not truth.fixed or epoch % 10 == 0:
        truth.enter('validation')
        accuracies = test()
        truth.enter('training')
        if epoch % 20 == 0:
            print(epoch, loss, accuracies)
truth.enter('shutdown')
