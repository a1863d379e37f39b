"""Operators where the recorder cannot be built: from PyTorch's own NVTX ranges around them.

They are those of torch.autograd.profiler.emit_nvtx: dearer, since PyTorch formats a text for each
operator, and of the thread that imported torch and its backward passes only. A PyTorch built
without CUDA has none.

PyTorch allows one profiler on a thread. The program's own goes first: while it is on, ours is off.
"""
import atexit
import os
import threading

import _batchlight_native as _native

from . import _calibration
from ._imports import attempt, when_imported


def install(torch, shapes):
    """Returns whether PyTorch writes ranges from now on."""
    ranges = _Ranges(torch, shapes)
    before = []
    attempt("calibration", lambda: before.append(_calibration.operator_time(torch)))
    try:
        ranges.start()
    except RuntimeError:  # built without CUDA
        return False
    if not shapes:  # with sizes they stay ranges, which the reader makes operators of
        _native.operators_from_ranges()
    # Most of what such an operator costs is the text that PyTorch makes for it.
    attempt("calibration", lambda: _calibration.say_operator_cost(torch, *before))
    atexit.register(ranges.finish)
    _native.watch_detail(ranges.follow_detail)
    make_way = ranges.make_way_for
    when_imported("torch.autograd.profiler", "torch_ops",
                  lambda module: make_way(module, "_enable_profiler", "_disable_profiler"))
    when_imported(
        "torch.autograd.profiler_legacy", "torch_ops",
        lambda module: make_way(module, "_enable_profiler_legacy", "_disable_profiler_legacy"))
    return True


class _Ranges:
    def __init__(self, torch, shapes):
        profiler, config = torch._C._autograd, torch._C._profiler
        # Without emit_nvtx itself: it would initialize CUDA, and tell torch.compile of a profiler.
        self.enable = lambda: profiler._enable_profiler(
            config.ProfilerConfig(config.ProfilerState.NVTX, shapes, False, False, False, False,
                                  config._ExperimentalConfig()), set())
        self.disable = profiler._disable_profiler
        self.thread, self.process = threading.get_ident(), os.getpid()
        self.on = self.left_out = False

    def start(self):
        self.enable()
        self.on = True

    def stop(self):
        self.on = False
        self.disable()

    def finish(self):
        if self.on and self.process == os.getpid() and self.thread == threading.get_ident():
            self.stop()

    def follow_detail(self, with_detail):
        """Steps without detail have no ranges either. `on` is False while the program's own
        profiler runs: then it is not ours to start."""
        if os.getpid() != self.process or threading.get_ident() != self.thread:
            return
        if not with_detail and self.on:
            self.stop()
            self.left_out = True
        elif with_detail and self.left_out:
            self.left_out = False
            self.start()

    def make_way_for(self, module, enable_name, disable_name):
        enable, disable = getattr(module, enable_name), getattr(module, disable_name)

        def enable_program(*args, **kwargs):
            if threading.get_ident() == self.thread:
                self.left_out = False  # the end of the program's starts ours
            if not self.on or threading.get_ident() != self.thread:
                return enable(*args, **kwargs)
            self.stop()
            try:
                return enable(*args, **kwargs)
            except BaseException:
                self.start()
                raise

        def disable_program(*args, **kwargs):
            try:
                return disable(*args, **kwargs)
            finally:
                if not self.on and threading.get_ident() == self.thread:
                    self.start()

        setattr(module, enable_name, enable_program)
        setattr(module, disable_name, disable_program)
