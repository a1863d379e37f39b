"""Linear layers written with plain tensors and updated by hand: no module, no optimizer."""
# bench: advice=none
import torch

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)

w1 = (torch.randn(200, 300) / 20).requires_grad_()
b1 = torch.zeros(300, requires_grad=True)
w2 = (torch.randn(300, 10) / 28).requires_grad_()
b2 = torch.zeros(10, requires_grad=True)
parameters = [w1, b1, w2, b2]
inputs, targets = torch.randn(6400, 200), torch.randint(10, (6400,))
lr = 0.1

truth.enter('training')
for t in range(80):
    start = (t * 128) % 6400
    xb, yb = inputs[start:start + 128], targets[start:start + 128]
    logits = (xb @ w1 + b1).relu() @ w2 + b2
    loss = -(logits - logits.logsumexp(-1, keepdim=True)).gather(1, yb[:, None]).mean()
    loss.backward()
    with torch.no_grad():
        for p in parameters:
            p -= lr * p.grad
            p.grad.zero_()
    truth.iteration()
truth.enter('shutdown')
print(loss.item())
