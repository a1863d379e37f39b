"""Two ranks with gloo have half of the layers each; a batch goes through as one piece, so one of them always waits."""
# bench: advice=pipeline-bubble
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from truth import Truth

BATCH, WIDTH = 256, 512


def half(last):
    layers = [layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
    return nn.Sequential(*layers, *([nn.Linear(WIDTH, 10)] if last else []))


def front(model, x):
    """Forward of all pieces, then their backward as gradients come back."""
    outs = []
    for piece in x:
        outs.append(model(piece))
        dist.send(outs[-1].detach(), 1)
    for out in outs:
        gradient = torch.empty_like(out)
        dist.recv(gradient, 1)
        out.backward(gradient)


def back(model, y):
    under_way = []
    for piece in y:
        x = torch.empty(len(piece), WIDTH)
        dist.recv(x, 0)
        x.requires_grad_()
        (nn.functional.cross_entropy(model(x), piece) / len(y)).backward()
        under_way.append(dist.isend(x.grad, 0))
    for gradient in under_way:
        gradient.wait()


def worker(rank, world_size, port, fixed):
    truth = Truth(__file__) if rank == 0 else None
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE=str(world_size), LOCAL_RANK=str(rank))
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world_size)
    pieces = 8 if fixed else 1
    model = half(last=rank == 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(BATCH, WIDTH).chunk(pieces), torch.randint(10, (BATCH,)).chunk(pieces)
    if truth:
        truth.enter('training')
    for _ in range(30):
        optimizer.zero_grad()
        front(model, x) if rank == 0 else back(model, y)
        optimizer.step()
        if truth:
            truth.iteration()
    if truth:
        truth.enter('shutdown')
        truth.write()  # a spawned child leaves without atexit
    dist.destroy_process_group()


if __name__ == '__main__':
    mp.spawn(worker, args=(2, 20000 + os.getpid() % 20000, '--fixed' in sys.argv), nprocs=2)
