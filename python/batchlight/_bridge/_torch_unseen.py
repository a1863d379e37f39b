"""Looking at the program's tensors and modules so that it does not notice: no operator runs, no method of the
program's classes is called, and what is looked at stays as it is.
"""
import collections
import itertools
import sys

_NUMBERS = {  # of PyTorch -> of NumPy, which has no bfloat16: its bits
    "bool": "?", "uint8": "u1", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "bfloat16": "i2",
    "float16": "f2", "float32": "f4", "float64": "f8", "complex64": "c8", "complex128": "c16"}


class Heard(Exception):
    """A mode of the program's would hear that tensors are looked at."""


def unseen(look, *arguments):
    """look(*arguments), of which no __torch_function__ of the program's hears, a mode's or a class's."""
    c = getattr(sys.modules.get("torch"), "_C", None)
    if not hasattr(c, "DisableTorchFunction"):
        return look(*arguments)
    if not hasattr(c, "DisableTorchFunctionSubclass") and getattr(c, "_len_torch_function_stack", int)():
        raise Heard  # before PyTorch 2.0 modes hear all the same
    with c.DisableTorchFunction():
        return look(*arguments)


def is_traced():
    """Whether torch.jit.trace looks on: sizes are tensors then, and to compare them is part of what is traced."""
    return getattr(getattr(sys.modules.get("torch"), "_C", None), "_get_tracing_state", bool)() not in (None, False)


def is_followed_by_others(torch):
    """A trace, a capture of a graph, a transformation or a mode that sees every operator."""
    c, functorch = torch._C, getattr(torch._C, "_functorch", None)
    if c._get_tracing_state() is not None:
        return True
    if getattr(c, "_len_torch_dispatch_stack", int)() or getattr(c, "_len_torch_function_stack", int)():
        return True
    if getattr(functorch, "peek_interpreter_stack", bool)():
        return True
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


class _Memory:
    """What NumPy asks for, and holds while it uses the memory."""

    def __init__(self, tensor, interface):
        self.tensor, self.__array_interface__ = tensor, interface


def array_of(tensor):
    """NumPy's view of a tensor's numbers on the CPU, or an error. Tensor.numpy() is not used: once it was
    called the program can resize the tensor's storage no more (and free what it does not need so), and it runs
    operators."""
    if tensor.device.type != "cpu" or tensor.is_conj() or tensor.is_neg():
        raise TypeError("numbers that are not in memory as they are")
    numpy = sys.modules["numpy"]  # PyTorch has imported it
    kind = numpy.dtype(_NUMBERS[str(tensor.dtype).rpartition(".")[2]])
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    if 0 in shape:
        return numpy.empty(shape, kind)
    last = tensor.storage_offset() + sum((size - 1) * stride for size, stride in zip(shape, strides))
    storage = getattr(tensor, "untyped_storage", None) or tensor._storage  # before PyTorch 2.0
    memory = storage()
    if not memory.data_ptr() or (last + 1) * kind.itemsize > memory.nbytes():  # functionalize's have none
        raise ValueError("the program has freed it")
    return numpy.asarray(_Memory(tensor, {
        "version": 3, "typestr": kind.str, "shape": shape, "data": (tensor.data_ptr(), True),
        "strides": tuple(kind.itemsize * stride for stride in strides)}))


def items_of(batch, most):
    """What a dict or sequence holds, past whatever its class makes of asking: a batch that loads its
    parts when they are asked for is left alone."""
    if isinstance(batch, collections.UserDict):  # a tokenizer's
        batch = vars(batch).get("data")
    for kind, iterate in ((dict, dict.values), (list, list.__iter__), (tuple, tuple.__iter__)):
        if isinstance(batch, kind):
            return itertools.islice(iterate(batch), most)
    return (batch,)


def parts_of(module):
    """A module and all that it holds, each once: modules(), parameters() and buffers() may be its class's own."""
    seen, left = set(), [module]
    while left:
        part = left.pop()
        if part is not None and id(part) not in seen:
            seen.add(id(part))
            yield part
            left.extend(reversed(list(part._modules.values())))


def parameters_of(module):
    return (tensor for part in parts_of(module) for tensor in part._parameters.values() if tensor is not None)


def buffers_of(module):
    return (tensor for part in parts_of(module) for tensor in part._buffers.values() if tensor is not None)
