"""Features are computed by a pool of processes before the loop, and take longer than the training."""
# bench: advice=preprocessing-cost gain=run
import math
import multiprocessing
import os
import tempfile

import numpy as np
import torch
from torch import nn

from truth import Truth

CACHE = os.path.join(tempfile.gettempdir(), 'bench_features.npy')


def features_of(seed):
    """A spectrogram, as simple as it gets: one row of energies."""
    signal = [math.sin(seed + i * 0.01) + math.sin(i * 0.13) for i in range(600)]
    return [sum(signal[i] * math.cos(k * i * 0.02) for i in range(0, 600, 4)) for k in range(64)]


def load_features(truth, n):
    if truth.fixed and os.path.exists(CACHE):
        return np.load(CACHE)
    with multiprocessing.get_context('fork').Pool(2) as pool:
        rows = np.array(pool.map(features_of, range(n), chunksize=20), dtype=np.float32)
    np.save(CACHE, rows)
    return rows


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    truth.enter('preprocessing')
    rows = torch.from_numpy(load_features(truth, 1600))
    truth.enter('set-up')
    rows = (rows - rows.mean(0)) / (rows.std(0) + 1e-5)
    labels = torch.randint(4, (len(rows),))
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 4))
    optimizer = torch.optim.AdamW(model.parameters())
    truth.enter('training')
    for _ in range(4):
        for index in torch.randperm(len(rows)).split(100):
            loss = nn.functional.cross_entropy(model(rows[index]), labels[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
