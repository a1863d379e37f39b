"""Two ranks with gloo whose parameters are sharded by FSDP, block by block; nothing is wrong."""
# bench: advice=none requires=torch>=2.6
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from truth import Truth


class Encoder(nn.Module):
    def __init__(self, width=192, depth=3):
        super().__init__()
        self.words = nn.Embedding(1000, width)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
                                    for _ in range(depth))
        self.head = nn.Linear(width, 1000)

    def forward(self, words):
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def worker(rank, world_size, port):
    truth = Truth(__file__) if rank == 0 else None
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE=str(world_size), LOCAL_RANK=str(rank))
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world_size)
    mesh = init_device_mesh('cpu', (world_size,))
    model = Encoder()
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    words = torch.randint(1000, (16, 8, 48))
    if truth:
        truth.enter('training')
    for batch in words:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(batch).flatten(0, 1), batch.roll(-1, 1).flatten()).backward()
        optimizer.step()
        if truth:
            truth.iteration()
    if truth:
        truth.enter('shutdown')
        truth.write()  # a spawned child leaves without atexit
    dist.destroy_process_group()


if __name__ == '__main__':
    mp.spawn(worker, args=(2, 20000 + os.getpid() % 20000), nprocs=2)
