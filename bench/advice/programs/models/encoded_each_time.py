"""A decoder asks for the encoding of the same document at each of its steps."""
# bench: advice=repeated-forward
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(96, 192), nn.ReLU(), nn.Linear(192, 96))
        self.cell = nn.GRUCell(96, 96)
        self.head = nn.Linear(96, 40)

    def forward(self, document, steps=5):
        state = document.new_zeros(document.shape[0], 96)
        encoded = self.encoder(document) if truth.fixed else None
        scores = []
        for _ in range(steps):
            memory = encoded if truth.fixed else self.encoder(document)
            weights = (memory @ state[:, :, None]).softmax(1)
            state = self.cell((weights * memory).sum(1), state)
            scores.append(self.head(state))
        return torch.stack(scores, 1)


model = Reader()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
documents, answers = torch.randn(50, 8, 100, 96), torch.randint(40, (50, 8, 5))
truth.enter('training')
for document, answer in zip(documents, answers):
    loss = nn.functional.cross_entropy(model(document).flatten(0, 1), answer.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
