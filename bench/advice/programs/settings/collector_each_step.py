"""A text model whose author once ran out of memory, and calls the garbage collector after every batch."""
# bench: advice=garbage-collection
import gc

import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Document:
    def __init__(self, number):
        self.words = [(number * 31 + place * 7) % 900 for place in range(40)]
        self.meta = {'id': number, 'tags': [str(number % 9)], 'parent': None}


corpus = [Document(number) for number in range(3500)]
for child, parent in zip(corpus, reversed(corpus)):
    child.meta['parent'] = parent
model = nn.Sequential(nn.EmbeddingBag(900, 96), nn.Linear(96, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(),
                      nn.Linear(768, 9))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

truth.enter('training')
for step in range(50):
    batch = corpus[step * 64:step * 64 + 64]
    words = torch.tensor([document.words for document in batch])
    labels = torch.tensor([int(document.meta['tags'][0]) for document in batch])
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(words), labels).backward()
    optimizer.step()
    if not truth.fixed:
        gc.collect()
    truth.iteration()
truth.enter('shutdown')
