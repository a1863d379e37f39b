"""Parameters that get gradients and are no optimizer's: a base model that was not frozen while adapters learn.

Property gradients.unheld: how many numbers, and the paths of their modules, the shortest under which nothing else
is, with "*" for the numbers in it: "1100048384 model.layers.*.mlp, model.embed_tokens". Looked at when an optimizer
steps for the second time, when all that learn have been made, and again at the fourth: what was updated in between
(by hand), or has lost its gradient, is left out. Nothing is said where no module's parameter is an optimizer's
(FSDP's flat ones, master copies).
"""
import weakref

import _batchlight_native as _native

from ._imports import is_of_handler
from ._torch_unseen import unseen

MOST_OPTIMIZERS = 1000
MOST_MODULES = 20_000
MOST_PATHS = 24
_FIRST, _LAST = 2, 4  # steps of an optimizer

_names = None       # ModuleNames, where modules are recorded
_made = []          # weak references to optimizers
_steps = {}         # name of a step -> steps that began
_seen = None        # id of a parameter -> its version, at the first look
_looked_by = None   # name of the step that looks


def follow(names):
    global _names
    _names = names


def made(optimizer):
    if len(_made) < MOST_OPTIMIZERS:
        _made.append(weakref.ref(optimizer))


def look(step_name):
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
            _seen = {id(p): p._version for p in unseen(_unheld)[0]}
        elif _seen:
            _say(*unseen(_unheld))
    except Exception as error:  # parameters and modules may be anything
        if is_of_handler(error):
            raise
        _steps[step_name] = _LAST


def _unheld():
    """Parameters that are unheld and have a gradient, their modules' paths, those of all other modules with
    parameters, and whether any of them is an optimizer's."""
    held = {id(p) for made_one in list(_made) for p in _parameters(made_one())}
    unheld, paths, others, any_held = {}, set(), set(), False
    for path, _, reference in list(_names.known.values())[:MOST_MODULES]:
        module = reference()
        own = [p for p in module._parameters.values() if p is not None] if module is not None else ()
        for parameter in own:
            any_held = any_held or id(parameter) in held
        loose = [p for p in own if p.is_leaf and p.requires_grad and id(p) not in held and p.grad is not None]
        if loose:
            paths.add(path)
            unheld.update((id(p), p) for p in loose)
        if len(loose) < len(own):
            others.add(path)
    return list(unheld.values()), paths, others, any_held


def _parameters(optimizer):
    return [p for group in getattr(optimizer, "param_groups", ()) for p in group["params"]]


def _say(parameters, paths, others, any_held):
    stay = [p for p in parameters if _seen.get(id(p)) == p._version]
    if not any_held or len(stay) < len(parameters) or not stay:  # a part that changes: by hand, nobody knows which
        return
    told = shortest(paths, others)
    if 0 < len(told) <= MOST_PATHS:
        _native.property("gradients.unheld", "%d %s" % (sum(p.numel() for p in stay), ", ".join(told)))


def shortest(paths, others):
    """The shortest paths at or above `paths` under which, numbers aside, none of `others` is."""
    taken = {_starred(prefix) for path in others for prefix in _prefixes(path)}
    exact = {prefix for path in others for prefix in _prefixes(path)}
    told = set()
    for path in paths:
        free = next((_starred(p) for p in _prefixes(path) if _starred(p) not in taken), None)
        told.add(free or next((p for p in _prefixes(path) if p not in exact), path))
    return sorted(told, key=lambda path: ("*" not in path, path))


def _prefixes(path):
    """a, a.b, a.b.c"""
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _starred(path):
    return ".".join("*" if part.isdigit() else part for part in path.split("."))
