"""A convolution net beside which a thread keeps counts for a dashboard, all the time and in Python."""
# bench: advice=gil-wait
import collections
import threading

import torch
from torch import nn

from truth import Truth


class Dashboard(threading.Thread):
    """Counts the words of the log for as long as the training runs."""

    def __init__(self, pause):
        super().__init__(daemon=True)
        self.over, self.counts = threading.Event(), collections.Counter()
        self.pause = pause

    def run(self):
        log = 'epoch loss accuracy step lr grad norm time'.split() * 50
        while not self.over.is_set():
            for word in log:
                self.counts[word] += len(word) % 3
            if self.pause:
                self.over.wait(1.0)


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    net = nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU())],
                        nn.Linear(64, 8))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)
    x, y = torch.randn(16, 64), torch.randint(8, (16,))
    dashboard = Dashboard(pause=truth.fixed)
    dashboard.start()
    truth.enter('training')
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')
    dashboard.over.set()


if __name__ == '__main__':
    main()
