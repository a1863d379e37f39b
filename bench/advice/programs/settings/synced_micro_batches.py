"""Two ranks with gloo sum up four micro-batches, and exchange their gradients in each of them."""
# bench: advice=sync-each-micro-batch
import contextlib
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from truth import Truth

MICRO = 4


def worker(rank, world_size, port, fixed):
    truth = Truth(__file__) if rank == 0 else None
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE=str(world_size), LOCAL_RANK=str(rank))
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world_size)
    net = nn.Sequential(nn.Linear(256, 1200), nn.ReLU(), nn.Linear(1200, 1200), nn.ReLU(), nn.Linear(1200, 10))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = torch.randn(MICRO, 16, 256), torch.randint(10, (MICRO, 16))
    if truth:
        truth.enter('training')
    for _ in range(25):
        optimizer.zero_grad()
        for i in range(MICRO):
            skip = fixed and i + 1 < MICRO
            with model.no_sync() if skip else contextlib.nullcontext():
                (nn.functional.cross_entropy(model(x[i]), y[i]) / MICRO).backward()
        optimizer.step()
        if truth:
            truth.iteration()
    if truth:
        truth.enter('shutdown')
        truth.write()  # a spawned child leaves without atexit
    dist.destroy_process_group()


if __name__ == '__main__':
    mp.spawn(worker, args=(2, 20000 + os.getpid() % 20000, '--fixed' in sys.argv), nprocs=2)
