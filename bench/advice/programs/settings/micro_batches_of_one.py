"""Gradients of 24 samples are summed up one sample at a time, as if memory were short."""
# bench: advice=small-micro-batches
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
BATCH, PIECES = 24, 3 if truth.fixed else 24


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(2000, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 3)
        self.tags = nn.Linear(64, 12)

    def forward(self, words):
        return self.tags(self.encoder(self.words(words)))


tagger = Tagger()
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.01)
words, tags = torch.randint(2000, (960, 16)), torch.randint(12, (960, 16))

truth.enter('training')
for step in range(40):
    optimizer.zero_grad()
    rows = slice(step * BATCH, step * BATCH + BATCH)
    for x, y in zip(words[rows].chunk(PIECES), tags[rows].chunk(PIECES)):
        loss = nn.functional.cross_entropy(tagger(x).flatten(0, 1), y.flatten()) / PIECES
        loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
