"""Cross-validation: five folds, a new model and a new optimizer for each."""
# bench: advice=none
import numpy as np
import torch
from torch import nn

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
rng = np.random.default_rng(7)
X = rng.normal(size=(1500, 300)).astype(np.float32)
y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(np.int64)
folds = np.array_split(rng.permutation(len(X)), 5)
scores = []

for k, held_out in enumerate(folds):
    truth.enter('training')
    chosen = np.concatenate([f for j, f in enumerate(folds) if j != k])
    model = nn.Sequential(nn.Linear(300, 150), nn.ReLU(), nn.Dropout(0.2), nn.Linear(150, 2))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    model.train()
    for epoch in range(2):
        for start in range(0, len(chosen), 100):
            rows = chosen[start:start + 100]
            loss = nn.functional.cross_entropy(model(torch.from_numpy(X[rows])), torch.from_numpy(y[rows]))
            opt.zero_grad()
            loss.backward()
            opt.step()
            truth.iteration()
    truth.enter('validation')
    model.eval()
    with torch.no_grad():
        guess = model(torch.from_numpy(X[held_out])).argmax(1).numpy()
    scores.append((guess == y[held_out]).mean())
truth.enter('shutdown')
print('accuracy', np.mean(scores), '+-', np.std(scores))
