"""Writes model and optimizer to disk every fifth step, and waits for it."""
# bench: advice=checkpoint-stall
import argparse
import os
import tempfile

import torch
from torch import nn

from truth import Truth


def save_checkpoint(path, step, state):
    with open(path, 'wb') as file:
        torch.save({'step': step, **state}, file)
        file.flush()
        os.fsync(file.fileno())


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--save-every', type=int, default=5)
    parser.add_argument('--steps', type=int, default=60)
    parser.add_argument('--fixed', action='store_true', help='save less often')
    return parser.parse_args()


def main():
    truth, args = Truth(__file__), get_args()
    torch.set_num_threads(1)
    model = nn.Sequential(nn.EmbeddingBag(200000, 64, sparse=True), nn.Linear(64, 64), nn.ReLU(),
                          nn.Linear(64, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    folder = tempfile.mkdtemp()
    save_every = args.save_every * (6 if args.fixed else 1)
    truth.enter('training')
    for step in range(1, args.steps + 1):
        loss = nn.functional.cross_entropy(model(torch.randint(200000, (256, 40))), torch.randint(5, (256,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
        if step % save_every == 0:
            truth.enter('checkpoint')
            path = os.path.join(folder, f'step{step % 2}.pt')
            save_checkpoint(path, step, {'model': model.state_dict(), 'optimizer': optimizer.state_dict()})
            truth.enter('training')
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
