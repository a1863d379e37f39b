# bench: advice=too-many-threads
from __future__ import print_function
import argparse
import os
import sys

import torch
from torch import nn, optim
from torch.nn import functional as F

sys.path.insert(0, os.path.normpath(os.path.dirname(os.path.abspath(__file__)) + '/../..'))
from truth import Truth

parser = argparse.ArgumentParser(description='VAE')
parser.add_argument('--batch-size', type=int, default=64, metavar='N')
parser.add_argument('--epochs', type=int, default=3, metavar='N')
parser.add_argument('--threads', type=int, default=8, help='cores per node of the cluster')
parser.add_argument('--log-interval', type=int, default=10, metavar='N')
args, _ = parser.parse_known_args()

truth = Truth(__file__)
torch.manual_seed(1)
if not truth.fixed:
    torch.set_num_threads(args.threads)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.SiLU(),
                                 nn.Flatten())
        self.mu, self.logvar = nn.Linear(784, 16), nn.Linear(784, 16)
        self.up = nn.Linear(16, 784)
        self.dec = nn.Sequential(nn.SiLU(), nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.SiLU(),
                                 nn.ConvTranspose2d(8, 1, 4, 2, 1))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = self.reparameterize(mu, logvar)
        return torch.sigmoid(self.dec(self.up(z).view(-1, 16, 7, 7))), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x, reduction='sum')
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def strokes(n):
    t = torch.linspace(0, 6.28, 40)
    a, b, ph = torch.rand(n, 1) * 9 + 2, torch.rand(n, 1) * 9 + 2, torch.rand(n, 1) * 6.28
    x = (14 + a * torch.cos(t + ph)).long().clamp(0, 27)
    y = (14 + b * torch.sin(2 * t)).long().clamp(0, 27)
    img = torch.zeros(n, 784).scatter_(1, y * 28 + x, 1.0)
    return img.view(n, 1, 28, 28)


train_loader = torch.utils.data.DataLoader(strokes(1280), batch_size=args.batch_size, shuffle=True)
test_loader = torch.utils.data.DataLoader(strokes(256), batch_size=args.batch_size)
model = VAE()
optimizer = optim.Adam(model.parameters(), lr=1e-3)


def train(epoch):
    model.train()
    train_loss = 0
    for batch_idx, data in enumerate(train_loader):
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print('Train Epoch: {} [{}/{}]\tLoss: {:.4f}'.format(
                epoch, batch_idx * len(data), len(train_loader.dataset), loss.item() / len(data)))
        truth.iteration()
    print('====> Epoch: {} Average loss: {:.4f}'.format(epoch, train_loss / len(train_loader.dataset)))


def test(epoch):
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for data in test_loader:
            recon_batch, mu, logvar = model(data)
            test_loss += loss_function(recon_batch, data, mu, logvar).item()
    print('====> Test set loss: {:.4f}'.format(test_loss / len(test_loader.dataset)))


if __name__ == "__main__":
    for epoch in range(1, args.epochs + 1):
        truth.enter('training')
        train(epoch)
        truth.enter('validation')
        test(epoch)
    truth.enter('shutdown')
