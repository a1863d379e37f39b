"""Short reviews, every one of them padded to the longest text that the model could take."""
# bench: advice=padding-to-one-length
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from truth import Truth

LONGEST = 160


class Reviews(Dataset):
    def __init__(self, count):
        source = random.Random(7)
        lengths = [source.randrange(12, 40) for _ in range(count)]
        self.texts = [[source.randrange(1, 4000) for _ in range(length)] for length in lengths]
        self.stars = [source.randrange(5) for _ in range(count)]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return self.texts[i], self.stars[i]


class Collate:
    def __init__(self, to_longest):
        self.to_longest = to_longest

    def __call__(self, samples):
        longest = max(len(text) for text, _ in samples) if self.to_longest else LONGEST
        words = torch.zeros(len(samples), longest, dtype=torch.long)
        for row, (text, _) in enumerate(samples):
            words[row, :len(text)] = torch.tensor(text)
        return words, torch.tensor([stars for _, stars in samples])


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(4000, 96, padding_idx=0)
        layer = nn.TransformerEncoderLayer(96, 4, 192, dropout=0.0, batch_first=True)
        self.encoder, self.stars = nn.TransformerEncoder(layer, 2), nn.Linear(96, 5)

    def forward(self, words):
        mask = words == 0
        x = self.encoder(self.words(words), src_key_padding_mask=mask)
        return self.stars(x.masked_fill(mask[..., None], 0).sum(1))


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    loader = DataLoader(Reviews(480), batch_size=16, shuffle=True, collate_fn=Collate(to_longest=truth.fixed))
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    truth.enter('training')
    for words, stars in loader:
        loss = nn.functional.cross_entropy(model(words), stars)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
