"""Loads the operator recorder (torch_ops.cpp), which is built against the program's PyTorch.

Without a C++ compiler or PyTorch's headers operators come from PyTorch's NVTX ranges, if it has
them (_torch_emit_nvtx.py); modules and phases are recorded as ever.

The recorder also looks at the masks of attention, and at what operators are given (Masks).
"""
import sys
import threading

import _batchlight_native as _native

from . import _calibration, _importlib_bootstrap, _torch_library, _torch_progress
from ._imports import attempt, is_of_handler
from ._standard import standard
from ._torch_unseen import is_followed_by_others


def install(torch, shapes, nvtx):
    try:
        path = _torch_library.built(torch, "torch_ops.cpp", "operator recorder")
        ctypes = standard("ctypes")
        before = []
        attempt("calibration", lambda: before.append(_calibration.operator_time(torch)))
        library = ctypes.CDLL(path)
        failed = library.batchlight_torch_ops_start(1 if shapes else 0)
        if failed:
            raise _torch_library.CannotBuild("the operator recorder found no recording to write to")
        attempt("calibration", lambda: _calibration.say_operator_cost(torch, *before))
        attempt("attention masks", _look_at_masks, torch, library, ctypes)
    except (_torch_library.CannotBuild, OSError) as error:
        from . import _torch_emit_nvtx
        if nvtx and _torch_emit_nvtx.install(torch, shapes):
            text = ("operators come from PyTorch's NVTX ranges, of the main thread and its backward "
                    "only, at more cost: %s" % error)
        else:
            text = "operators are not recorded, modules and phases are: %s" % error
        _native.reason("torch_ops", text)
        _torch_library.say(text)


def _look_at_masks(torch, library, ctypes):
    _importlib_bootstrap.leave_to_dynamo(sys.modules[__name__])
    _torch_progress.watchers.append(Masks(torch, library, ctypes))


class Masks:
    """Property attention.masks: what masks scaled_dot_product_attention is given, with gradients on, from the first step
    of an optimizer to the third: "24 24 0 0 1024 Bool 1x1x1024x1024", the calls; of these, calls with a mask that is
    one for all samples and heads and causal; with one that may be (no rows of it were looked at); with any other mask;
    and of the first of those for all, positions, type and shape. Said once, where there are any that are or may be
    causal.

    Property forward.operands, with gradients or without: what operators of the training thread are given, where what they
    compute could be had of less (torch_operands.h).

    A GPU copies rows of the masks when a step ends, behind what it has to do; they are looked at when a later step finds
    the copies done."""
    FIRST, LAST, TOLD = 1, 3, 10  # steps of optimizers
    MOST_TEXT = 2048

    def __init__(self, torch, library, ctypes):
        self.torch, self.library = torch, library
        self.text = ctypes.create_string_buffer(self.MOST_TEXT)
        self.size = ctypes.c_size_t(self.MOST_TEXT)
        self.thread = None
        self.steps, self.looks = 0, False
        self.copies = None  # event behind the latest of a GPU's

    def __call__(self):
        """A step of an optimizer begins."""
        if self.thread not in (None, threading.get_ident()):
            return
        self.thread = threading.get_ident()
        self.steps += 1
        goes_on = False
        try:
            goes_on = self._step()
        except Exception as error:  # PyTorch may be anything
            if is_of_handler(error):
                raise
        finally:
            if not goes_on:
                self._end()

    def _step(self):
        """Whether another one is needed."""
        if self.steps == self.FIRST:
            self.looks = self.library.batchlight_torch_masks_begin() == 0
            return self.looks
        if self.looks and not self._take():
            return False
        if self.looks:
            return True
        copied = self.copies is None or self.copies.query()
        if not copied and self.steps < self.TOLD:
            return True
        if self.library.batchlight_torch_masks_tell(1 if copied else 0, self.text, self.size) == 0 and self.text.value:
            _native.property("attention.masks", self.text.value.decode())
        return False

    def _take(self):
        if self.steps == self.LAST:
            self._stop_looking()
            if self.library.batchlight_torch_operands_tell(self.text, self.size) == 0 and self.text.value:
                _native.property("forward.operands", self.text.value.decode())
        taken = self.library.batchlight_torch_masks_take(0 if is_followed_by_others(self.torch) else 1)
        if taken > 0:
            self.copies = self.torch.cuda.Event()
            self.copies.record()
        return taken >= 0

    def _stop_looking(self):
        if self.looks:
            self.looks = False
            self.library.batchlight_torch_masks_end()

    def _end(self):
        if self in _torch_progress.watchers:
            _torch_progress.watchers.remove(self)
        self._stop_looking()
        self.library.batchlight_torch_masks_take(0)  # lets go of what is held
        self.copies = None
