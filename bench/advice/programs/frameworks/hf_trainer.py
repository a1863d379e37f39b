"""BERT fine-tuned by transformers' Trainer."""
# bench: advice=none requires=transformers,accelerate,torch>=2
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainerCallback,
                          TrainingArguments)

from truth import Truth

truth = Truth(__file__)
torch.set_num_threads(1)


class Reviews(Dataset):
    def __init__(self, count):
        self.tokens = torch.randint(5, 900, (count, 48))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return {'input_ids': self.tokens[i], 'attention_mask': torch.ones(48, dtype=torch.long),
                'labels': int(self.tokens[i, 0]) % 2}


class Clock(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        truth.enter('training')

    def on_step_end(self, args, state, control, **kwargs):
        truth.iteration()

    def on_train_end(self, args, state, control, **kwargs):
        truth.enter('shutdown')


config = BertConfig(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=192)
arguments = TrainingArguments('out', per_device_train_batch_size=8, num_train_epochs=2, report_to=[],
                              save_strategy='no', logging_steps=20, disable_tqdm=True, use_cpu=True)
trainer = Trainer(model=BertForSequenceClassification(config), args=arguments, train_dataset=Reviews(160),
                  callbacks=[Clock()])
trainer.train()
