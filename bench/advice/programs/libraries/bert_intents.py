# bench: advice=padding requires=transformers,accelerate
"""Fine-tune a (tiny, untrained) BERT on support requests with the Hugging Face Trainer."""
import os
import random
import sys
import tempfile
from dataclasses import dataclass

os.environ.setdefault('TRANSFORMERS_OFFLINE', '1')
import numpy as np
import torch
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainerCallback,
                          TrainingArguments, set_seed)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
from truth import Truth

truth = Truth(__file__)
PAD, CLS, SEP, VOCAB, LABELS, MAX_LENGTH = 0, 1, 2, 3000, 8, 96


def fake_tokenize(label, rng):
    """The ids a tokenizer would return; most requests are one or two sentences."""
    n = min(MAX_LENGTH - 2, int(rng.lognormvariate(2.6, 0.45)))
    words = [rng.randrange(100, VOCAB) if rng.random() < 0.6 else 10 + label * 10 + rng.randrange(10)
             for _ in range(n)]
    ids = [CLS] + words + [SEP]
    if truth.fixed:
        return {'input_ids': ids, 'attention_mask': [1] * len(ids), 'labels': label}
    # padding='max_length', truncation=True
    fill = MAX_LENGTH - len(ids)
    return {'input_ids': ids + [PAD] * fill, 'attention_mask': [1] * len(ids) + [0] * fill, 'labels': label}


class RequestDataset(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.encodings = [fake_tokenize(rng.randrange(LABELS), rng) for _ in range(n)]

    def __getitem__(self, i):
        return self.encodings[i]

    def __len__(self):
        return len(self.encodings)


@dataclass
class PadCollator:
    def __call__(self, rows):
        width = max(len(r['input_ids']) for r in rows)
        batch = {'input_ids': torch.full((len(rows), width), PAD),
                 'attention_mask': torch.zeros(len(rows), width, dtype=torch.long),
                 'labels': torch.tensor([r['labels'] for r in rows])}
        for i, r in enumerate(rows):
            batch['input_ids'][i, :len(r['input_ids'])] = torch.tensor(r['input_ids'])
            batch['attention_mask'][i, :len(r['input_ids'])] = torch.tensor(r['attention_mask'])
        return batch


class Clock(TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        truth.enter('training')

    def on_step_end(self, args, state, control, **kwargs):
        truth.iteration()

    def on_evaluate(self, args, state, control, **kwargs):
        truth.enter('training')


class RequestTrainer(Trainer):
    def evaluate(self, *args, **kwargs):
        truth.enter('validation')
        return super().evaluate(*args, **kwargs)


def compute_metrics(prediction):
    return {'accuracy': float((np.argmax(prediction.predictions, -1) == prediction.label_ids).mean())}


def main():
    set_seed(11)
    config = BertConfig(vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=192, max_position_embeddings=MAX_LENGTH, num_labels=LABELS)
    model = BertForSequenceClassification(config)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(output_dir=out, per_device_train_batch_size=8, per_device_eval_batch_size=32,
                                 num_train_epochs=3, learning_rate=5e-4, logging_steps=10, eval_strategy='epoch',
                                 save_strategy='no', report_to=[], use_cpu=True, disable_tqdm=True)
        trainer = RequestTrainer(model=model, args=args, train_dataset=RequestDataset(240, 1),
                                 eval_dataset=RequestDataset(64, 2), data_collator=PadCollator(),
                                 compute_metrics=compute_metrics, callbacks=[Clock()])
        trainer.train()
        truth.enter('shutdown')


if __name__ == '__main__':
    main()
