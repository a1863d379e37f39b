"""Small language model: the causal mask is given to the fused attention as a tensor."""
# bench: advice=causal-mask requires=torch>=2.4
import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
torch.manual_seed(0)
LENGTH = 1536


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer('mask', torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril())

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        given = {'is_causal': True} if truth.fixed else {'attn_mask': self.mask}
        return x + self.out(F.scaled_dot_product_attention(q, k, v, **given).transpose(1, 2).flatten(2))


words = nn.Embedding(200, 64)
model = nn.Sequential(Attention(64, 2), nn.LayerNorm(64), Attention(64, 2), nn.LayerNorm(64), nn.Linear(64, 200))
optimizer = torch.optim.SGD([*words.parameters(), *model.parameters()], lr=0.1)
truth.enter('training')
for _ in range(20):
    text = torch.randint(200, (1, LENGTH + 1))
    loss = F.cross_entropy(model(words(text[:, :-1])).flatten(0, 1), text[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
