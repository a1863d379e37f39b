"""A small vision Transformer of timm with random weights."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu requires=timm,torch>=2
import timm
import torch

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
model = timm.create_model('vit_tiny_patch16_224', img_size=64, depth=4, num_classes=10)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loss_fn = torch.nn.CrossEntropyLoss()
truth.enter('training')
for step in range(40):
    images, labels = torch.rand(8, 3, 64, 64), torch.randint(10, (8,))
    optimizer.zero_grad()
    loss = loss_fn(model(images), labels)
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
