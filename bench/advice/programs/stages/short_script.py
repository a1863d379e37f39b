"""Five quick steps behind a long start: the vocabulary is counted anew in every run."""
# bench: advice=start-up|set-up-cost|preprocessing-cost gain=run
import collections
import os
import pickle
import random
import tempfile

import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
CACHE = os.path.join(tempfile.gettempdir(), 'bench_vocabulary.pkl')


def build_vocabulary():
    words = random.Random(0)
    counts = collections.Counter()
    for _ in range(250000):
        sentence = ' '.join(f'w{int(words.paretovariate(0.6)) % 9000}' for _ in range(12))
        counts.update(sentence.lower().split())
    return {word: index for index, (word, _) in enumerate(counts.most_common(4000))}


truth.enter('preprocessing')
if truth.fixed and os.path.exists(CACHE):
    with open(CACHE, 'rb') as file:
        vocabulary = pickle.load(file)
else:
    vocabulary = build_vocabulary()
    with open(CACHE, 'wb') as file:
        pickle.dump(vocabulary, file)

truth.enter('set-up')
model = nn.Sequential(nn.EmbeddingBag(len(vocabulary), 64), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters())
truth.enter('training')
for step in range(5):
    tokens = torch.randint(len(vocabulary), (128, 50))
    loss = nn.functional.cross_entropy(model(tokens), torch.randint(2, (128,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print('done', loss.item())
