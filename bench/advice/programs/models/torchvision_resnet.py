"""ResNet-18 of torchvision on a folder-like data set whose pictures are transformed in the process."""
# bench: advice=dataloader-wait requires=torchvision,torch>=2
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)
augment = transforms.Compose([
    transforms.RandomResizedCrop(64), transforms.ColorJitter(0.4, 0.4, 0.4, 0.1),
    transforms.RandomHorizontalFlip(), transforms.GaussianBlur(5), transforms.ToTensor(),
    transforms.Normalize((0.5,) * 3, (0.5,) * 3)])
train_set = datasets.FakeData(320, (3, 224, 224), 10, augment)
options = {'num_workers': 2, 'persistent_workers': True} if truth.fixed else {}
loader = DataLoader(train_set, batch_size=8, shuffle=True, **options)
model = models.resnet18(num_classes=10)
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
model.train()
truth.enter('training')
for i, (images, target) in enumerate(loader):
    loss = criterion(model(images), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    truth.iteration()
truth.enter('shutdown')
