"""A module of the bridge by itself, with stand-ins for the recorder and for tensors."""
import importlib
import os
import sys
import types
import unittest

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PACKAGE)


class Tensor:
    """As much of a tensor as is asked for."""
    is_sparse = learns = False

    def __init__(self, array, device="cpu"):
        self.array, self.shape, self.dtype = array, array.shape, "torch." + array.dtype.name
        self.device = types.SimpleNamespace(type=device)

    @property
    def requires_grad(self):  # a descriptor of its class, as PyTorch's
        return self.learns

    def is_floating_point(self):
        return self.array.dtype.kind == "f"

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def is_conj(self):
        return False

    is_neg = is_conj

    def stride(self):
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def storage_offset(self):
        return 0

    def untyped_storage(self):
        return types.SimpleNamespace(nbytes=lambda: self.array.nbytes, data_ptr=lambda: self.array.ctypes.data)

    def data_ptr(self):
        if self.device.type != "cpu":
            raise AssertionError("a GPU's tensor was read")
        return self.array.ctypes.data

    def numpy(self):
        raise AssertionError("the program can resize its storage no more")


class BridgeCase(unittest.TestCase):
    """self.module, imported anew for each test; self.said: the properties that it recorded, self.phases: the phases
    that began."""
    name = ""  # of the module

    def setUp(self):
        self.said, self.phases = {}, []
        native = types.ModuleType("_batchlight_native")
        native.property = self.said.__setitem__
        native.phase_begin = lambda number, name: self.phases.append((number, name))
        native.phase_end = lambda: None
        native.__getattr__ = lambda name: None
        self.forget()
        sys.modules["_batchlight_native"] = native
        self.addCleanup(self.forget)
        self.module = importlib.import_module("batchlight._bridge." + self.name)

    def forget(self):
        for name in list(sys.modules):
            if name.split(".")[0] in ("batchlight", "_batchlight_native"):
                del sys.modules[name]
