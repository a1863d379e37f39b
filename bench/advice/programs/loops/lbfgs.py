"""Fits a network to a curve with LBFGS; a call of step() evaluates the closure several times."""
# bench: advice=none
import torch

from truth import Truth

truth = Truth(__file__)
torch.manual_seed(1)
torch.set_num_threads(1)
x = torch.linspace(-3, 3, 1000).unsqueeze(1)
y = torch.sin(3 * x) * torch.exp(-x * x / 4)
net = torch.nn.Sequential(torch.nn.Linear(1, 48), torch.nn.Tanh(), torch.nn.Linear(48, 48), torch.nn.Tanh(),
                          torch.nn.Linear(48, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=6, tolerance_grad=0, tolerance_change=0)


def closure():
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    return loss


truth.enter('training')
for i in range(30):
    loss = optimizer.step(closure)
    truth.iteration()
truth.enter('shutdown')
print('final loss', loss.item())
