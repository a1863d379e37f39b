"""Adam as the paper writes it, tensor by tensor, for a net of many small layers."""
# bench: advice=update-by-hand
import torch
from torch import nn

from truth import Truth


class Adam:
    def __init__(self, parameters, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        self.parameters, self.lr, self.betas, self.eps, self.t = list(parameters), lr, (beta1, beta2), eps, 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def update(self):
        self.t += 1
        b1, b2 = self.betas
        for p, m, v in zip(self.parameters, self.m, self.v):
            m.mul_(b1).add_(p.grad, alpha=1 - b1)
            v.mul_(b2).addcmul_(p.grad, p.grad, value=1 - b2)
            m_hat, v_hat = m / (1 - b1 ** self.t), v / (1 - b2 ** self.t)
            p.sub_(self.lr * m_hat / (v_hat.sqrt() + self.eps))
            p.grad = None


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    layers = [layer for _ in range(40) for layer in (nn.Linear(48, 48), nn.LayerNorm(48), nn.SiLU())]
    net = nn.Sequential(*layers, nn.Linear(48, 3))
    ours = Adam(net.parameters())
    theirs = torch.optim.Adam(net.parameters(), fused=True) if truth.fixed else None
    x, y = torch.randn(64, 48), torch.randn(64, 3)
    truth.enter('training')
    for _ in range(60):
        nn.functional.mse_loss(net(x), y).backward()
        if theirs:
            theirs.step()
            theirs.zero_grad()
        else:
            ours.update()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
