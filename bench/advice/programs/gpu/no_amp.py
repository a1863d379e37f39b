"""A Transformer in TF32 that could run in bfloat16."""
# bench: advice=amp-off requires=cuda,torch>=2
import contextlib

import torch
from torch import nn

from truth import Truth


class Encoder(nn.Module):
    def __init__(self, width=1024, layers=8):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 16, 4 * width, batch_first=True, norm_first=True,
                                           dropout=0.0)
        self.layers = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, 4096)

    def forward(self, x):
        return self.head(self.layers(x))


def main():
    truth = Truth(__file__)
    torch.set_float32_matmul_precision('high')
    model = Encoder().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x, y = torch.randn(16, 512, 1024, device='cuda'), torch.randint(4096, (16, 512), device='cuda')
    truth.enter('training')
    for _ in range(50):
        with torch.autocast('cuda', torch.bfloat16) if truth.fixed else contextlib.nullcontext():
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
    torch.cuda.synchronize()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
