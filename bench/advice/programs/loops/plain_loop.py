"""Supervised training of a small classifier, one loop over a DataLoader. Nothing in it wants changing."""
# bench: advice=none
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth

truth = Truth(__file__)
torch.manual_seed(0)
torch.set_num_threads(1)

features = torch.randn(2048, 256)
labels = torch.randint(0, 10, (2048,))
train_loader = DataLoader(TensorDataset(features, labels), batch_size=64, shuffle=True)

net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

truth.enter('training')
for epoch in range(3):
    running = 0.0
    for i, (x, y) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
        truth.iteration()
    print(f'[{epoch + 1}] loss: {running / (i + 1):.3f}')
truth.enter('shutdown')
