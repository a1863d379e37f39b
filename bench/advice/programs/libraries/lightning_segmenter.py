# bench: advice=checkpoint-stall requires=lightning
import os
import sys
import tempfile
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..')))
from truth import Truth

truth = Truth(__file__)
warnings.filterwarnings('ignore')


class DiscDataModule(L.LightningDataModule):
    """Noisy images of discs, and their masks."""

    def __init__(self, n=380, size=24, batch_size=8):
        super().__init__()
        self.n, self.size, self.batch_size = n, size, batch_size

    def setup(self, stage=None):
        g = torch.Generator().manual_seed(5)
        grid = torch.arange(self.size)
        c = torch.rand(self.n, 2, generator=g) * self.size
        r = torch.rand(self.n, generator=g) * 5 + 3
        d2 = (grid.view(1, 1, -1) - c[:, :1, None]) ** 2 + (grid.view(1, -1, 1) - c[:, 1:, None]) ** 2
        masks = (d2 < (r * r).view(-1, 1, 1)).float().unsqueeze(1)
        images = masks + 0.7 * torch.randn(masks.shape, generator=g)
        self.train, self.val = random_split(TensorDataset(images, masks), [self.n - 60, 60], generator=g)

    def train_dataloader(self):
        return DataLoader(self.train, self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, 2 * self.batch_size)


class Segmenter(L.LightningModule):
    def __init__(self, lr=1e-3, bottleneck=896):
        super().__init__()
        self.save_hyperparameters()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 32, 3, 2, 1), nn.ReLU())
        self.middle = nn.Sequential(nn.Flatten(), nn.Linear(32 * 36, bottleneck), nn.ReLU(),
                                    nn.Linear(bottleneck, bottleneck), nn.ReLU(),
                                    nn.Linear(bottleneck, 32 * 36), nn.ReLU(), nn.Unflatten(1, (32, 6, 6)))
        self.up = nn.Sequential(nn.ConvTranspose2d(32, 8, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1))

    def forward(self, x):
        h = self.down(x)
        return self.up(h + self.middle(h))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.binary_cross_entropy_with_logits(self(x), y)
        self.log('train_loss', loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        p = (logits > 0).float()
        self.log('val_loss', F.binary_cross_entropy_with_logits(logits, y), prog_bar=True)
        self.log('val_iou', ((p * y).sum() / ((p + y) > 0).float().sum()), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr * 50, momentum=0.9)


class Clock(Callback):
    """Before ModelCheckpoint in the order of callbacks, which Lightning always calls last."""

    def on_train_start(self, *_):
        truth.enter('training')

    def on_train_batch_end(self, *_):
        truth.iteration()

    def on_validation_start(self, trainer, *_):
        if not trainer.sanity_checking:
            truth.enter('validation')

    def on_validation_end(self, trainer, *_):
        if not trainer.sanity_checking:
            truth.enter('training')


class SafeCheckpoint(ModelCheckpoint):
    def _save_checkpoint(self, trainer, filepath):
        truth.enter('checkpoint')
        super()._save_checkpoint(trainer, filepath)
        truth.enter('training')


def main():
    L.seed_everything(3, verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        if truth.fixed:
            checkpoint = SafeCheckpoint(folder, monitor='val_iou', mode='max', save_top_k=1)
        else:
            # the queue kills us at any time
            checkpoint = SafeCheckpoint(folder, every_n_train_steps=3, save_top_k=1, filename='last-{step}')
        trainer = L.Trainer(max_epochs=2, accelerator='cpu', devices=1, logger=False, enable_progress_bar=False,
                            enable_model_summary=False, callbacks=[Clock(), checkpoint])
        trainer.fit(Segmenter(), datamodule=DiscDataModule())
        truth.enter('shutdown')
        print({k: round(float(v), 4) for k, v in trainer.callback_metrics.items()})


if __name__ == '__main__':
    main()
