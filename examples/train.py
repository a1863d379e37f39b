#!/usr/bin/env python3
"""A small Transformer trained on made-up text: the example that batchlight profiles.

The task: given a sequence of tokens, predict at each place the token two places earlier. Runs with
PyTorch 1.13 and later, on a GPU if there is one, else on the CPU; alone or under a profiler.
"""
import argparse
import contextlib
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@contextlib.contextmanager
def nvtx_range(name):
    """Marks a piece of the program for profilers that listen to NVTX."""
    if not nvtx_range.available:
        yield
        return
    torch.cuda.nvtx.range_push(name)
    try:
        yield
    finally:
        torch.cuda.nvtx.range_pop()


try:
    torch.cuda.nvtx.mark("start")
    nvtx_range.available = True
except RuntimeError:  # a PyTorch without CUDA has no NVTX, unless a profiler lends it one
    nvtx_range.available = False


class ShiftedText(Dataset):
    """Random sequences and, as the target, the same sequences two places later."""

    def __init__(self, size, seq_len, vocabulary):
        self.size, self.seq_len, self.vocabulary = size, seq_len, vocabulary

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        tokens = torch.randint(self.vocabulary, (self.seq_len,), generator=generator)
        return tokens, torch.roll(tokens, 2)


class Block(nn.Module):
    """Self-attention and a feed-forward network, each behind a normalisation."""

    def __init__(self, d_model, heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x):
        y = self.attention_norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.feed_forward(self.feed_forward_norm(x))


class Encoder(nn.Module):
    """Tokens and their places to vectors, through a stack of blocks."""

    def __init__(self, vocabulary, seq_len, d_model, layers):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, d_model)
        self.places = nn.Embedding(seq_len, d_model)
        heads = next(n for n in range(max(1, d_model // 32), 0, -1) if d_model % n == 0)
        self.layers = nn.ModuleList(Block(d_model, heads) for _ in range(layers))

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places.weight[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return x


class Model(nn.Module):
    def __init__(self, vocabulary, seq_len, d_model, layers):
        super().__init__()
        self.encoder = Encoder(vocabulary, seq_len, d_model, layers)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocabulary)

    def forward(self, tokens):
        return self.head(self.norm(self.encoder(tokens)))


def grad_scaler(device, enabled):
    try:
        return torch.amp.GradScaler(device, enabled=enabled)
    except AttributeError:  # before PyTorch 2.3
        return torch.cuda.amp.GradScaler(enabled=enabled)


def train_step(model, batch, optimizer, scaler, options, device):
    with nvtx_range("batch_to_device"):
        tokens, target = (t.to(device, non_blocking=True) for t in batch)
    with nvtx_range("forward"):
        dtype = torch.float16 if device == "cuda" else torch.bfloat16
        with torch.autocast(device, dtype=dtype, enabled=options.amp):
            logits = model(tokens)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
    with nvtx_range("backward"):
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
    with nvtx_range("optimizer_step"):
        scaler.step(optimizer)
        scaler.update()
    return loss


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=30, help="steps of an epoch")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--seq-len", type=int, default=64)
    parser.add_argument("--d-model", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--num-workers", type=int, default=2, help="processes that load data")
    parser.add_argument("--amp", default=None, action="store_true",
                        help="mixed precision: the default on a GPU; most processors are slow at it")
    parser.add_argument("--no-amp", dest="amp", action="store_false", default=None, help="single precision")
    options = parser.parse_args()
    for name in ("epochs", "steps", "batch_size", "seq_len", "d_model"):
        if getattr(options, name) < 1:
            parser.error("--%s: at least 1" % name.replace("_", "-"))
    return options


def main():
    options = parse_options()
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if options.amp is None:
        options.amp = device == "cuda"
    vocabulary = 512

    with nvtx_range("dataloader_setup"):
        dataset = ShiftedText(options.steps * options.batch_size, options.seq_len, vocabulary)
        loader = DataLoader(
            dataset, batch_size=options.batch_size, shuffle=True, num_workers=options.num_workers,
            persistent_workers=options.num_workers > 0, pin_memory=device == "cuda")

    model = Model(vocabulary, options.seq_len, options.d_model, options.layers).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = grad_scaler(device, options.amp and device == "cuda")
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters / 1e6:.2f} M parameters on {device}, PyTorch {torch.__version__}")

    for epoch in range(options.epochs):
        start = time.perf_counter()
        total = 0.0
        with nvtx_range(f"epoch_{epoch}"):
            for batch in loader:
                total += train_step(model, batch, optimizer, scaler, options, device).detach()
        step_ms = (time.perf_counter() - start) * 1e3 / options.steps
        print(f"epoch {epoch}: loss {total / options.steps:.3f}, {step_ms:.1f} ms a step")


if __name__ == "__main__":
    main()
