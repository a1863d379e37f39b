"""Text becomes tokens inside the step, in Python, the same sentences in every epoch."""
# bench: advice=python-work
import random
import re

import torch
from torch import nn

from truth import Truth

WORD = re.compile(r'\w+|[^\w\s]')


def tokenize(text, vocabulary, length=64):
    pieces = []
    for word in WORD.findall(text.lower()):
        while word:  # longest match, as word pieces are found
            for end in range(len(word), 0, -1):
                if word[:end] in vocabulary or end == 1:
                    pieces.append(vocabulary.get(word[:end], 1))
                    word = word[end:]
                    break
    return (pieces + [0] * length)[:length]


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    source = random.Random(11)
    letters = 'abcdefgh'
    texts = [' '.join(''.join(source.choice(letters) for _ in range(source.randrange(3, 11)))
                      for _ in range(40)) for _ in range(256)]
    vocabulary = {a + b: 2 + i for i, (a, b) in enumerate((a, b) for a in letters for b in letters)}
    known = {text: tokenize(text, vocabulary) for text in texts} if truth.fixed else None

    model = nn.Sequential(nn.EmbeddingBag(100, 32), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters())
    truth.enter('training')
    for step in range(90):
        batch = [texts[(step * 64 + i) % len(texts)] for i in range(64)]
        rows = [known[text] if known else tokenize(text, vocabulary) for text in batch]
        loss = nn.functional.cross_entropy(model(torch.tensor(rows)), torch.randint(2, (64,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
