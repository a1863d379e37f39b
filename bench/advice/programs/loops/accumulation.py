"""Gradient accumulation: eight micro batches an update; the author counts updates."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth

ACCUMULATE = 8


class Classifier(nn.Module):
    def __init__(self, vocabulary=2000, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.mix = nn.TransformerEncoderLayer(width, 4, 96, batch_first=True, dropout=0.0)
        self.out = nn.Linear(width, 5)

    def forward(self, tokens):
        return self.out(self.mix(self.embed(tokens)).mean(1))


def train(truth, model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    truth.enter('training')
    for _ in range(epochs):
        for micro, (tokens, labels) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(tokens), labels) / ACCUMULATE
            loss.backward()
            if (micro + 1) % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
                truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    clock = Truth(__file__)
    torch.set_num_threads(1)
    data = TensorDataset(torch.randint(2000, (960, 16)), torch.randint(5, (960,)))
    train(clock, Classifier(), DataLoader(data, batch_size=4), epochs=1)
