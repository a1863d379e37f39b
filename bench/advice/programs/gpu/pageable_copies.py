"""Large batches of pictures are copied from pageable memory, and the loop waits for each."""
# bench: advice=pageable-copy|exposed-copies requires=cuda
import torch
from torch import nn

from truth import Truth


def batches(count, pinned):
    pool = [torch.randint(255, (256, 3, 224, 224), dtype=torch.uint8) for _ in range(4)]
    if pinned:
        pool = [batch.pin_memory() for batch in pool]
    for i in range(count):
        yield pool[i % 4]


def main():
    truth = Truth(__file__)
    model = nn.Sequential(nn.Conv2d(3, 32, 7, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 1000)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    target = torch.randint(1000, (256,), device='cuda')
    truth.enter('training')
    for images in batches(80, pinned=truth.fixed):
        images = images.cuda(non_blocking=truth.fixed)
        loss = nn.functional.cross_entropy(model(images.float() / 255), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    torch.cuda.synchronize()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
