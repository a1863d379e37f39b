"""First-order meta learning: an inner SGD is made for each task; an iteration is one outer update over four tasks."""
# bench: advice=none
import copy

import torch
import torch.nn.functional as F

from truth import Truth


def sample_task():
    amplitude, phase = 0.1 + 4.9 * torch.rand(1), 3.14 * torch.rand(1)
    x = 10 * torch.rand(80, 1) - 5
    y = amplitude * torch.sin(x + phase)
    return (x[:40], y[:40]), (x[40:], y[40:])


def adapt(meta, support, steps=3, lr=0.01):
    learner = copy.deepcopy(meta)
    inner = torch.optim.SGD(learner.parameters(), lr=lr)
    for _ in range(steps):
        loss = F.mse_loss(learner(support[0]), support[1])
        inner.zero_grad()
        loss.backward()
        inner.step()
    return learner


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    meta = torch.nn.Sequential(torch.nn.Linear(1, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128),
                               torch.nn.ReLU(), torch.nn.Linear(128, 1))
    outer = torch.optim.Adam(meta.parameters(), lr=1e-3)
    truth.enter('training')
    for iteration in range(40):
        outer.zero_grad()
        for _ in range(4):
            support, query = sample_task()
            learner = adapt(meta, support)
            loss = F.mse_loss(learner(query[0]), query[1])
            gradients = torch.autograd.grad(loss, list(learner.parameters()))
            for parameter, gradient in zip(meta.parameters(), gradients):
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
        outer.step()
        truth.iteration()
    truth.enter('shutdown')


main()
