"""accelerate with gradient accumulation of two; the author counts batches updated."""
# bench: advice=none requires=accelerate,torch>=2
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 20))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = DataLoader(TensorDataset(torch.randn(7680, 256), torch.randint(20, (7680,))), batch_size=64)
    model, optimizer, data = accelerator.prepare(model, optimizer, data)
    truth.enter('training')
    for x, y in data:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
