#!/usr/bin/env python3
# bench: advice=validation-cost
"""Train a small CNN on the (synthetic) shapes data set.

usage: plateau_classifier.py [--epochs 16] [--lr 0.05] [--patience 6] [--logdir DIR]
"""
import argparse
import json
import os
import sys
import tempfile
import time
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
from truth import Truth

truth = Truth(__file__)


class ScalarWriter:
    """Poor man's SummaryWriter: one JSON line per scalar."""

    def __init__(self, logdir):
        os.makedirs(logdir, exist_ok=True)
        self.file = open(os.path.join(logdir, 'scalars.jsonl'), 'a')

    def add_scalar(self, tag, value, step):
        self.file.write(json.dumps({'tag': tag, 'value': float(value), 'step': step, 't': time.time()}) + '\n')

    def flush(self):
        self.file.flush()


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float('inf'), 0

    def should_stop(self, loss):
        if loss < self.best - 1e-4:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


class AverageMeter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.n += n

    @property
    def avg(self):
        return self.sum / max(self.n, 1)


def make_shapes(n, size, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 6, (n,), generator=g)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing='ij')
    angle = labels.view(-1, 1, 1).float() * 0.5236
    wave = torch.sin(6 * (xx * torch.cos(angle) + yy * torch.sin(angle)))
    images = wave.unsqueeze(1).repeat(1, 3, 1, 1)
    return images + 0.8 * torch.randn(images.shape, generator=g), labels


def build_model(width, num_classes=6):
    def block(cin, cout):
        return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout),
                             nn.ReLU(inplace=True), nn.MaxPool2d(2))
    return nn.Sequential(OrderedDict([
        ('b1', block(3, width)), ('b2', block(width, 2 * width)), ('b3', block(2 * width, 2 * width)),
        ('flat', nn.Flatten()), ('fc', nn.Linear(2 * width * 9, num_classes))]))


def train_one_epoch(model, loader, optimizer, writer, step):
    model.train()
    losses = AverageMeter()
    for images, target in loader:
        output = model(images)
        loss = F.cross_entropy(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), images.size(0))
        writer.add_scalar('train/loss', losses.avg, step)
        step += 1
        truth.iteration()
    return losses.avg, step


def evaluate(model, loader):
    model.eval()
    losses, acc = AverageMeter(), AverageMeter()
    for images, target in loader:
        output = model(images)
        losses.update(F.cross_entropy(output, target).item(), images.size(0))
        acc.update((output.argmax(1) == target).float().mean().item(), images.size(0))
    return losses.avg, acc.avg


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--epochs', type=int, default=16)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--lr', type=float, default=0.05)
    parser.add_argument('--patience', type=int, default=6)
    parser.add_argument('--width', type=int, default=12)
    parser.add_argument('--logdir', default=None)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--fixed', action='store_true')
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    train_set = TensorDataset(*make_shapes(640, 24, 10))
    val_set = TensorDataset(*make_shapes(480, 24, 11))
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, args.batch_size)
    writer = ScalarWriter(args.logdir or tempfile.mkdtemp(prefix='shapes-'))

    model = build_model(args.width)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = ReduceLROnPlateau(optimizer, factor=0.3, patience=2)
    stopper = EarlyStopping(args.patience)

    step = 0
    for epoch in range(args.epochs):
        truth.enter('training')
        train_loss, step = train_one_epoch(model, train_loader, optimizer, writer, step)

        truth.enter('validation')
        if truth.fixed:
            # the mean over the epoch is good enough for the training set, and nobody needs gradients here
            with torch.no_grad():
                val_loss, val_acc = evaluate(model, val_loader)
            train_acc = float('nan')
        else:
            _, train_acc = evaluate(model, train_loader)
            val_loss, val_acc = evaluate(model, val_loader)
        truth.enter('between')
        writer.add_scalar('train/acc', train_acc, epoch)
        writer.add_scalar('val/loss', val_loss, epoch)
        writer.add_scalar('val/acc', val_acc, epoch)
        writer.add_scalar('lr', optimizer.param_groups[0]['lr'], epoch)
        writer.flush()
        scheduler.step(val_loss)
        print(f'epoch {epoch:3d}  train {train_loss:.4f} ({train_acc:.3f})  val {val_loss:.4f} ({val_acc:.3f})')
        if stopper.should_stop(val_loss):
            print('early stop')
            break
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
