"""A character model that writes a sample after every ten steps, and reads all of it again for each letter."""
# bench: advice=generation-without-cache|validation-cost fix=generation-without-cache gain=run
import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
WIDTH, HEADS, LAYERS, LETTERS, LENGTH = 64, 4, 2, 60, 96


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, past=None):
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.qkv(self.first(x)).chunk(3, -1))
        if past is not None:
            k, v = (torch.cat(pair, 2) for pair in zip(past, (k, v))) if past else (k, v)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] == k.shape[2])
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.second(x)))), (k, v)


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks, self.head = nn.ModuleList(Block() for _ in range(LAYERS)), nn.Linear(WIDTH, LETTERS)

    def forward(self, letters, past=None, start=0):
        x, kept = self.letters(letters) + self.places.weight[start:start + letters.shape[1]], []
        for i, block in enumerate(self.blocks):
            x, state = block(x, past[i] if past is not None else None)
            kept.append(state)
        return self.head(x), kept


@torch.no_grad()
def write(model, text):
    past = [()] * LAYERS
    for place in range(LENGTH - 1):
        if truth.fixed:
            scores, past = model(text[:, -1:], past, place)
        else:
            scores, _ = model(text)
        text = torch.cat([text, scores[:, -1].softmax(-1).multinomial(1)], 1)
    return text


model = Writer()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
corpus = torch.randint(LETTERS, (5000,))
for step in range(60):
    truth.enter('training')
    starts = torch.randint(len(corpus) - LENGTH - 1, (8,))
    batch = torch.stack([corpus[start:start + LENGTH + 1] for start in starts])
    scores, _ = model(batch[:, :-1])
    optimizer.zero_grad()
    F.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten()).backward()
    optimizer.step()
    truth.iteration()
    if step % 10 == 9:
        truth.enter('validation')
        write(model, torch.zeros(4, 1, dtype=torch.long))
truth.enter('shutdown')
