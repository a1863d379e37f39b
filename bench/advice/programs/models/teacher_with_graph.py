"""Distillation: the teacher is a part of the model, and autograd follows it."""
# bench: advice=unused-gradients
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


def net(width):
    return nn.Sequential(nn.Linear(80, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 12))


class Distiller(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher, self.student = net(512), net(128)

    def forward(self, x):
        soft = self.teacher(x).softmax(-1)
        return nn.functional.kl_div(self.student(x).log_softmax(-1), soft, reduction='batchmean')


model = Distiller()
if truth.fixed:
    model.teacher.requires_grad_(False)
optimizer = torch.optim.SGD(model.student.parameters(), lr=0.05)
inputs = torch.randn(80, 256, 80)
truth.enter('training')
for batch in inputs:
    optimizer.zero_grad()
    loss = model(batch)
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
