"""Only a few vectors in front of the text learn; the encoder behind them was not told that it does not."""
# bench: advice=unheld-gradients
import torch
from torch import nn

from truth import Truth


class Prompted(nn.Module):
    def __init__(self, prompt=8):
        super().__init__()
        self.words = nn.Embedding(3000, 128)
        self.prompt = nn.Parameter(torch.randn(prompt, 128) * 0.02)
        layer = nn.TransformerEncoderLayer(128, 4, 384, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 3)
        self.label = nn.Linear(128, 6)

    def forward(self, words):
        x = torch.cat([self.prompt.expand(len(words), -1, -1), self.words(words)], 1)
        return self.label(self.encoder(x)[:, 0])


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    model = Prompted()
    if truth.fixed:
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name == 'prompt')
    optimizer = torch.optim.SGD([model.prompt], lr=0.1)
    words, labels = torch.randint(3000, (640, 24)), torch.randint(6, (640,))
    truth.enter('training')
    for step in range(40):
        rows = slice(step * 16, step * 16 + 16)
        model.zero_grad()
        nn.functional.cross_entropy(model(words[rows]), labels[rows]).backward()
        optimizer.step()
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
