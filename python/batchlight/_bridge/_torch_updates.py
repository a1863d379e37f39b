"""Which modules an optimizer updates: property updates.<name of its step>, a list of paths.

A path stands for the modules below it, too: the shortest is said under which no parameter that
could learn is anybody else's. Said once for each optimizer, in a step, when the forward has named
the modules; nothing is said where its parameters are no module's (a program that keeps its own,
FSDP's flat ones).

The same of what no optimizer has (look_for_unheld): parameters that get gradients and are no optimizer's, as those of a base
model that was not frozen while adapters learn. Property gradients.unheld: how many numbers, and the paths of their
modules, the shortest under which nothing else is, with "*" for the numbers in it:
"1100048384 model.layers.*.mlp, model.embed_tokens". Looked at when an optimizer steps for the second time, when all
that learn have been made, and again at the fourth: where one was updated in between (by hand), nothing is said. That
shows in its version, but not where it goes through .data or a kernel of a package: in the CPU's memory some numbers
are compared as well, and nothing is said where an optimizer has what may be a master copy: a parameter of as many
numbers, or a flat one, that is no module's. Nor where no module's parameter is an optimizer's.
"""
import weakref

import _batchlight_native as _native

from . import _torch_settings
from ._imports import is_of_handler
from ._torch_unseen import contents, some_of, unseen

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
    """Property torch.float64_parameters: the part of all numbers that optimizers update, and what made it so. To be
    called in every step; counts in the first."""
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
        _torch_settings.say_doubles(double)


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
        for parameter in contents(module, "_parameters").values():
            if parameter is None or not parameter.requires_grad:
                continue
            (mine if id(parameter) in updated else others).add(path)
    shared = {prefix for path in others for prefix in _prefixes(path)}
    return sorted({next((p for p in _prefixes(path) if p not in shared), path) for path in mine})


def _prefixes(path):
    """a, a.b, a.b.c"""
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


_MOST_MADE = 1000
MOST_MODULES = 20_000
_MOST_UNHELD_PATHS = 24
_MOST_COMPARED = 256  # parameters
_COMPARED = 64        # numbers of each
_FIRST, _LAST = 2, 4  # steps of an optimizer

_made = []          # weak references to optimizers
_steps = {}         # name of a step -> steps that began
_seen = None        # id of a parameter -> its version at the first look, and some of its numbers
_looked_by = None   # name of the step that looks


def made(optimizer):
    if len(_made) <= _MOST_MADE:
        _made.append(weakref.ref(optimizer))


def look_for_unheld(step_name):
    """To be called when a step begins; costs a lookup from the fifth on. The first optimizer that gets so far looks."""
    global _looked_by, _seen
    if _looked_by not in (None, step_name) or _names is None or _steps.get(step_name, 0) >= _LAST:
        return
    steps = _steps[step_name] = _steps.get(step_name, 0) + 1
    if steps not in (_FIRST, _LAST):
        return
    try:
        if steps == _FIRST:
            _looked_by = step_name
            _seen = unseen(lambda: _state(_unheld()[0]))
        elif _seen:
            unseen(lambda: _say_unheld(*_unheld()))
    except Exception as error:  # parameters and modules may be anything
        if is_of_handler(error):
            raise
        _steps[step_name] = _LAST


def _unheld():
    """Parameters that are unheld and have a gradient, their modules' paths, and those of all other modules with
    parameters. No parameters where that may not be so."""
    held = {id(p): p for made_one in list(_made) for p in _parameters(made_one())}
    unheld, paths, others, known = {}, set(), set(), set()
    for path, _, reference in list(_names.known.values())[:MOST_MODULES]:
        module = reference()
        own = [p for p in contents(module, "_parameters").values() if p is not None] if module is not None else ()
        known.update(map(id, own))
        loose = [p for p in own if p.is_leaf and p.requires_grad and id(p) not in held and p.grad is not None]
        if loose:
            paths.add(path)
            unheld.update((id(p), p) for p in loose)
        if len(loose) < len(own):
            others.add(path)
    strangers = [p for key, p in held.items() if key not in known]
    if len(_made) > _MOST_MADE or len(strangers) == len(held) or _may_be_copies(strangers, unheld.values()):
        return [], paths, others
    return list(unheld.values()), paths, others


def _may_be_copies(strangers, parameters):
    sizes = {p.numel() for p in parameters}
    return any(p.numel() in sizes or p.dim() == 1 and p.numel() > min(sizes) for p in strangers) if sizes else False


def _state(parameters):
    every = len(parameters) // _MOST_COMPARED + 1
    return {id(p): (p._version, None if place % every else _numbers_of(p)) for place, p in enumerate(parameters)}


def _stays(parameter):
    version, numbers = _seen.get(id(parameter), (None, None))
    return version == parameter._version and (numbers is None or numbers == _numbers_of(parameter))


def _numbers_of(parameter):
    try:
        return some_of(parameter, _COMPARED).tobytes()
    except Exception as error:  # of a GPU, or what no memory can be read of
        if is_of_handler(error):
            raise
        return None


def _parameters(optimizer):
    return [p for group in getattr(optimizer, "param_groups", ()) for p in group["params"]]


def _say_unheld(parameters, paths, others):
    if not parameters or not all(map(_stays, parameters)):  # a part that changes: by hand, nobody knows which
        return
    told = shortest(paths, others)
    if 0 < len(told) <= _MOST_UNHELD_PATHS:
        _native.property("gradients.unheld", "%d %s" % (sum(p.numel() for p in parameters), ", ".join(told)))


def shortest(paths, others):
    """The shortest paths at or above `paths` under which, numbers aside, none of `others` is."""
    taken = {_starred(prefix) for path in others for prefix in _prefixes(path)}
    exact = {prefix for path in others for prefix in _prefixes(path)}
    told = set()
    for path in paths:
        free = next((_starred(p) for p in _prefixes(path) if _starred(p) not in taken), None)
        told.add(free or next((p for p in _prefixes(path) if p not in exact), path))
    return sorted(told, key=lambda path: ("*" not in path, path))


def _starred(path):
    return ".".join("*" if part.isdigit() else part for part in path.split("."))
