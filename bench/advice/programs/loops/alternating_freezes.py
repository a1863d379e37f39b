"""Two halves of a model trained in turn: batches of even number update one, those of odd number the other."""
# bench: advice=none
import torch
from torch import nn

from truth import Truth


def set_requires_grad(module, value):
    for parameter in module.parameters():
        parameter.requires_grad_(value)


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    encoder = nn.Sequential(nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 128))
    decoder = nn.Sequential(nn.Linear(128, 256), nn.GELU(), nn.Linear(256, 128))
    optimizers = {'encoder': torch.optim.AdamW(encoder.parameters(), lr=1e-3),
                  'decoder': torch.optim.AdamW(decoder.parameters(), lr=1e-3)}
    truth.enter('training')
    for step in range(80):
        active = 'encoder' if step % 2 == 0 else 'decoder'
        set_requires_grad(encoder, active == 'encoder')
        set_requires_grad(decoder, active == 'decoder')
        batch = torch.randn(48, 128)
        loss = nn.functional.mse_loss(decoder(encoder(batch)), batch)
        optimizers[active].zero_grad()
        loss.backward()
        optimizers[active].step()
        truth.iteration()
    truth.enter('shutdown')
    print(loss.item())


if __name__ == '__main__':
    main()
