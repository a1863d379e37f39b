"""Loads the operator recorder (torch_ops.cpp), which is built against the program's PyTorch.

Without a C++ compiler or PyTorch's headers operators come from PyTorch's NVTX ranges, if it has
them (_torch_emit_nvtx.py); modules and phases are recorded as ever.
"""
import _batchlight_native as _native

from . import _calibration, _torch_library
from ._imports import attempt
from ._standard import standard


def install(torch, shapes, nvtx):
    try:
        path = _torch_library.built(torch, "torch_ops.cpp", "operator recorder")
        ctypes = standard("ctypes")
        before = []
        attempt("calibration", lambda: before.append(_calibration.operator_time(torch)))
        failed = ctypes.CDLL(path).batchlight_torch_ops_start(1 if shapes else 0)
        if failed:
            raise _torch_library.CannotBuild("the operator recorder found no recording to write to")
        attempt("calibration", lambda: _calibration.say_operator_cost(torch, *before))
    except (_torch_library.CannotBuild, OSError) as error:
        from . import _torch_emit_nvtx
        if nvtx and _torch_emit_nvtx.install(torch, shapes):
            text = ("operators come from PyTorch's NVTX ranges, of the main thread and its backward "
                    "only, at more cost: %s" % error)
        else:
            text = "operators are not recorded, modules and phases are: %s" % error
        _native.reason("torch_ops", text)
        _torch_library.say(text)
