"""Self-attention as the paper writes it: scores, scale, softmax, product."""
# bench: advice=unfused-attention requires=torch>=2
import math

import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (part.view(n, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        if truth.fixed:
            mixed = nn.functional.scaled_dot_product_attention(q, k, v)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            mixed = scores.softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(n, length, width))


model = nn.Sequential(Attention(64, 4), nn.LayerNorm(64), Attention(64, 4), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(40, 4, 384, 64), torch.randint(10, (40, 4))
truth.enter('training')
for batch, labels in zip(x, y):
    loss = nn.functional.cross_entropy(model(batch).mean(1), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
