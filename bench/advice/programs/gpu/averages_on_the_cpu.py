"""Averages of the weights are kept on the CPU, to spare the GPU's memory, and updated in every step."""
# bench: advice=gpu-held-back requires=cuda,torch>=2
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
device = 'cuda'


class Average:
    def __init__(self, model, where):
        self.where = where
        self.kept = [p.detach().clone().to(where) for p in model.parameters()]

    @torch.no_grad()
    def update(self, model, decay=0.999):
        if truth.fixed:
            torch._foreach_lerp_(self.kept, list(model.parameters()), 1 - decay)
            return
        for kept, p in zip(self.kept, model.parameters()):
            kept.mul_(decay).add_(p.detach().to(self.where), alpha=1 - decay)


layer = nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True, dropout=0.0)
model = nn.Sequential(nn.TransformerEncoder(layer, 8), nn.Linear(768, 100)).to(device)
average = Average(model, device if truth.fixed else 'cpu')
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x, y = torch.randn(32, 256, 768, device=device), torch.randint(100, (32, 256), device=device)
truth.enter('training')
for step in range(80):
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
    truth.iteration()
torch.cuda.synchronize()
truth.enter('shutdown')
print(loss.item())
