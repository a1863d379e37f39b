"""A LightningModule with a validation loop, trained by Lightning's Trainer."""
# bench: advice=validation-cost requires=lightning,torch>=2
import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Autoencoder(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 16))
        self.decoder = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 784))

    def step(self, batch):
        return nn.functional.mse_loss(self.decoder(self.encoder(batch[0])), batch[0])

    def training_step(self, batch, batch_index):
        return self.step(batch)

    def validation_step(self, batch, batch_index):
        self.log('val_loss', self.step(batch))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class Clock(lightning.Callback):
    def on_train_start(self, trainer, module):
        truth.enter('training')

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_index):
        truth.iteration()

    def on_validation_start(self, trainer, module):
        truth.enter('validation')

    def on_validation_end(self, trainer, module):
        truth.enter('training')

    def on_train_end(self, trainer, module):
        truth.enter('shutdown')


def loader(count, batch):
    return DataLoader(TensorDataset(torch.rand(count, 784)), batch_size=batch)


trainer = lightning.Trainer(max_epochs=4, accelerator='cpu', logger=False, enable_checkpointing=False,
                            enable_progress_bar=False, callbacks=[Clock()],
                            check_val_every_n_epoch=4 if truth.fixed else 1)
trainer.fit(Autoencoder(), loader(960, 32), loader(12800, 32))
