# bench: advice=straggler
"""DDP on two processes with gloo. Each rank classifies point clouds of its own shard of the regions.

The shards: rank 0 has its copy on the local disk; rank 1 still reads from the archive, cloud by cloud.
"""
import os
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
from truth import Truth

STEPS, CLOUDS = 50, 8


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.point = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 64), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, clouds):
        # clouds of a batch differ in size: one long list and where each one begins
        points = torch.cat(clouds)
        owner = torch.repeat_interleave(torch.arange(len(clouds)), torch.tensor([len(c) for c in clouds]))
        feats = self.point(points)
        sums = torch.zeros(len(clouds), feats.shape[1]).index_add_(0, owner, feats)
        return self.head(sums / torch.bincount(owner).unsqueeze(1))


class Shard:
    """Clouds of different size with labels. The archive answers in ten milliseconds."""

    def __init__(self, rank, archived, n=64):
        g = torch.Generator().manual_seed(100 + rank)
        self.latency = 0.01 if archived else 0.0
        self.items = []
        for _ in range(n):
            label = int(torch.randint(0, 2, (1,), generator=g))
            cloud = torch.randn(int(torch.randint(100, 300, (1,), generator=g)), 3, generator=g)
            if label:
                cloud[:, 2] *= 0.4
            self.items.append((cloud, label))

    def read(self, index):
        if self.latency:
            time.sleep(self.latency)
        return self.items[index % len(self.items)]


def worker(rank, world_size, port):
    truth = Truth(__file__) if rank == 0 else None
    archived = rank == 1 and '--fixed' not in sys.argv
    os.environ['MASTER_ADDR'] = '127.0.0.1'
    os.environ['MASTER_PORT'] = str(port)
    dist.init_process_group('gloo', rank=rank, world_size=world_size)
    torch.manual_seed(0)
    torch.set_num_threads(1)

    shard = Shard(rank, archived)
    model = DDP(PointNet())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    if truth:
        truth.enter('training')
    for step in range(STEPS):
        batch = [shard.read(step * CLOUDS + k) for k in range(CLOUDS)]
        optimizer.zero_grad()
        loss = loss_fn(model([cloud for cloud, _ in batch]), torch.tensor([label for _, label in batch]))
        loss.backward()
        optimizer.step()
        if rank == 0:
            truth.iteration()
            if step % 10 == 0:
                print(f'step {step:3d} loss {loss.item():.4f}', flush=True)
    if truth:
        truth.enter('shutdown')
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


if __name__ == '__main__':
    mp.spawn(worker, args=(2, free_port()), nprocs=2)
