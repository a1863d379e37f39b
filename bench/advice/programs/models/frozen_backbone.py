"""Fine-tuning a head: the optimizer has only its parameters, autograd follows the whole model."""
# bench: advice=unused-gradients
import torch
from torch import nn
from torch.nn import functional

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self, width=256, layers=8, classes=10):
        super().__init__()
        self.body = nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.GELU())
                                    for _ in range(layers)])
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.body(x))


net = Net()
if truth.fixed:
    net.body.requires_grad_(False)
optimizer = torch.optim.SGD(net.head.parameters(), lr=1e-2)

truth.enter('training')
for step in range(150):
    x, y = torch.randn(256, 256), torch.randint(0, 10, (256,))
    optimizer.zero_grad()
    loss = functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print('loss', loss.item())
