"""Loads the recorder of PyTorch's caching allocator of GPU memory (torch_memory.cpp), which is built
against the program's PyTorch, and starts it once CUDA is initialized: each GPU's allocator exists
only then.
"""
import os

import _batchlight_native as _native

from . import _torch_library
from ._imports import attempt
from ._standard import standard

_FEATURE = "gpu-memory"
_HEADER = "cuda_runtime_api.h"
_OWN_HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuda_headers")  # not there later


def install(torch):
    if not torch.version.cuda:
        return
    try:
        path = _torch_library.built(
            torch, "torch_memory.cpp", "recorder of GPU memory", ("libc10.so", "libc10_cuda.so"),
            (_cuda_headers(torch), _OWN_HEADERS))
    except (_torch_library.CannotBuild, OSError) as error:
        text = "what PyTorch's allocator does is not recorded: %s" % error
        _native.reason(_FEATURE, text)
        _torch_library.say(text)
        return
    torch.cuda._lazy_call(lambda: attempt(_FEATURE, _start, path))


def _start(path):
    ctypes = standard("ctypes")
    start = ctypes.CDLL(path).batchlight_torch_memory_start
    start.restype = ctypes.c_char_p
    why = start()
    if why:
        _native.reason(_FEATURE, "what PyTorch's allocator does is not recorded: %s" % why.decode())


def _cuda_headers(torch):
    """The folder with CUDA's headers: those of the packages that PyTorch's wheels need, or of a
    toolkit."""
    packages = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__))), "nvidia")
    folders = [os.path.join(packages, "cuda_runtime", "include")]
    if os.path.isdir(packages):
        folders += [os.path.join(packages, name, "include") for name in sorted(os.listdir(packages))
                    if name.startswith("cu")]
    folders += [os.path.join(home, "include") for home in (
        os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda") if home]
    folders.append("/usr/include")
    for folder in folders:
        if os.path.exists(os.path.join(folder, _HEADER)):
            return folder
    raise _torch_library.CannotBuild(
        "CUDA's headers are not here (pip install nvidia-cuda-runtime-cu%s, or set CUDA_HOME)"
        % torch.version.cuda.split(".")[0])
