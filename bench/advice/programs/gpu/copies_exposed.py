"""Pinned batches, but copied on the stream that computes, so that nothing hides the copies."""
# bench: advice=exposed-copies|repeated-copies fix=exposed-copies requires=cuda
import torch
from torch import nn

from truth import Truth


class Prefetcher:
    """Copies the next batch on a stream of its own."""

    def __init__(self, batches):
        self.batches, self.stream, self.next = iter(batches), torch.cuda.Stream(), None
        self.load()

    def load(self):
        batch = next(self.batches, None)
        with torch.cuda.stream(self.stream):
            self.next = None if batch is None else batch.cuda(non_blocking=True)

    def __iter__(self):
        while self.next is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.next
            batch.record_stream(torch.cuda.current_stream())
            self.load()
            yield batch


def main():
    truth = Truth(__file__)
    torch.backends.cuda.matmul.allow_tf32 = True
    pool = [torch.randn(16384, 1024).pin_memory() for _ in range(3)]
    host = (pool[i % 3] for i in range(100))
    batches = Prefetcher(host) if truth.fixed else (batch.cuda(non_blocking=True) for batch in host)
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    truth.enter('training')
    for batch in batches:
        with torch.autocast('cuda', dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(batch).float(), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    torch.cuda.synchronize()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
