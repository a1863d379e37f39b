"""Validation after every epoch on a set four times as large as the training set's part of an epoch."""
# bench: advice=validation-cost
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
device = torch.device('cpu')


def train(model, loader, optimizer, loss_fn):
    model.train()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        truth.iteration()


def test(model, loader, loss_fn):
    model.eval()
    loss, correct = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            out = model(x)
            loss += loss_fn(out, y).item()
            correct += (out.argmax(1) == y).sum().item()
    print(f'test loss {loss / len(loader):.3f}, accuracy {correct / len(loader.dataset):.3f}')


model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 81, 10))
train_set = TensorDataset(torch.rand(480, 1, 20, 20), torch.randint(10, (480,)))
test_set = TensorDataset(torch.rand(6400, 1, 20, 20), torch.randint(10, (6400,)))
train_loader, test_loader = DataLoader(train_set, 32, shuffle=True), DataLoader(test_set, 32)
optimizer, loss_fn = torch.optim.Adadelta(model.parameters()), nn.CrossEntropyLoss()

for epoch in range(1, 7):
    truth.enter('training')
    train(model, train_loader, optimizer, loss_fn)
    if not truth.fixed or epoch % 6 == 0:
        truth.enter('validation')
        test(model, test_loader, loss_fn)
truth.enter('shutdown')
