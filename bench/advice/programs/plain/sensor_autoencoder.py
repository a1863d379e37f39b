# bench: advice=between-epochs|python-work
# %%  Denoising autoencoder for the sensor rows. (exported from the notebook)
import os
import sys
import tempfile

import numpy as np
import torch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir))
from truth import Truth

truth = Truth(__file__)

# %% load
np.random.seed(0)
torch.manual_seed(0)
N, DIM, CODE = 2400, 90, 12
latent = np.random.randn(N, 6)
mix = np.random.randn(6, DIM)
X = np.tanh(latent @ mix).astype('float32')
X = (X - X.mean(0)) / (X.std(0) + 1e-8)
outdir = tempfile.mkdtemp(prefix='codes_')

# %% model
encoder = torch.nn.Sequential(torch.nn.Linear(DIM, 64), torch.nn.ELU(), torch.nn.Linear(64, CODE))
decoder = torch.nn.Sequential(torch.nn.Linear(CODE, 64), torch.nn.ELU(), torch.nn.Linear(64, DIM))
params = list(encoder.parameters()) + list(decoder.parameters())
opt = torch.optim.Adam(params, lr=2e-3)

# %% fit
batch, epochs, history = 200, 13, []
for ep in range(epochs):
    truth.enter('training')
    perm = np.random.permutation(N)
    running = 0.0
    for lo in range(0, N, batch):
        xb = X[perm[lo:lo + batch]]
        noisy = xb + 0.3 * np.random.standard_normal(xb.shape).astype('float32')
        rec = decoder(encoder(torch.from_numpy(noisy)))
        err = ((rec - torch.from_numpy(xb)) ** 2).mean()
        opt.zero_grad()
        err.backward()
        opt.step()
        running += float(err)
        truth.iteration()
    history.append(running / (N // batch))

    # codes and reconstructions of all rows, for the animation
    truth.enter('between')
    with torch.no_grad():
        codes = encoder(torch.from_numpy(X))
        table = torch.cat([codes, decoder(codes)], dim=1).numpy()
    if truth.fixed:
        np.save(os.path.join(outdir, 'rows_%03d.npy' % ep), table)
    else:
        np.savetxt(os.path.join(outdir, 'rows_%03d.csv' % ep), table, delimiter=',', fmt='%.6e')
    print('epoch', ep, 'mse', round(history[-1], 5))

truth.enter('shutdown')
print('written to', outdir)
