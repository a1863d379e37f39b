"""Click prediction with an embedding of 200,000 rows, of which a batch uses a few hundred; Adam updates them all."""
# bench: advice=dense-embedding-gradients
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
items = nn.Embedding(200_000, 16, sparse=truth.fixed)
top = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
if truth.fixed:
    optimizers = [torch.optim.SparseAdam(items.parameters()), torch.optim.Adam(top.parameters())]
else:
    optimizers = [torch.optim.Adam([*items.parameters(), *top.parameters()])]
seen, clicked = torch.randint(200_000, (60, 128, 4)), torch.randint(2, (60, 128)).float()
truth.enter('training')
for ids, clicks in zip(seen, clicked):
    loss = nn.functional.binary_cross_entropy_with_logits(top(items(ids).flatten(1))[:, 0], clicks)
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
