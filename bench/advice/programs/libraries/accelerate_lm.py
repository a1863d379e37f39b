# bench: advice=unfused-optimizer-cpu requires=accelerate,torch>=2.4
"""Causal language model without Trainer: accelerate, gradient accumulation, cosine schedule, clipping."""
import argparse
import math
import sys
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from truth import Truth

truth = Truth(__file__)


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument('--max_train_steps', type=int, default=40)
    p.add_argument('--gradient_accumulation_steps', type=int, default=2)
    p.add_argument('--per_device_train_batch_size', type=int, default=2)
    p.add_argument('--block_size', type=int, default=16)
    p.add_argument('--learning_rate', type=float, default=6e-4)
    p.add_argument('--weight_decay', type=float, default=0.1)
    p.add_argument('--vocab_size', type=int, default=12000)
    p.add_argument('--fixed', action='store_true')
    return p.parse_args()


class Blocks(Dataset):
    def __init__(self, n, block, vocab):
        # Zipf-like
        u = torch.rand(n, block + 1)
        self.ids = (vocab ** u).long().clamp(0, vocab - 1)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {'input_ids': self.ids[i, :-1], 'labels': self.ids[i, 1:]}


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.ln2(x))


class SmallLM(nn.Module):
    def __init__(self, vocab, d=192, layers=3, block=64):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, d), nn.Embedding(block, d)
        self.blocks = nn.ModuleList(Block(d, 4) for _ in range(layers))
        self.ln = nn.LayerNorm(d)

    def forward(self, input_ids, labels):
        x = self.wte(input_ids) + self.wpe.weight[:input_ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = self.ln(x) @ self.wte.weight.t()
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def main():
    args = parse_args()
    set_seed(9)
    accelerator = Accelerator(gradient_accumulation_steps=args.gradient_accumulation_steps, cpu=True)
    model = SmallLM(args.vocab_size)
    decay = [p for n, p in model.named_parameters() if p.dim() >= 2]
    no_decay = [p for n, p in model.named_parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{'params': decay, 'weight_decay': args.weight_decay},
                                   {'params': no_decay, 'weight_decay': 0.0}], lr=args.learning_rate,
                                  betas=(0.9, 0.95), **({'fused': True} if truth.fixed else {}))
    total = args.max_train_steps
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 0.5 * (1 + math.cos(math.pi * min(1, s / total))))
    n = total * args.gradient_accumulation_steps * args.per_device_train_batch_size
    loader = DataLoader(Blocks(n, args.block_size, args.vocab_size), shuffle=True,
                        batch_size=args.per_device_train_batch_size)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    accelerator.print(f'parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.1f} M')

    truth.enter('training')
    completed = 0
    model.train()
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch)
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            completed += 1
            truth.iteration()
            if completed % 15 == 0:
                accelerator.print(f'step {completed}: loss {loss.item():.3f}')
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
