"""Two ranks with gloo that average their gradients themselves, parameter by parameter, behind backward."""
# bench: advice=small-collectives
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from truth import Truth


def average_gradients(model, together):
    gradients = [parameter.grad for parameter in model.parameters()]
    if together:
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients])):
            gradient.copy_(part.view_as(gradient))
        return
    for gradient in gradients:
        dist.all_reduce(gradient)
        gradient /= dist.get_world_size()


def worker(rank, world_size, port, fixed):
    truth = Truth(__file__) if rank == 0 else None
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE=str(world_size), LOCAL_RANK=str(rank))
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world_size)
    torch.manual_seed(0)
    blocks = [part for _ in range(24) for part in (nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU())]
    model = nn.Sequential(*blocks, nn.Linear(64, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(32, 64), torch.randint(5, (32,))
    if truth:
        truth.enter('training')
    for _ in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        average_gradients(model, together=fixed)
        optimizer.step()
        if truth:
            truth.iteration()
    if truth:
        truth.enter('shutdown')
        truth.write()  # a spawned child leaves without atexit
    dist.destroy_process_group()


if __name__ == '__main__':
    mp.spawn(worker, args=(2, 20000 + os.getpid() % 20000, '--fixed' in sys.argv), nprocs=2)
