"""A service that answers requests with a small encoder; nothing is trained."""
# bench: advice=none
import random

import torch
from torch import nn

from truth import Truth


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.EmbeddingBag(5000, 128)
        self.tower = nn.Sequential(nn.Linear(128, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(),
                                   nn.Linear(384, 1))

    def forward(self, words, offsets):
        return self.tower(self.embedding(words, offsets)).squeeze(1)


class Service:
    def __init__(self):
        self.model = Ranker().eval()

    @torch.inference_mode()
    def handle(self, documents):
        words = torch.tensor([word for document in documents for word in document])
        offsets = torch.arange(len(documents)) * len(documents[0])
        return self.model(words, offsets).topk(3).indices.tolist()


def main():
    truth = Truth(__file__)
    torch.set_num_threads(1)
    service = Service()
    source = random.Random(3)
    queries = [[[source.randrange(5000) for _ in range(20)] for _ in range(64)] for _ in range(120)]
    truth.enter('inference')
    for query in queries:
        service.handle(query)
        truth.iteration()
    truth.enter('shutdown')


if __name__ == '__main__':
    main()
