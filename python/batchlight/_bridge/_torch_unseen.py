"""Looking at the program's tensors and modules so that it does not notice: no operator runs, no method of the
program's classes is called, and what is looked at stays as it is.
"""
import collections
import itertools
import posix
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


class _Numbers:
    """Where a tensor's numbers lie in the CPU's memory, or an error. Tensor.numpy() is not used: once it was called
    the program can resize the tensor's storage no more (and free what it does not need so), and it runs operators."""

    def __init__(self, tensor):
        if tensor.device.type != "cpu" or tensor.is_conj() or tensor.is_neg():
            raise TypeError("numbers that are not in memory as they are")
        self.numpy = sys.modules["numpy"]  # PyTorch has imported it
        self.kind = self.numpy.dtype(_NUMBERS[str(tensor.dtype).rpartition(".")[2]])
        self.shape = tuple(tensor.shape)
        self.strides = tuple(self.kind.itemsize * stride for stride in tensor.stride())
        self.size = self.bytes = 0
        if 0 in self.shape:
            return
        self.size = int(self.numpy.prod(self.shape))
        self.bytes = self.kind.itemsize + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides))
        storage = getattr(tensor, "untyped_storage", None) or tensor._storage  # before PyTorch 2.0
        memory, before = storage(), tensor.storage_offset() * self.kind.itemsize
        if not memory.data_ptr() or before + self.bytes > memory.nbytes():  # functionalize's have none
            raise ValueError("the program has freed it")
        self.memory = memoryview(self.numpy.asarray(_Memory(tensor, {
            "version": 3, "typestr": "|u1", "shape": (self.bytes,), "data": (tensor.data_ptr(), True)})))


class _Pipe:
    """Copies memory by the kernel, to which what cannot be read is an error: the program may have mapped a file
    that became shorter, or reserved addresses that it fills later, and would die of our look."""
    CHUNK = 1 << 16
    PIECES = 256   # fewer than a call takes; those of 16 bytes fit a pipe of one page

    def __enter__(self):
        self.ends = posix.pipe2(posix.O_CLOEXEC | posix.O_NONBLOCK)
        return self

    def __exit__(self, *_):
        for end in self.ends:
            posix.close(end)

    def copy(self, memory):
        copied = bytearray()
        while len(copied) < len(memory):
            count = posix.write(self.ends[1], memory[len(copied):len(copied) + self.CHUNK])
            copied += posix.read(self.ends[0], count)
        return copied

    def gather(self, memory, places, size):
        copied = bytearray()
        for first in range(0, len(places), self.PIECES):
            some = places[first:first + self.PIECES]
            count = posix.writev(self.ends[1], [memory[place:place + size] for place in some])
            copied += posix.read(self.ends[0], count)
            if count != size * len(some):
                raise OSError("memory that cannot be read")
        return copied


def array_of(tensor, most_bytes):
    """A copy of a tensor's numbers, as NumPy's."""
    numbers = _Numbers(tensor)
    if numbers.bytes > most_bytes:
        raise ValueError("too far apart")
    if numbers.size == 0:
        return numbers.numpy.empty(numbers.shape, numbers.kind)
    with _Pipe() as pipe:
        copied = pipe.copy(numbers.memory)
    return numbers.numpy.ndarray(numbers.shape, numbers.kind, copied, 0, numbers.strides)


def some_of(tensor, most):
    """A copy of so many of a tensor's numbers, from all over it, as NumPy's."""
    numbers = _Numbers(tensor)
    numpy = numbers.numpy
    if numbers.size == 0:
        return numpy.empty(0, numbers.kind)
    # An odd step: no column of a matrix of even width.
    indices = numpy.arange(0, numbers.size, max(1, numbers.size // most) | 1)
    places = numpy.zeros(len(indices), "i8")
    if numbers.shape:
        for index, stride in zip(numpy.unravel_index(indices, numbers.shape), numbers.strides):
            places += index * stride
    with _Pipe() as pipe:
        return numpy.frombuffer(pipe.gather(numbers.memory, places.tolist(), numbers.kind.itemsize), numbers.kind)


def items_of(batch, most):
    """What a dict or sequence holds, past whatever its class makes of asking: a batch that loads its
    parts when they are asked for is left alone."""
    if isinstance(batch, collections.UserDict):  # a tokenizer's
        batch = vars(batch).get("data")
    for kind, iterate in ((dict, dict.values), (list, list.__iter__), (tuple, tuple.__iter__)):
        if isinstance(batch, kind):
            return itertools.islice(iterate(batch), most)
    return (batch,)


def own_of(module):
    """vars(module), of which no code of the program's is asked: its class may say itself what attributes are."""
    return object.__getattribute__(module, "__dict__")


def contents(module, kind):
    """Its `_modules`, `_parameters` or `_buffers`, likewise."""
    own = own_of(module)
    return own[kind] if kind in own else getattr(module, kind)


def is_training(module):
    """Likewise. Modules of torch.jit and wrappers of PyTorch's own keep it elsewhere. True where it is not known."""
    own = object.__getattribute__(module, "__dict__")  # own_of(), in every call of a model
    if "training" in own:
        return own["training"]
    if type(module).__module__.startswith("torch.") or "_actual_script_module" in own:
        return module.training
    for base in type.__dict__["__mro__"].__get__(type(module)):
        value = type.__dict__["__dict__"].__get__(base).get("training")
        if value is not None:
            return value if isinstance(value, bool) else True  # a property is code of the program's
    return True


def parts_of(module):
    """A module and all that it holds, each once: modules(), parameters() and buffers() may be its class's own."""
    seen, left = set(), [module]
    while left:
        part = left.pop()
        if part is not None and id(part) not in seen:
            seen.add(id(part))
            yield part
            left.extend(reversed(list(contents(part, "_modules").values())))


def parameters_of(module):
    return (tensor for part in parts_of(module) for tensor in contents(part, "_parameters").values() if tensor is not None)


def buffers_of(module):
    return (tensor for part in parts_of(module) for tensor in contents(part, "_buffers").values() if tensor is not None)
