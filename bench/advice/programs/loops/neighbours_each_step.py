"""A metric of the whole memory bank is taken in each step: how many of the nearest samples have the same label."""
# bench: advice=work-beside-the-model|python-work
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class NearestNeighbours:
    def __init__(self, size, width):
        self.bank, self.labels, self.next = torch.randn(size, width), torch.randint(10, (size,)), 0

    @torch.no_grad()
    def remember(self, vectors, labels):
        rows = slice(self.next, self.next + len(vectors))
        self.bank[rows], self.labels[rows] = vectors, labels
        self.next = (self.next + len(vectors)) % len(self.bank)

    @torch.no_grad()
    def accuracy(self, vectors, labels):
        nearest = (vectors @ self.bank.T).topk(20, dim=1).indices
        return (self.labels[nearest] == labels[:, None]).float().mean()


net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 64))
head = nn.Linear(64, 10)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.02)
metric = NearestNeighbours(8192, 64)
x, y = torch.randn(4096, 128), torch.randint(10, (4096,))
truth.enter('training')
for step in range(60):
    rows = torch.randint(len(x), (128,))
    vectors = net(x[rows])
    loss = nn.functional.cross_entropy(head(vectors), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    metric.remember(vectors.detach(), y[rows])
    if not truth.fixed or step % 20 == 0:
        metric.accuracy(vectors.detach(), y[rows])
    truth.iteration()
truth.enter('shutdown')
