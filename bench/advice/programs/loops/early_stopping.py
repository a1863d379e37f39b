"""Epochs over shuffled arrays; the best model so far is kept on disk, and training stops when none is better."""
# bench: advice=none
import os
import tempfile

import numpy as np
import torch
from torch import nn

from truth import Truth


def batches(X, Y, size, rng):
    order = rng.permutation(len(X))
    for i in range(0, len(order) - size + 1, size):
        picked = order[i:i + size]
        yield torch.as_tensor(X[picked]), torch.as_tensor(Y[picked])


class Stopper:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float('inf'), 0

    def should_stop(self, value):
        self.bad = 0 if value < self.best else self.bad + 1
        self.best = min(self.best, value)
        return self.bad >= self.patience


def run():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 64)).astype('float32')
    Y = (X @ rng.normal(size=(64, 1)) + 0.3 * rng.normal(size=(3000, 1))).astype('float32')
    X_val, Y_val = torch.as_tensor(X[2400:]), torch.as_tensor(Y[2400:])
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    opt, criterion, stopper = torch.optim.Adam(net.parameters(), lr=2e-3), nn.MSELoss(), Stopper(3)
    best_path = os.path.join(tempfile.gettempdir(), 'best.pt')
    for epoch in range(10):
        truth.enter('training')
        net.train()
        for xb, yb in batches(X[:2400], Y[:2400], 150, rng):
            loss = criterion(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            truth.iteration()
        truth.enter('validation')
        net.eval()
        with torch.inference_mode():
            val_loss = criterion(net(X_val), Y_val).item()
        improved = val_loss < stopper.best
        if stopper.should_stop(val_loss):
            break
        if improved:
            truth.enter('checkpoint')
            torch.save(net.state_dict(), best_path)
    truth.enter('shutdown')


if __name__ == '__main__':
    run()
