"""The whole step captured once and replayed; nothing is left to gain from launches."""
# bench: advice=none requires=cuda
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.backends.cuda.matmul.allow_tf32 = True
model = nn.Sequential(nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(),
                      nn.Linear(2048, 64)).cuda().bfloat16()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, capturable=True)
static_x = torch.randn(8192, 1024, device='cuda', dtype=torch.bfloat16)
static_y = torch.randint(64, (8192,), device='cuda')


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(static_x).float(), static_y)
    loss.backward()
    optimizer.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    static_loss = step()

truth.enter('training')
for i in range(200):
    static_x.normal_()
    graph.replay()
    truth.iteration()
torch.cuda.synchronize()
truth.enter('shutdown')
print(static_loss.item())
