"""A language model of characters; the loss on the held-out text is estimated every ten steps."""
# bench: advice=validation-cost
import torch
import torch.nn as nn
from torch.nn import functional as F

from truth import Truth

truth = Truth(__file__)
batch_size, block_size, n_embd = 8, 32, 32
max_iters, eval_interval, eval_iters = 120, 60 if truth.fixed else 10, 40
torch.manual_seed(1337)
torch.set_num_threads(1)

text = torch.randint(60, (20000,))
train_data, val_data = text[:18000], text[18000:]


def get_batch(split):
    data = train_data if split == 'train' else val_data
    ix = torch.randint(len(data) - block_size, (batch_size,))
    return (torch.stack([data[i:i + block_size] for i in ix]),
            torch.stack([data[i + 1:i + block_size + 1] for i in ix]))


class CharModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(60, n_embd), nn.Embedding(block_size, n_embd)
        self.rnn = nn.GRU(n_embd, n_embd, batch_first=True)
        self.head = nn.Linear(n_embd, 60)

    def forward(self, idx, targets):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1]))
        logits = self.head(self.rnn(x)[0])
        return F.cross_entropy(logits.view(-1, 60), targets.view(-1))


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ('train', 'val'):
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            losses[k] = model(*get_batch(split)).item()
        out[split] = losses.mean()
    model.train()
    return out


model = CharModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for it in range(max_iters):
    if it % eval_interval == 0:
        truth.enter('validation')
        losses = estimate_loss()
        print(f'step {it}: train {losses["train"]:.3f}, val {losses["val"]:.3f}')
        truth.enter('training')
    loss = model(*get_batch('train'))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
