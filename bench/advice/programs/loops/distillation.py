"""A student learns from a frozen teacher in eval mode; accuracy is measured after each epoch."""
# bench: advice=none
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
T, ALPHA = 4.0, 0.7


def mlp(width):
    return nn.Sequential(nn.Linear(128, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, 20))


teacher, student = mlp(512).eval(), mlp(128)
for parameter in teacher.parameters():
    parameter.requires_grad = False
train_set, test_set = random_split(TensorDataset(torch.randn(2600, 128), torch.randint(20, (2600,))), [2200, 400])
train_loader = DataLoader(train_set, batch_size=100, shuffle=True)
test_loader = DataLoader(test_set, batch_size=200)
optimizer = torch.optim.SGD(student.parameters(), lr=0.01, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)

for epoch in range(4):
    truth.enter('training')
    student.train()
    for features, labels in train_loader:
        with torch.no_grad():
            soft = F.softmax(teacher(features) / T, dim=1)
        logits = student(features)
        kd = F.kl_div(F.log_softmax(logits / T, dim=1), soft, reduction='batchmean') * T * T
        loss = ALPHA * kd + (1 - ALPHA) * F.cross_entropy(logits, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        truth.iteration()
    scheduler.step()
    truth.enter('validation')
    student.eval()
    hits = 0
    with torch.no_grad():
        for features, labels in test_loader:
            hits += (student(features).argmax(1) == labels).sum().item()
    print(f'epoch {epoch}: {hits / len(test_set):.2%}')
truth.enter('shutdown')
