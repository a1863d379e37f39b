# bench: advice=anomaly-detection
"""Minimal character-level language model with a hand-made GRU cell; prints a sample now and then."""
import sys
from os.path import abspath, dirname
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(1, dirname(dirname(dirname(abspath(__file__)))))
from truth import Truth
truth = Truth(__file__)

# data I/O: we have no input.txt here, so write nonsense from a small grammar
rng = np.random.RandomState(42)
subjects = ['the engineer', 'a small dog', 'my neighbour', 'the old machine', 'nobody', 'every second user']
verbs = ['sees', 'repairs', 'forgets', 'measures', 'paints', 'compiles']
objects = ['the red bicycle', 'a long list of names', 'twelve cups of tea', 'its own shadow', 'the kernel']
text = '\n'.join(' '.join((rng.choice(subjects), rng.choice(verbs), rng.choice(objects))) + '.' for _ in range(3000))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
vocab = len(chars)
print(f'data has {len(text)} characters, {vocab} unique.')

# hyperparameters
hidden_size, seq_length, batch_size = 96, 32, 24
max_iters, sample_every = 44, 11

# had NaNs last week
if not truth.fixed:
    torch.autograd.set_detect_anomaly(True)


class Cell(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.zr = nn.Linear(n_in + n_hidden, 2 * n_hidden)
        self.h = nn.Linear(n_in + n_hidden, n_hidden)

    def forward(self, x, h):
        z, r = torch.sigmoid(self.zr(torch.cat([x, h], 1))).chunk(2, 1)
        new = torch.tanh(self.h(torch.cat([x, r * h], 1)))
        return (1 - z) * h + z * new


class CharRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(vocab, 32)
        self.cell = Cell(32, hidden_size)
        self.out = nn.Linear(hidden_size, vocab)

    def forward(self, idx, h):
        logits = []
        for t in range(idx.shape[1]):
            h = self.cell(self.emb(idx[:, t]), h)
            logits.append(self.out(h))
        return torch.stack(logits, 1), h

    @torch.no_grad()
    def sample(self, n):
        h = torch.zeros(1, hidden_size)
        ix, out = torch.tensor([[stoi['t']]]), []
        for _ in range(n):
            logits, h = self(ix, h)
            ix = torch.multinomial(F.softmax(logits[:, -1], -1), 1)
            out.append(chars[ix.item()])
        return ''.join(out)


torch.manual_seed(0)
model = CharRNN()
opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
smooth_loss = float(np.log(vocab))

n, p = 0, 0
h = torch.zeros(batch_size, hidden_size)
stride = (len(data) - 1) // batch_size
starts = torch.arange(batch_size) * stride

truth.enter('training')
while n < max_iters:
    if p + seq_length + 1 >= stride:
        h, p = torch.zeros(batch_size, hidden_size), 0
    window = (starts + p).unsqueeze(1) + torch.arange(seq_length + 1)
    chunk = data[window]
    x, y = chunk[:, :-1], chunk[:, 1:]
    logits, h = model(x, h.detach())
    loss = F.cross_entropy(logits.reshape(-1, vocab), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 5)
    opt.step()
    smooth_loss = smooth_loss * 0.95 + loss.item() * 0.05
    p += seq_length
    n += 1
    truth.iteration()
    if n % sample_every == 0:
        truth.enter('validation')
        print('----\n%s\n----' % model.sample(120))
        print('iter %d, loss: %f' % (n, smooth_loss))
        truth.enter('training')
truth.enter('shutdown')
