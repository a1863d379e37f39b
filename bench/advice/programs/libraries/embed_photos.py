# bench: advice=dataloader-wait requires=torchvision
"""Embed a folder of photos with a backbone and rate them; inference only, nothing is trained.

    embed_photos.py [OUTPUT.pt]
"""
import os
import sys
import time
from os import path

import numpy as np
import torch
import torchvision
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T

sys.path.insert(0, path.join(path.dirname(path.realpath(__file__)), '..', '..'))
from truth import Truth

truth = Truth(__file__)


class Photos(Dataset):
    """Stands for the folder of photos: 640 x 480, decoded."""

    def __init__(self, n, transform):
        rng = np.random.default_rng(0)
        small = rng.integers(0, 255, (8, 15, 20, 3), dtype=np.uint8)
        self.base = [Image.fromarray(a).resize((640, 480), Image.BICUBIC) for a in small]
        self.n, self.transform = n, transform

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        photo = self.base[i % len(self.base)].rotate(i % 11 - 5, resample=Image.BILINEAR)
        return self.transform(photo), i


@torch.inference_mode()
def run(model, loader, n):
    features = torch.zeros(n, 1000)
    began = time.time()
    for k, (images, index) in enumerate(loader):
        features[index] = model(images)
        if k % 8 == 0:
            print('%4d / %d  %.1f photos/s' % (index[-1] + 1, n, (int(index[-1]) + 1) / (time.time() - began)))
        truth.iteration()
    return features


if __name__ == '__main__':
    torch.manual_seed(0)
    n, workers = 176, 2 if truth.fixed else 0
    preprocess = T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor(),
                            T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    loader = DataLoader(Photos(n, preprocess), batch_size=8, num_workers=workers)
    model = torchvision.models.mobilenet_v3_small(weights=None).eval()
    truth.enter('training')
    features = run(model, loader, n)
    truth.enter('shutdown')
    if len(sys.argv) > 1 and not sys.argv[1].startswith('-'):
        torch.save(features, sys.argv[1])
    print('mean norm %.4f' % features.norm(dim=1).mean())
