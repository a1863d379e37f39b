# bench: advice=preprocessing-cost gain=run
"""Bird calls: spectral features from raw audio with a process pool, then a small classifier on them."""
import logging
import math
import multiprocessing as mp
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from truth import Truth

truth = Truth(__file__)
logging.basicConfig(level=logging.INFO, format='%(asctime)s %(name)s: %(message)s', datefmt='%H:%M:%S')
log = logging.getLogger('birds')

RATE, FRAME, HOP, BANDS = 4000, 256, 128, 20
WINDOW = np.hanning(FRAME)
EDGES = np.linspace(2, FRAME // 2, BANDS + 2)


def call(args):
    """One recording: species decides pitch and trill."""
    index, species = args
    rng = np.random.RandomState(index)
    t = np.arange(RATE) / RATE
    pitch = 300 + 150 * species + rng.randn() * 25
    wave = np.sin(2 * np.pi * pitch * t + 3 * np.sin(2 * np.pi * (4 + species) * t))
    return wave + 0.7 * rng.randn(RATE)


def band_weight(band, k):
    low, mid, high = EDGES[band], EDGES[band + 1], EDGES[band + 2]
    if k <= low or k >= high:
        return 0.0
    return (k - low) / (mid - low) if k < mid else (high - k) / (high - mid)


def features(args):
    wave = call(args)
    rows = []
    for start in range(0, len(wave) - FRAME + 1, HOP):
        spectrum = np.abs(np.fft.rfft(wave[start:start + FRAME] * WINDOW)) ** 2
        row = []
        for band in range(BANDS):
            energy = 0.0
            for k in range(int(EDGES[band]), int(EDGES[band + 2]) + 1):
                energy += band_weight(band, k) * spectrum[k]
            row.append(math.log(energy + 1e-6))
        rows.append(row)
    return np.asarray(rows, dtype=np.float32)


FILTERS = np.array([[band_weight(b, k) for k in range(FRAME // 2 + 1)] for b in range(BANDS)])


def features_fast(args):
    wave = call(args)
    frames = np.lib.stride_tricks.sliding_window_view(wave, FRAME)[::HOP] * WINDOW
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    return np.log(power @ FILTERS.T + 1e-6).astype(np.float32)


class Net(nn.Module):
    def __init__(self, species):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(BANDS, 64, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
                                  nn.Conv1d(64, 96, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
        self.head = nn.Linear(96, species)

    def forward(self, x):
        return self.head(self.conv(x.transpose(1, 2)).squeeze(-1))


def main():
    torch.manual_seed(0)
    jobs = [(i, i % 5) for i in range(360)]

    truth.enter('preprocessing')
    log.info('extracting features of %d recordings', len(jobs))
    with mp.Pool(2) as pool:
        feats = pool.map(features_fast if truth.fixed else features, jobs, chunksize=8)
    x = torch.from_numpy(np.stack(feats))
    y = torch.tensor([species for _, species in jobs])
    x = (x - x.mean((0, 1))) / x.std((0, 1))

    truth.enter('set-up')
    loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
    net = Net(5)
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, epochs=10, steps_per_epoch=len(loader))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

    truth.enter('training')
    for epoch in range(10):
        hits = 0
        for xb, yb in loader:
            out = net(xb)
            loss = criterion(out, yb)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            hits += (out.argmax(1) == yb).sum().item()
            truth.iteration()
        log.info('epoch %d: accuracy %.3f', epoch, hits / len(x))
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
