"""Settings of PyTorch that the advice looks at, and what the GPU's memory was used for.

Read when an optimizer is made and again when the program exits: a script may set them in between. The lines that
switch anomaly detection on and that make a model float64 are seen as they run.
"""
import atexit
import os

import _batchlight_native as _native

from . import _call_sites
from ._importlib_bootstrap import compared
from ._imports import attempt
from ._torch_unseen import own_of, parameters_of, unseen

_ANOMALY = (b"detect_anomaly(", b"detect_anomaly=")


def install(torch):
    global _doubles
    process = os.getpid()

    def at_exit():
        if os.getpid() == process:  # a forked worker of a DataLoader has settings of its own
            attempt("settings", record, torch)

    atexit.register(at_exit)
    attempt("settings", _follow_anomaly, torch)
    _doubles = _Doubles(torch)
    attempt("settings", _doubles.install)


def _follow_anomaly(torch):
    def after(_, __, was_on):
        if not was_on and torch.is_anomaly_enabled():
            _call_sites.say_set("anomaly", *_ANOMALY)

    for name, method in (("set_detect_anomaly", "__init__"), ("detect_anomaly", "__enter__")):
        owner = getattr(torch.autograd, name)
        setattr(owner, method, compared(getattr(owner, method), lambda _: torch.is_anomaly_enabled(), after))


class _Doubles:
    """The lines of the program that make parameters of modules float64, by how many numbers. A module goes to
    another type as a whole, so that a look at its first parameter tells whether to count."""

    MOST_LINES = 64

    def __init__(self, torch):
        self.torch, self.double = torch, torch.float64
        self.numbers = {}    # (what made them float64, line of the program) -> numbers
        self.default = None  # the line that made the default type float64, while it is that

    def install(self):
        module = self.torch.nn.Module
        for name in ("double", "to", "type"):
            setattr(module, name, compared(
                getattr(module, name), self.type_before, self.moved("Module." + name)))
        for name in ("set_default_dtype", "set_default_tensor_type"):
            setattr(self.torch, name, compared(getattr(self.torch, name), lambda _: None, self.default_changed))
        module.register_parameter = compared(module.register_parameter, self.was_double, self.registered)

    def type_before(self, arguments):
        kind = []
        attempt("settings", lambda: kind.append(self._type_of(arguments[0])))
        return kind and kind[0]

    def _type_of(self, module):
        kinds = (p.dtype for p in parameters_of(module) if p.dtype.is_floating_point)
        return unseen(next, kinds, None)

    def moved(self, name):
        def count(arguments, before):
            module, double = arguments[0], self.double
            if before and before is not double and self._type_of(module) is double:
                self._add(name, _call_sites.place(), unseen(
                    lambda: sum(p.numel() for p in parameters_of(module) if p.dtype is double)))

        return lambda arguments, _, before: attempt("settings", count, arguments, before)

    def default_changed(self, *_):
        attempt("settings", self._default_changed)

    def _default_changed(self):
        is_double = self.torch.get_default_dtype() is self.double
        self.default = _call_sites.place() if is_double else None

    def was_double(self, arguments):
        """Whether the name stands for float64 numbers already: FSDP and load_state_dict(assign=True) give it others."""
        said = []
        attempt("settings", lambda: said.append(self._was_double(*arguments)))
        return bool(said) and said[0]

    def _was_double(self, module, name="", param=None):
        if param is None or unseen(lambda: param.dtype) is not self.double:
            return False
        known = own_of(module)["_parameters"].get(name)
        return known is not None and unseen(lambda: known.dtype) is self.double

    def registered(self, arguments, named, was_double):
        if not was_double:
            attempt("settings", lambda: self._registered(*arguments, **named))

    def _registered(self, module, name, param):
        if param is None or unseen(lambda: param.dtype) is not self.double:
            return
        by_default = self.torch.get_default_dtype() is self.double
        how = ("set_default_dtype", self.default or "") if by_default else ("parameters", _call_sites.place())
        self._add(*how, unseen(lambda: param.numel()))

    def _add(self, how, place, count):
        where = how, place
        if where in self.numbers or len(self.numbers) < self.MOST_LINES:
            self.numbers[where] = self.numbers.get(where, 0) + count

    def say(self, updated):
        """Of so many float64 numbers that optimizers update."""
        (how, place), count = max(self.numbers.items(), key=lambda item: item[1], default=(("", ""), 0))
        if place and count * 2 >= updated:
            _native.property("torch.float64_by", how)
            _native.property("site.float64", place)


_doubles = None


def say_doubles(updated):
    if _doubles is not None:
        attempt("settings", _doubles.say, updated)


_said = {}  # key -> the value that the recording has; a script may make many optimizers


def record(torch):
    def add(key, value):
        if _said.get(key) != value:
            _said[key] = value
            _native.property(key, value)

    add("torch.threads", str(torch.get_num_threads()))
    if torch.get_num_threads() > len(os.sched_getaffinity(0)):
        _call_sites.say_text("threads", b"set_num_threads(", b"OMP_NUM_THREADS")
    add("torch.anomaly_detection", str(torch.is_anomaly_enabled()))
    if torch.is_anomaly_enabled():
        _call_sites.say_text("anomaly", *_ANOMALY)  # set in a way that _follow_anomaly() does not see
    add("torch.deterministic", str(torch.are_deterministic_algorithms_enabled()))
    add("torch.float32_matmul_precision", torch.get_float32_matmul_precision())
    add("torch.cudnn_benchmark", str(torch.backends.cudnn.benchmark))
    job = getattr(torch, "distributed", None)
    in_job = job is not None and job.is_available() and job.is_initialized()
    if in_job:  # a process that was spawned has no RANK in its environment when it starts
        add("torch.distributed_backend", str(job.get_backend()))
        add("torch.distributed_rank", str(job.get_rank()))
        add("torch.distributed_world_size", str(job.get_world_size()))
    if not torch.cuda.is_initialized():
        return
    add("torch.cudnn_version", str(torch.backends.cudnn.version()))
    add("torch.peak_memory_bytes", str(torch.cuda.max_memory_allocated()))
    add("torch.peak_reserved_bytes", str(torch.cuda.max_memory_reserved()))
    add("torch.gpu_memory_bytes", str(torch.cuda.get_device_properties(
        torch.cuda.current_device()).total_memory))
    add("torch.allocator_retries", str(torch.cuda.memory_stats().get("num_alloc_retries", 0)))
    if in_job:
        add("torch.nccl_version", ".".join(str(part) for part in torch.cuda.nccl.version()))
