"""A convolutional network in bfloat16 whose tensors are laid out NCHW."""
# bench: advice=channels-last requires=cuda
import torch
from torch import nn

from truth import Truth


def conv(inputs, outputs, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs),
                         nn.ReLU(True))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(conv(width, width), conv(width, width))

    def forward(self, x):
        return x + self.body(x)


def build():
    stages = [conv(3, 64, 2)]
    for width in (64, 128, 256):
        stages += [conv(width, 2 * width, 2), Block(2 * width), Block(2 * width)]
    return nn.Sequential(*stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def main():
    truth = Truth(__file__)
    torch.backends.cudnn.benchmark = True
    layout = torch.channels_last if truth.fixed else torch.contiguous_format
    model = build().cuda().to(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    images = torch.randn(128, 3, 224, 224, device='cuda').to(memory_format=layout)
    labels = torch.randint(1000, (128,), device='cuda')
    truth.enter('training')
    for _ in range(60):
        with torch.autocast('cuda', dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    torch.cuda.synchronize()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
