"""Precision and recall are counted element by element in every step."""
# bench: advice=python-work
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
CLASSES = 6


class Confusion:
    def __init__(self):
        self.table = [[0] * CLASSES for _ in range(CLASSES)]

    def update(self, logits, target):
        for row, label in zip(logits.tolist(), target.tolist()):
            guess = max(range(CLASSES), key=lambda k: row[k])
            self.table[label][guess] += 1

    def update_at_once(self, logits, target):
        pairs = target * CLASSES + logits.argmax(1)
        for k, count in enumerate(torch.bincount(pairs, minlength=CLASSES * CLASSES).tolist()):
            self.table[k // CLASSES][k % CLASSES] += count

    def recall(self, k):
        return self.table[k][k] / max(1, sum(self.table[k]))


net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, CLASSES, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
confusion = Confusion()
truth.enter('training')
for step in range(80):
    image, mask = torch.rand(4, 1, 40, 40), torch.randint(CLASSES, (4, 40, 40))
    logits = net(image)
    loss = nn.functional.cross_entropy(logits, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    flat = logits.detach().permute(0, 2, 3, 1).reshape(-1, CLASSES)
    (confusion.update_at_once if truth.fixed else confusion.update)(flat, mask.flatten())
    truth.iteration()
truth.enter('shutdown')
print([round(confusion.recall(k), 3) for k in range(CLASSES)])
