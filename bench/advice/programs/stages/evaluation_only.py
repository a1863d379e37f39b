"""Loads weights and measures accuracy on a test set; there is no training anywhere."""
# bench: advice=none
import io

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth


def build():
    return nn.Sequential(nn.Conv2d(3, 12, 3), nn.BatchNorm2d(12), nn.ReLU(), nn.Conv2d(12, 16, 3, stride=2),
                         nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
                         nn.Linear(256, 10))


def evaluate(truth, model, loader):
    correct = seen = 0
    model.eval()
    with torch.no_grad():
        for images, labels in loader:
            correct += (model(images).argmax(1) == labels).sum().item()
            seen += len(labels)
            truth.iteration()
    return correct / seen


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    weights = io.BytesIO()
    torch.save(build().state_dict(), weights)
    weights.seek(0)
    model = build()
    model.load_state_dict(torch.load(weights))
    loader = DataLoader(TensorDataset(torch.rand(1600, 3, 40, 40), torch.randint(10, (1600,))), batch_size=20)
    truth.enter('inference')
    accuracy = evaluate(truth, model, loader)
    truth.enter('shutdown')
    print(f'{accuracy:.2%}')


if __name__ == '__main__':
    main()
