# bench: advice=none
"""
PINN for the 1-d viscous Burgers equation  u_t + u u_x = nu u_xx,  x in [-1, 1], t in [0, 1].
Full-batch L-BFGS, as in the paper.
"""
import os
import sys
import numpy as np
import torch
from torch.autograd import grad

sys.path.insert(0, os.path.abspath(os.path.join(__file__, '..', '..', '..')))
from truth import Truth
truth = Truth(__file__)

torch.set_default_dtype(torch.float64)
torch.manual_seed(1234)
np.random.seed(1234)
NU = 0.01 / np.pi


class MLP(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.linears = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(layers[:-1], layers[1:]))
        for m in self.linears:
            torch.nn.init.xavier_normal_(m.weight)
            torch.nn.init.zeros_(m.bias)

    def forward(self, x, t):
        h = torch.cat([x, t], dim=1)
        for m in self.linears[:-1]:
            h = torch.tanh(m(h))
        return self.linears[-1](h)


class PhysicsInformed:
    def __init__(self, n_u=80, n_f=500, layers=(2, 20, 20, 20, 1)):
        self.net = MLP(layers)
        self.x_f = torch.tensor(np.random.uniform(-1, 1, (n_f, 1)), requires_grad=True)
        self.t_f = torch.tensor(np.random.uniform(0, 1, (n_f, 1)), requires_grad=True)
        # initial and boundary points
        x0 = np.random.uniform(-1, 1, (n_u // 2, 1))
        xb = np.random.choice([-1.0, 1.0], (n_u // 2, 1))
        tb = np.random.uniform(0, 1, (n_u // 2, 1))
        self.x_u = torch.tensor(np.vstack([x0, xb]))
        self.t_u = torch.tensor(np.vstack([np.zeros_like(x0), tb]))
        self.u = torch.tensor(np.vstack([-np.sin(np.pi * x0), np.zeros_like(xb)]))
        self.optimizer = torch.optim.LBFGS(self.net.parameters(), lr=1.0, max_iter=8, history_size=30,
                                           tolerance_grad=1e-9, tolerance_change=1e-12,
                                           line_search_fn='strong_wolfe')
        self.evaluations = 0
        self.last = float('nan')

    def residual(self):
        u = self.net(self.x_f, self.t_f)
        ones = torch.ones_like(u)
        u_t, u_x = grad(u, (self.t_f, self.x_f), ones, create_graph=True)
        u_xx, = grad(u_x, self.x_f, ones, create_graph=True)
        return u_t + u * u_x - NU * u_xx

    def closure(self):
        self.optimizer.zero_grad()
        mse_u = ((self.net(self.x_u, self.t_u) - self.u) ** 2).mean()
        mse_f = (self.residual() ** 2).mean()
        loss = mse_u + mse_f
        loss.backward()
        self.evaluations += 1
        self.last = loss.item()
        return loss

    def train(self, n_iter):
        self.net.train()
        for it in range(n_iter):
            self.optimizer.step(self.closure)
            if it % 5 == 0:
                print(f'It: {it:3d}, evaluations: {self.evaluations:4d}, loss: {self.last:.4e}')
            truth.iteration()


model = PhysicsInformed()
truth.enter('training')
model.train(34)
truth.enter('shutdown')
