"""Two ranks with gloo; the second reads its data from a slower place, and the first waits for it."""
# bench: advice=straggler
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from truth import Truth


def read_batch(rank, slow):
    time.sleep(0.025 if rank == 1 and slow else 0.002)
    return torch.randn(16, 32), torch.randint(4, (16,))


def worker(rank, world_size, port, fixed):
    truth = Truth(__file__) if rank == 0 else None
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE=str(world_size), LOCAL_RANK=str(rank))
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world_size)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    if truth:
        truth.enter('training')
    for _ in range(60):
        x, y = read_batch(rank, slow=not fixed)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if truth:
            truth.iteration()
    if truth:
        truth.enter('shutdown')
        truth.write()  # a spawned child leaves without atexit
    dist.destroy_process_group()


if __name__ == '__main__':
    import sys
    mp.spawn(worker, args=(2, 20000 + os.getpid() % 20000, '--fixed' in sys.argv), nprocs=2)
