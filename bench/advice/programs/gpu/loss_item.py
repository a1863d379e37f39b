"""A small Transformer; loss and accuracy are fetched from the GPU in every step, in the middle of it."""
# bench: advice=host-sync|launch-bound fix=host-sync requires=cuda,torch>=2
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
device = 'cuda'
layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.0)
model = nn.Sequential(nn.TransformerEncoder(layer, 6), nn.Linear(512, 100)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
x, y = torch.randn(16, 128, 512, device=device), torch.randint(100, (16, 128), device=device)
losses, accuracies = [], []
truth.enter('training')
for step in range(150):
    with torch.autocast(device, dtype=torch.bfloat16):
        logits = model(x)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
    correct = (logits.argmax(-1) == y).float().mean()
    losses.append(loss.detach() if truth.fixed else loss.item())
    accuracies.append(correct if truth.fixed else correct.item())
    optimizer.zero_grad()
    loss.backward()
    if not truth.fixed:
        for p in model.parameters():
            if torch.isnan(p.grad).any():
                raise SystemExit('NaN')
    optimizer.step()
    truth.iteration()
torch.cuda.synchronize()
truth.enter('shutdown')
