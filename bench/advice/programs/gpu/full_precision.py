"""A wide MLP in FP32, with PyTorch's default precision of matrix products."""
# bench: advice=tf32-off|amp-off requires=cuda
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.backends.cuda.matmul.allow_tf32 = truth.fixed
widths = [4096] * 6
model = nn.Sequential(*[part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), nn.ReLU())],
                      nn.Linear(4096, 1000)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x, y = torch.randn(4096, 4096, device='cuda'), torch.randint(1000, (4096,), device='cuda')
truth.enter('training')
for step in range(60):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
    if step % 10 == 0:
        print(step, loss.item())
torch.cuda.synchronize()
truth.enter('shutdown')
