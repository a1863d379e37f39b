"""Masked tokens are to be guessed: scores over the vocabulary for every position, a target for each seventh."""
# bench: advice=ignored-targets
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
WORDS, WIDTH = 4000, 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.mixer = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, ids, targets):
        x = self.mixer(self.words(ids))[0]
        if truth.fixed:
            chosen = targets != -100
            return nn.functional.cross_entropy(self.head(x[chosen]), targets[chosen])
        return nn.functional.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())


ids = torch.randint(WORDS, (320, 64))
targets = torch.where(torch.rand(ids.shape) < 0.15, ids, torch.tensor(-100))
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
truth.enter('training')
for batch, wanted in DataLoader(TensorDataset(ids, targets), batch_size=8):
    loss = model(batch, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
