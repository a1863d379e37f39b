"""After each epoch the history is written as a picture, point by point, and as a table."""
# bench: advice=python-work|between-epochs
import json
import os
import tempfile

import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
out_dir = tempfile.mkdtemp()
model = nn.Sequential(nn.Linear(64, 96), nn.SiLU(), nn.Linear(96, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
X = torch.randn(3000, 64)
Y = X.pow(2).sum(1, keepdim=True).sqrt()
history = []


def draw(points, path, size=(640, 360)):
    """A scatter plot as an SVG file."""
    low, high = min(b for _, b in points), max(b for _, b in points) + 1e-9
    parts = []
    for a, b in points:
        cx = a / len(points) * size[0]
        cy = size[1] - (b - low) / (high - low) * size[1]
        parts.append(f'<circle cx="{cx:.2f}" cy="{cy:.2f}" r="1.5" fill="rgb({int(cy) % 255},60,90)"/>')
    with open(path, 'w') as file:
        file.write('<svg>' + '\n'.join(parts) + '</svg>')


for epoch in range(8):
    truth.enter('training')
    for start in range(0, 3000, 200):
        xb, yb = X[start:start + 200], Y[start:start + 200]
        loss = nn.functional.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss.item())
        truth.iteration()
    if not truth.fixed or epoch == 7:
        truth.enter('between')
        with torch.no_grad():
            predicted = model(X).squeeze(1).tolist()
        for repeat in range(30):
            draw(list(enumerate(predicted)), os.path.join(out_dir, f'epoch{epoch}-{repeat}.svg'))
        with open(os.path.join(out_dir, 'history.json'), 'w') as file:
            json.dump(history, file)
truth.enter('shutdown')
