"""What is told of the padding of a DataLoader's batches."""
import unittest

from bridge_case import BridgeCase, Tensor

try:
    import numpy
except ImportError:
    numpy = None


@unittest.skipIf(numpy is None, "no NumPy in this Python")
class Padding(BridgeCase):
    name = "_torch_padding"

    def texts(self, width, lengths):
        """Each begins with the token 5."""
        random = numpy.random.RandomState(1)
        ids = numpy.zeros((len(lengths), width), numpy.int64)
        for row, length in enumerate(lengths):
            ids[row, :length] = random.randint(6, 9999, length)
        ids[:, 0] = 5
        return ids

    def test_a_batch_that_does_something_when_asked_is_left_alone(self):
        asked = []

        class Lazy:
            def values(self):
                asked.append("values")
                return []
            keys = items = __iter__ = values

        class LazyDict(dict):
            def values(self):
                asked.append("dict")
                return []

        class LazyList(list):
            def __getitem__(self, place):
                asked.append("list")
                return []

        ids = Tensor(self.texts(64, [32, 64]))
        self.assertEqual(list(self.module.whole_numbers_of(Lazy())), [])
        self.assertEqual(len(list(self.module.whole_numbers_of(LazyDict(ids=ids)))), 1)
        self.assertEqual(len(list(self.module.whole_numbers_of(LazyList([ids])))), 1)
        self.assertEqual(asked, [])

    def iterate(self, batches):
        class Iterator:
            def __init__(self):
                self.rest = list(batches)

            def __next__(self):
                if not self.rest:
                    raise StopIteration
                return self.rest.pop(0)

        self.module.follow(Iterator)
        iterator, seen = Iterator(), []
        while True:
            try:
                seen.append(iterator.__next__())
            except StopIteration:
                return seen

    def test_targets_that_the_loss_leaves_out(self):
        ids = self.texts(64, [64] * 4)
        targets = numpy.full_like(ids, -100)
        targets[:, ::8] = ids[:, ::8]
        flags = numpy.where(ids % 2 == 0, -1, 1)  # -1 is somebody's own
        self.iterate([{"ids": Tensor(ids), "labels": Tensor(targets), "flags": Tensor(flags)}] * 4)
        self.assertEqual(self.said["data.ignored_targets"], "0.8750")
        self.assertEqual(self.said["data.targets"], "256")

    def test_padding_to_one_length_and_to_the_longest(self):
        ids = self.texts(100, [10, 20, 20, 10])
        self.assertEqual(self.module.padding_of(ids), (400, 340, 320))
        self.assertEqual(self.module.padding_of(ids[:, ::-1]), (400, 340, 320))
        self.assertEqual(self.module.padding_of(ids[:, :20]), (80, 20, 0))
        self.assertEqual(self.module.padding_of((ids > 0).astype(numpy.int64)), (400, 340, 320))

    def test_what_is_no_padding(self):
        random = numpy.random.RandomState(1)
        for array in (random.randint(0, 9, (8, 64)), numpy.eye(16, dtype=numpy.int64),
                      numpy.zeros((4, 32), numpy.int64),
                      (random.rand(16, 64) > 0.9).astype(numpy.int64)):
            self.assertEqual(self.module.padding_of(array)[2], 0)

    def test_rows_that_all_end_alike_are_not_padded(self):
        targets = numpy.arange(5).repeat(15)[None].repeat(4, 0)  # 0 0 0 1 1 1 ... 4 4 4
        self.iterate([[Tensor(targets)]] * 5)
        self.assertEqual(self.said, {"data.padding": "0.0000", "data.padding_beyond_longest": "0.0000"})
        self.iterate([[Tensor(self.texts(64, [16, 16]))], [Tensor(self.texts(64, [32, 32]))]] * 5)
        self.assertEqual(self.said["data.padding"], self.said["data.padding_beyond_longest"])
        self.assertGreater(float(self.said["data.padding"]), 0.2)

    def test_batches_are_handed_on_and_some_looked_at(self):
        batch = {"input_ids": Tensor(self.texts(64, [16, 8, 8, 8])),
                 "labels": Tensor(numpy.zeros(4, numpy.int64)), "text": ["a"]}
        batches = [batch] * 9
        self.assertEqual(self.iterate(batches), batches)
        self.assertEqual(self.said, {"data.padding": "0.8438", "data.padding_beyond_longest": "0.7500"})

    def test_without_a_loader_the_models_inputs_are_looked_at(self):
        ids = Tensor(self.texts(64, [16, 8, 8, 8]))
        for _ in range(9):
            self.module.look_at_call((ids,), {"targets": Tensor(numpy.zeros(4, numpy.int64))})
            self.module.look_at_call((Tensor(numpy.zeros((4, 64))),), {})  # the loss
        self.assertEqual(self.said, {"data.padding": "0.8438", "data.padding_beyond_longest": "0.7500"})

    def test_a_loaders_batches_tell_more_than_the_models_inputs(self):
        self.iterate([[Tensor(self.texts(32, [32, 16, 24, 24]))]] * 3)
        self.said.clear()
        for _ in range(9):
            self.module.look_at_call((), {"input_ids": Tensor(self.texts(64, [16, 8, 8, 8]))})
        self.assertEqual(self.said, {})

    def test_ids_count_and_neither_targets_nor_kinds_of_tokens(self):
        ids = self.texts(32, [32, 16, 24, 24])  # padded to the longest
        kinds = numpy.zeros((4, 32), numpy.int64)
        kinds[:, 20:] = 1
        targets = ids.copy()
        targets[:, :24] = -100
        batch = {"token_type_ids": Tensor(kinds), "input_ids": Tensor(ids), "labels": Tensor(targets),
                 "attention_mask": Tensor((ids > 0).astype(bool))}
        self.iterate([batch] * 3)
        self.assertEqual(self.said, {"data.padding": "0.2500", "data.padding_beyond_longest": "0.0000",
                                     "data.targets": "128", "data.ignored_targets": "0.7500"})
        self.said.clear()
        self.iterate([[Tensor(kinds), Tensor(ids - 1)]] * 3)
        self.assertEqual(self.said, {})

    def test_tensors_of_a_gpu_are_left_alone(self):
        ids = self.texts(64, [16, 8])
        self.iterate([(Tensor(ids, "cuda"), Tensor(ids.astype(float)))] * 4)
        self.assertEqual(self.said, {})

    def test_a_batch_that_is_like_no_other_does_no_harm(self):
        class Odd:
            @property
            def shape(self):
                raise RuntimeError("no shape")

        batches = [[Odd()], [Odd()], [Odd()]]
        self.assertEqual(self.iterate(batches), batches)
        self.assertEqual(self.said, {})


if __name__ == "__main__":
    unittest.main()
