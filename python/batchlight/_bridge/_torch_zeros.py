"""Whether the model that learns multiplies by a large matrix that is nearly all zeros.

Looks at what the outermost modules are called with in train mode and with gradients on, in the first
calls, and at their buffers: at matrices of floating point numbers on the CPU, some thousands of their
elements. Property data.zeros: the part that is zero, of the largest matrix with nearly all zeros, and
data.zeros_shape. Tensors on a GPU are not looked at: that would wait for it.
"""
import itertools
import sys

import _batchlight_native as _native

from ._imports import is_of_handler
from ._torch_padding import MOST_ITEMS, is_heard
from ._torch_unseen import buffers_of, items_of, some_of, unseen

LOOKS = 8               # calls: a loss takes its turn with the model
LEAST_ELEMENTS = 1 << 20
SAMPLED = 1 << 14       # elements
NEARLY_ALL = 0.95
MOST_BUFFERS = 64

_looked = 0
_largest = 0


def look_at_call(module, arguments, named):
    """Whether another call is to be looked at."""
    global _looked
    if _looked >= LOOKS:  # threads may count at the same time
        return False
    try:
        if is_heard():
            return True
        _looked += 1
        items = _items(module, arguments, named)
        unseen(lambda: [_look(item) for item in items])
    except Exception as error:  # arguments and modules may do anything when they are asked: nothing is said
        if is_of_handler(error):
            raise
        _looked = LOOKS
    return _looked < LOOKS


def _items(module, arguments, named):
    for argument in [*arguments, *named.values()]:
        yield from items_of(argument, MOST_ITEMS)
    yield from itertools.islice(buffers_of(module), MOST_BUFFERS)


def _look(item):
    global _largest
    torch = sys.modules["torch"]
    if type(item) not in (torch.Tensor, torch.nn.Parameter):  # others may be fakes, or on several devices
        return
    shape = item.shape
    if len(shape) != 2 or shape[0] * shape[1] < max(LEAST_ELEMENTS, _largest + 1):
        return
    if item.device.type != "cpu" or item.is_sparse or item.requires_grad:
        return
    if not item.is_floating_point() or not item.is_contiguous():
        return
    some = some_of(item, SAMPLED)
    zeros = 1 - float((some != 0).sum()) / len(some)
    if zeros >= NEARLY_ALL:
        _largest = shape[0] * shape[1]
        _native.property("data.zeros", "%.4f" % zeros)
        _native.property("data.zeros_shape", "%d x %d" % tuple(shape))
