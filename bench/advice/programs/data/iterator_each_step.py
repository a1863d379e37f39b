"""Each step takes its batch with next(iter(loader)), which shuffles all of the data first."""
# bench: advice=loader-iterators
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
data = TensorDataset(torch.randn(150_000, 20), torch.randint(4, (150_000,)))
loader = DataLoader(data, batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
batches = iter(loader)
truth.enter('training')
for _ in range(100):
    x, y = next(batches) if truth.fixed else next(iter(loader))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
