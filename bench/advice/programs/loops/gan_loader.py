"""A DCGAN as in the tutorials: discriminator on real and made images, then the generator."""
# bench: advice=none|unfused-optimizer-cpu@torch>=2.4 change=fused fix=unfused-optimizer-cpu
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth

truth = Truth(__file__)
parser = argparse.ArgumentParser()
parser.add_argument('--nz', type=int, default=32)
parser.add_argument('--batch-size', type=int, default=16)
parser.add_argument('--niter', type=int, default=2)
parser.add_argument('--fixed', action='store_true')
opt = parser.parse_args()
torch.set_num_threads(1)


class Generator(nn.Module):
    def __init__(self, nz, ngf=16):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False), nn.BatchNorm2d(ngf), nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 3, 4, 2, 1, bias=False), nn.Tanh())

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self, ndf=16):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(3, ndf, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False), nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False), nn.Sigmoid())

    def forward(self, image):
        return self.main(image).view(-1)


dataloader = DataLoader(TensorDataset(torch.rand(640, 3, 16, 16)), batch_size=opt.batch_size, shuffle=True)
netG, netD = Generator(opt.nz), Discriminator()
criterion = nn.BCELoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))

truth.enter('training')
for epoch in range(opt.niter):
    for i, (real,) in enumerate(dataloader):
        ones, zeros = torch.ones(len(real)), torch.zeros(len(real))
        netD.zero_grad()
        errD_real = criterion(netD(real), ones)
        errD_real.backward()
        fake = netG(torch.randn(len(real), opt.nz, 1, 1))
        errD_fake = criterion(netD(fake.detach()), zeros)
        errD_fake.backward()
        optimizerD.step()

        netG.zero_grad()
        errG = criterion(netD(fake), ones)
        errG.backward()
        optimizerG.step()
        if i % 20 == 0:
            print(f'[{epoch}/{opt.niter}][{i}] D {(errD_real + errD_fake).item():.3f} G {errG.item():.3f}')
        truth.iteration()
truth.enter('shutdown')
