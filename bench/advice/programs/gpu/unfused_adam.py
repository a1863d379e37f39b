"""Adam with foreach=False over a thousand small tensors on the GPU."""
# bench: advice=unfused-optimizer requires=cuda,torch>=2
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
model = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(200)]).cuda()
options = {'fused': True} if truth.fixed else {'foreach': False}
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, **options)
data = torch.randn(4096, 64, device='cuda')
truth.enter('training')
for i in range(100):
    batch = data[torch.randint(4096, (128,), device='cuda')]
    loss = (model(batch) - batch).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
torch.cuda.synchronize()
truth.enter('shutdown')
