"""Which modules an optimizer updates: property updates.<name of its step>, a list of paths.

A path stands for the modules below it, too: the shortest is said under which no parameter that
could learn is anybody else's. Said once for each optimizer, in a step, when the forward has named
the modules; nothing is said where its parameters are no module's (a program that keeps its own,
FSDP's flat ones).
"""
import _batchlight_native as _native

from ._imports import is_of_handler
from ._torch_unseen import unseen

MOST_OPTIMIZERS = 16
MOST_PARAMETERS = 10_000  # of an optimizer: more are not counted
MOST_PATHS = 64
_TRIES = 3  # the first step of an optimizer that calls a closure comes before any forward

_PLAIN = (bool, float, int, str, type(None))
_NO_OPTIONS = ("params", "param_names", "name")

_names = None  # ModuleNames, where modules are recorded
_tries = {}    # name of a step -> tries that are left


def follow(names):
    global _names
    _names = names


_numbers = {}  # name of a step -> numbers that it updates: all, those of 64 bits


def say_precision(optimizer, step_name):
    """Property torch.float64_parameters: the part of all numbers that optimizers update. To be called
    in every step; counts in the first."""
    if step_name in _numbers or len(_numbers) >= MOST_OPTIMIZERS:
        return
    _numbers[step_name] = (0, 0)
    try:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        if len(parameters) > MOST_PARAMETERS:
            return
        counts = unseen(lambda: [(p.numel(), str(p.dtype) == "torch.float64") for p in parameters])
        _numbers[step_name] = (sum(count for count, _ in counts),
                               sum(count for count, is_double in counts if is_double))
        # A list first: without a GIL another thread may add its optimizer meanwhile.
        updated, double = map(sum, zip(*list(_numbers.values())))
    except Exception as error:  # parameters may be anything
        if is_of_handler(error):
            raise
        return
    if double:
        _native.property("torch.float64_parameters", "%.4f" % (double / updated))


_grouped = set()  # names of steps whose groups were counted


def say_groups(optimizer, step_name):
    """Property optimizer.groups.<name of its step>, where it has several groups of parameters: how many, and how many
    different options they have: "161 2". To be called in every step; counts in the first."""
    if step_name in _grouped or len(_grouped) >= MOST_OPTIMIZERS:
        return
    _grouped.add(step_name)
    try:
        groups = optimizer.param_groups
        different = unseen(lambda: len(set(map(_options, groups)))) if len(groups) > 1 else 0
    except Exception as error:  # options may be anything
        if is_of_handler(error):
            raise
        return
    if different:
        _native.property("optimizer.groups." + step_name, "%d %d" % (len(groups), different))


def _options(group):
    return tuple((key, group[key] if _is_plain(group[key]) else id(group[key]))
                 for key in sorted(group) if key not in _NO_OPTIONS)


def _is_plain(value):
    return type(value) in _PLAIN or type(value) is tuple and all(type(item) in _PLAIN for item in value)


def say(optimizer, step_name):
    """To be called in every step; costs a lookup from the second or third on."""
    left = _tries.get(step_name, _TRIES)
    if not left or _names is None:
        return
    if step_name not in _tries and len(_tries) >= MOST_OPTIMIZERS:
        return
    _tries[step_name] = left - 1
    try:
        paths = unseen(_paths, optimizer)
    except Exception as error:  # parameters and modules may be anything
        if is_of_handler(error):
            raise
        paths = ()
    if paths:
        _tries[step_name] = 0
        if len(paths) <= MOST_PATHS:
            _native.property("updates." + step_name, ", ".join(paths))


def _paths(optimizer):
    updated = {id(p) for group in optimizer.param_groups for p in group["params"]}
    mine, others = set(), set()
    for path, _, reference in list(_names.known.values()):
        module = reference()
        if module is None:
            continue
        for parameter in module._parameters.values():
            if parameter is None or not parameter.requires_grad:
                continue
            (mine if id(parameter) in updated else others).add(path)
    shared = {prefix for path in others for prefix in _prefixes(path)}
    return sorted({next((p for p in _prefixes(path) if p not in shared), path) for path in mine})


def _prefixes(path):
    """a, a.b, a.b.c"""
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
