"""A small model whose blocks are checkpointed though memory is plenty."""
# bench: advice=recomputed-forward
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 3 * width)
        self.down = nn.Linear(3 * width, width)

    def forward(self, x):
        return x + self.down(functional.gelu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width=128, layers=6, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x) if truth.fixed else checkpoint(block, x, use_reentrant=False)
        return self.head(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)

truth.enter('training')
for step in range(100):
    x, y = torch.randn(256, 128), torch.randint(0, 10, (256,))
    optimizer.zero_grad()
    loss = functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print('loss', loss.item())
