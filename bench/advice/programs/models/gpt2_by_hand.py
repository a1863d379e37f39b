"""GPT-2 of transformers with random weights, trained by a loop of one's own."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu requires=transformers,torch>=2
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
config = GPT2Config(vocab_size=1000, n_positions=64, n_embd=128, n_layer=4, n_head=4)
model = GPT2LMHeadModel(config)
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
dataset = torch.randint(1000, (240, 64))
truth.enter('training')
for epoch in range(1):
    for batch in dataset.split(4):
        outputs = model(input_ids=batch, labels=batch)
        outputs.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        truth.iteration()
truth.enter('shutdown')
