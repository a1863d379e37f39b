"""A hand-written activation and gate, one elementwise kernel after the other."""
# bench: advice=unfused-pointwise requires=cuda,torch>=2
import torch
from torch import nn

from truth import Truth


class GatedBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value, self.scale = nn.Linear(width, width), nn.Parameter(torch.ones(width))

    def forward(self, x):
        h = self.value(x)
        h = 0.5 * h * (1 + torch.tanh(0.79788456 * (h + 0.044715 * h * h * h)))
        gate = torch.sigmoid(h * self.scale + 0.1)
        h = x + gate * h - (1 - gate) * x * 0.01
        return h / (h.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()


truth = Truth(__file__)
torch.set_float32_matmul_precision('high')
net = nn.Sequential(*[GatedBlock(512) for _ in range(6)]).cuda().bfloat16()
forward = torch.compile(net) if truth.fixed else net
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
inputs = torch.randn(65536, 512, device='cuda', dtype=torch.bfloat16)
truth.enter('training')
for step in range(60):
    loss = (forward(inputs) - inputs).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
torch.cuda.synchronize()
truth.enter('shutdown')
