"""A decoder-only Transformer written out, with a learning rate schedule and a moving loss."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu
import dataclasses

import torch
from torch import nn
from torch.nn import functional as F

from truth import Truth


@dataclasses.dataclass
class Config:
    vocabulary: int = 96
    block: int = 32
    width: int = 48
    heads: int = 4
    layers: int = 3


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.qkv, self.proj = nn.Linear(c.width, 3 * c.width), nn.Linear(c.width, c.width)
        self.register_buffer('mask', torch.tril(torch.ones(c.block, c.block)).bool())

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(w, dim=2))
        scores = (q @ k.transpose(-2, -1)) * (w // self.heads) ** -0.5
        weights = scores.masked_fill(~self.mask[:t, :t], float('-inf')).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(b, t, w))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln1, self.ln2, self.attention = nn.LayerNorm(c.width), nn.LayerNorm(c.width), Attention(c)
        self.mlp = nn.Sequential(nn.Linear(c.width, 4 * c.width), nn.GELU(), nn.Linear(4 * c.width, c.width))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tokens, self.places = nn.Embedding(c.vocabulary, c.width), nn.Embedding(c.block, c.width)
        self.layers = nn.Sequential(*[Layer(c) for _ in range(c.layers)])
        self.head = nn.Linear(c.width, c.vocabulary, bias=False)

    def forward(self, tokens):
        return self.head(self.layers(self.tokens(tokens) + self.places.weight[:tokens.shape[1]]))


if __name__ == '__main__':
    truth = Truth(__file__)
    torch.set_num_threads(1)
    config = Config()
    model = Decoder(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 80)
    moving = None
    truth.enter('training')
    for step in range(80):
        tokens = torch.randint(config.vocabulary, (8, config.block + 1))
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        moving = loss.item() if moving is None else 0.9 * moving + 0.1 * loss.item()
        truth.iteration()
    truth.enter('shutdown')
    print(moving)
