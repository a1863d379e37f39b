"""An LSTM over sentences of very different length, padded to the longest of the batch."""
# bench: advice=padding
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from truth import Truth


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(500, 24, padding_idx=0)
        self.lstm = nn.LSTM(24, 32, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, 12)

    def forward(self, tokens):
        return self.out(self.lstm(self.embedding(tokens))[0])


def make_sentences(n):
    source = random.Random(5)
    lengths = [min(80, int(source.paretovariate(1.1) * 6)) for _ in range(n)]
    return [torch.randint(1, 500, (length,)) for length in lengths]


def batches(sentences, size, by_length):
    order = list(range(len(sentences)))
    random.Random(6).shuffle(order)
    if by_length:
        order.sort(key=lambda i: len(sentences[i]))
    chunks = [order[i:i + size] for i in range(0, len(order), size)]
    random.Random(7).shuffle(chunks)
    for chunk in chunks:
        yield pad_sequence([sentences[i] for i in chunk], batch_first=True)


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    model, sentences = Tagger(), make_sentences(640)
    optimizer = torch.optim.Adam(model.parameters())
    truth.enter('training')
    for tokens in batches(sentences, 16, by_length=truth.fixed):
        optimizer.zero_grad()
        scores = model(tokens)
        nn.functional.cross_entropy(scores.flatten(0, 1), tokens.flatten() % 12).backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
