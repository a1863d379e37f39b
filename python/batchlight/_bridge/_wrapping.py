"""Wrapping a function of the program so that it stays the same to everyone who calls it.

An exception passes through with our own frame taken out of its traceback (CPython 3.11 and later;
before, a traceback has one line more for each wrapped call).
"""
import functools
import sys

import _batchlight_native as _native

_MARK = "__batchlight_phase__"


def torch_is_compiling():
    """A function that says whether torch.compile or export is looking at the code, or None."""
    torch = sys.modules["torch"]
    compiler = getattr(torch, "compiler", None)
    return getattr(compiler, "is_compiling", None) or getattr(torch._utils, "is_compiling", None)


def leave_to_dynamo(function):
    """torch.compile treats a frame of this function as it treats PyTorch's own: not compiled
    itself, what it calls is."""
    dynamo = getattr(sys.modules["torch"]._C, "_dynamo", None)
    if dynamo is not None:
        dynamo.eval_frame.skip_code(function.__code__)
    return function


def without_this_frame(error):
    """Takes the frame that caught the exception out of its traceback."""
    BaseException.with_traceback(error, error.__traceback__.tb_next)


def never():
    return False


def phase(function, kind, name, skip=None):
    """The function, recorded as a phase of the training loop (numbers of phases.def).

    `name` is a string, or a function of the first argument. No phase where skip() says so.
    """
    begin, end = _native.phase_begin, _native.phase_end
    skip = skip or torch_is_compiling() or never

    if callable(name):
        @functools.wraps(function)
        def call(self, *args, **kwargs):
            if skip():
                return function(self, *args, **kwargs)
            begin(kind, name(self))
            try:
                return function(self, *args, **kwargs)
            except BaseException as error:
                without_this_frame(error)
                raise
            finally:
                end()
    else:
        @functools.wraps(function)
        def call(*args, **kwargs):
            if skip():
                return function(*args, **kwargs)
            begin(kind, name)
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                without_this_frame(error)
                raise
            finally:
                end()

    setattr(call, _MARK, True)
    return leave_to_dynamo(call)


def wrap_phase(owner, attribute, kind, name, skip=None):
    """Replaces owner.attribute by its recorded self, once; nothing if it is not there."""
    function = getattr(owner, attribute, None)
    if function is None or getattr(function, _MARK, False):
        return None
    wrapped = phase(function, kind, name, skip)
    setattr(owner, attribute, wrapped)
    return wrapped
