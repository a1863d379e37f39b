# bench: advice=dataloader-restart
"""5-fold cross-validation of a residual MLP on a table of numbers."""
import os
import sys
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, Subset

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
from truth import Truth
truth = Truth(__file__)

CFG = dict(n_splits=5, epochs=7, batch_size=128, lr=3e-3, hidden=64, num_workers=2, seed=2023)


def seed_everything(seed):
    np.random.seed(seed)
    torch.manual_seed(seed)


class TableDataset(Dataset):
    def __init__(self, X, y):
        self.X, self.y = X, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return {'x': torch.tensor(self.X[idx], dtype=torch.float), 'y': torch.tensor(self.y[idx], dtype=torch.float)}


class ResBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.BatchNorm1d(d), nn.Linear(d, d), nn.PReLU(), nn.Dropout(0.1), nn.Linear(d, d))

    def forward(self, x):
        return x + self.net(x)


def get_model(n_in):
    return nn.Sequential(nn.Linear(n_in, CFG['hidden']), ResBlock(CFG['hidden']), ResBlock(CFG['hidden']),
                         nn.PReLU(), nn.Linear(CFG['hidden'], 1))


def kfold(n, k, seed):
    order = np.random.RandomState(seed).permutation(n)
    folds = np.array_split(order, k)
    for i in range(k):
        yield np.concatenate([f for j, f in enumerate(folds) if j != i]), folds[i]


def train_fn(model, loader, optimizer, loss_fn):
    model.train()
    total = 0
    for batch in loader:
        pred = model(batch['x']).squeeze(1)
        loss = loss_fn(pred, batch['y'])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        truth.iteration()
    return total / len(loader)


def valid_fn(model, loader):
    model.eval()
    preds = []
    with torch.no_grad():
        for batch in loader:
            preds.append(model(batch['x']).squeeze(1).numpy())
    return np.concatenate(preds)


seed_everything(CFG['seed'])
X = np.random.randn(800, 30)
y = np.sin(X[:, 0] * 2) + X[:, 1] * X[:, 2] + 0.5 * np.abs(X[:, 3]) + 0.1 * np.random.randn(len(X))
dataset = TableDataset(X, y)
oof = np.zeros(len(X))

for fold, (trn, val) in enumerate(kfold(len(X), CFG['n_splits'], CFG['seed'])):
    truth.enter('between')
    train_loader = DataLoader(Subset(dataset, trn.tolist()), CFG['batch_size'], shuffle=True,
                              num_workers=CFG['num_workers'], persistent_workers=truth.fixed)
    valid_loader = DataLoader(Subset(dataset, val.tolist()), CFG['batch_size'])
    model = get_model(X.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=CFG['lr'])
    loss_fn = nn.MSELoss()
    best = np.inf
    for epoch in range(CFG['epochs']):
        truth.enter('training')
        trn_loss = train_fn(model, train_loader, optimizer, loss_fn)
        truth.enter('validation')
        pred = valid_fn(model, valid_loader)
        truth.enter('between')
        score = float(np.sqrt(((pred - y[val]) ** 2).mean()))
        if score < best:
            best, oof[val] = score, pred
    print(f'fold {fold}: best rmse {best:.4f}, train loss {trn_loss:.4f}')
truth.enter('shutdown')
print('CV rmse %.4f' % np.sqrt(((oof - y) ** 2).mean()))
