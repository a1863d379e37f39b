"""A convolutional classifier that prints the accuracy of every batch, from a forward of its own."""
# bench: advice=unused-forward
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(32 * 8 * 8, 10)

    def forward(self, pictures):
        return self.head(self.features(pictures).flatten(1))


pictures = DataLoader(TensorDataset(torch.randn(1200, 3, 32, 32), torch.randint(10, (1200,))), batch_size=40,
                      shuffle=True)
model = Classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, foreach=True)

truth.enter('training')
for epoch in range(3):
    right = 0
    for batch, labels in pictures:
        outputs = model(batch)
        loss = F.cross_entropy(outputs, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        predicted = outputs.detach() if truth.fixed else model(batch)
        right += (predicted.argmax(1) == labels).sum().item()
        truth.iteration()
    print(f'epoch {epoch}: accuracy {right / 1200:.2%}')
truth.enter('shutdown')
