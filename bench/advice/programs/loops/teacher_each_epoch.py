"""A small net learns a large one's answers, which are computed again for the same samples in each epoch."""
# bench: advice=frozen-forward
import torch
import torch.nn.functional as F
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
SAMPLES, BATCH = 1024, 64


def tower(width, depth):
    layers = [nn.Linear(96, width), nn.ReLU()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 30))


teacher, student = tower(640, 3).eval(), tower(96, 1)
samples = torch.randn(SAMPLES, 96)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
answers = {}


@torch.no_grad()
def teach(number, batch):
    if truth.fixed and number in answers:
        return answers[number]
    answers[number] = F.softmax(teacher(batch) / 3, dim=1)
    return answers[number]


truth.enter('training')
for epoch in range(6):
    for number in range(SAMPLES // BATCH):
        batch = samples[number * BATCH:number * BATCH + BATCH]
        loss = F.kl_div(F.log_softmax(student(batch) / 3, dim=1), teach(number, batch), reduction='batchmean')
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth.iteration()
truth.enter('shutdown')
