"""How much of the batches is padding: of a few of them, counted on the CPU. Of a DataLoader's, or, where
nothing comes from one, of what the model that learns is called with.

Looks at batches 2, 4, 8, ... 1024: at tensors of whole numbers with two dimensions, samples by
positions, and among them at the one with the largest values: token ids, where masks, kinds of
tokens and flags have only 0 and 1. Padding is a value with which rows end (or begin) and that they
hardly have elsewhere; where all rows of all batches end with as many of it, they are alike (targets in the order of
their classes), and nothing is padded. Of targets, those are counted that the loss leaves out (-100): a head that makes
scores for all positions makes these for nothing. Tensors on a GPU are not looked at: that would wait for it.
"""
import sys

import _batchlight_native as _native

from ._importlib_bootstrap import metered
from ._imports import is_of_handler
from ._torch_unseen import array_of, is_traced, items_of, unseen

LAST_LOOK = 1024      # batches
LEAST_WIDTH = 16      # positions
MOST_ELEMENTS = 1 << 20
MOST_BYTES = 1 << 24   # from the first to the last
MOST_ITEMS = 32
MOST_MISSES = 64      # calls without such tensors
MOST_INSIDE = 0.1     # of the positions before the padding have its value: no padding else
IGNORED = -100        # ignore_index of PyTorch's losses


def follow(iterator_class):
    """Looks at what __next__ returns."""
    iterator_class.__next__ = metered(iterator_class.__next__, LOADED)


def look_at_call(arguments, named):
    """What the outermost module is called with, in train mode and with gradients on. Whether another call is to be
    looked at."""
    if CALLED.next_look:
        CALLED.count += 1
        if CALLED.count >= CALLED.next_look:
            if LOADED.count:  # it tells more: what a loop makes of its batches is not padding
                CALLED.next_look = 0
                return False
            seen = CALLED.positions
            CALLED.look([*arguments, *named.values()])
            if CALLED.positions == seen and CALLED.next_look:  # a loss, in turn with the model
                CALLED.missed += 1
                CALLED.next_look = CALLED.count + 1 if CALLED.missed < MOST_MISSES else 0
    return CALLED.next_look > 0


class Meter:
    def __init__(self):
        self.count = 0
        self.next_look = 2  # 0: no more
        self.positions = self.padded = self.beyond = 0
        self.ends = set()  # of the batches: how much of a row may be padding, in the mean and in the longest
        self.looks = self.targets = self.ignored = 0
        self.missed = 0

    def look(self, batch):
        self.next_look = 0 if self.next_look >= LAST_LOOK else 2 * self.next_look
        try:
            arrays = unseen(list, whole_numbers_of(batch))
            self.count_targets(arrays)
            ids = max((array for array in arrays if is_ids(array)), key=lambda array: array.max(), default=None)
            if ids is None:
                return
            positions, padded, beyond = padding_of(ids)
            self.positions += positions
            self.padded += padded
            self.beyond += beyond
            self.ends.update((padded / len(ids), beyond / len(ids)))
            is_padding = len(self.ends) > 1
            _native.property("data.padding", "%.4f" % (is_padding and self.padded / self.positions))
            _native.property("data.padding_beyond_longest", "%.4f" % (is_padding and self.beyond / self.positions))
        except Exception as error:  # of a batch that is like no other: nothing is said of it
            if is_of_handler(error):
                raise
            self.next_look = 0

    def count_targets(self, arrays):
        """Positions that have a target, and those of them that the loss leaves out."""
        targets = max((array for array in arrays if array.min() == IGNORED and array.max() >= 0),
                      key=lambda array: array.size, default=None)
        if targets is None:
            return
        self.looks += 1
        self.targets += targets.size
        self.ignored += int((targets == IGNORED).sum())
        _native.property("data.targets", "%.0f" % (self.targets / self.looks))
        _native.property("data.ignored_targets", "%.4f" % (self.ignored / self.targets))


LOADED, CALLED = Meter(), Meter()


def is_heard():
    """Whether a mode of the program's sees every operator, or torch.jit.trace does: a batch is none of theirs."""
    modes = getattr(getattr(sys.modules.get("torch"), "_C", None), "_len_torch_dispatch_stack", int)
    return modes() > 0 or is_traced()


def is_ids(array):
    return array.min() >= 0 and array.max() > 1


def whole_numbers_of(batch):
    """NumPy's copies of the tensors in question, in one level of a dict or sequence."""
    torch = sys.modules.get("torch")
    if is_heard():
        return
    for item in items_of(batch, MOST_ITEMS):
        if torch is not None and type(item) is not torch.Tensor:  # of others numpy() may be anything
            continue
        shape = getattr(item, "shape", ())
        if (len(shape) != 2 or shape[1] < LEAST_WIDTH or not hasattr(item, "is_sparse")
                or shape[0] < 2 or shape[0] * shape[1] > MOST_ELEMENTS):
            continue
        if item.device.type == "cpu" and not item.is_floating_point() and not item.is_sparse:
            array = array_of(item, MOST_BYTES)
            if array.dtype.kind in "iu":
                yield array


def padding_of(array):
    """(positions, padded ones, those of them beyond the longest row)."""
    return max(_at_end(array), _at_end(array[:, ::-1]), key=lambda found: found[1])


def _at_end(array):
    import numpy  # PyTorch has imported it

    rows, width = array.shape
    values, counts = numpy.unique(array[:, -1], return_counts=True)
    most = int(counts.argmax())
    if 2 * counts[most] < rows:
        return rows * width, 0, 0
    is_value = array[:, ::-1] == values[most]
    runs = numpy.where(is_value.all(axis=1), width, is_value.argmin(axis=1))
    padded = int(runs.sum())
    inside = int(is_value.sum()) - padded
    # One position is a token that begins or ends all samples.
    if runs.max() < 2 or padded == rows * width or inside > MOST_INSIDE * (rows * width - padded):
        return rows * width, 0, 0
    return rows * width, padded, int(runs.min()) * rows
