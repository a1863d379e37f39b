"""A deep narrow network with a batch of two: launches take longer than kernels."""
# bench: advice=launch-bound|small-kernels requires=cuda,torch>=2
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
model = nn.Sequential(*[nn.Sequential(nn.Linear(128, 128), nn.LayerNorm(128), nn.GELU()) for _ in range(60)],
                      nn.Linear(128, 10)).cuda()
forward = torch.compile(model, mode='reduce-overhead') if truth.fixed else model
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
x, y = torch.randn(2, 128, device='cuda'), torch.randint(10, (2,), device='cuda')
truth.enter('training')
for step in range(300):
    loss = nn.functional.cross_entropy(forward(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    truth.iteration()
torch.cuda.synchronize()
truth.enter('shutdown')
