"""Modules that ask for gradients and are given none: a frozen teacher that is called without no_grad, on images
or token ids. Nothing that learns lies before them, so no gradient need leave them.

Looked at are the calls with gradients on, outside of backward, while the window of _torch_repeats is open: those
of the model that learns, and the outermost ones of a teacher in eval mode. A module is left out that was given a
tensor that requires a gradient in any of these calls (a critic, a perceptual loss), or something that may hold
one; and one that a gradient may reach past its arguments: parameters that are computed (torch.func), hooks, and
tensors that require a gradient as plain attributes or buffers (soft prompts), its own or those of its parts.

Property model.given_no_gradient, a path a line. Whether an optimizer has the module is asked by the analysis.
"""
import collections

import _batchlight_native as _native

from . import _torch_progress
from ._imports import is_of_handler
from ._torch_unseen import is_followed_by_others, items_of, own_of, parameters_of, parts_of, unseen

MOST_LOOKS = 20000   # calls, of all modules
MOST_ITEMS = 256     # of a sequence or dict
MOST_DEPTH = 3       # of these in each other, in what a call is given
MOST_IN_ALL = 50000  # in one look, however they hold each other
MOST_PATHS = 64
SEARCHED = (1, 4, 16, 64)  # calls of one module: a search of all parts of a large model takes milliseconds

_PLAIN = (int, float, complex, bool, str, bytes, type(None), slice, range)
_PLAIN_TYPES = frozenset(_PLAIN)
_CONTAINERS = frozenset((dict, collections.OrderedDict, list, tuple, set))
_HOOKS = ("_forward_pre_hooks", "_forward_hooks")
_OWN = frozenset(("_parameters", "_modules"))


class Unbounded(Exception):
    """What a call is given holds more than anybody would look through: its module is left out."""


class Given:
    """Keeps paths alone: no module and no tensor."""

    def __init__(self, torch):
        self.torch = torch
        self.requires_grad = torch.Tensor.requires_grad.__get__  # a subclass of the program's may have its own
        self.looks_left = MOST_LOOKS
        self.items_left = 0  # of this look
        self.calls = {}     # path -> those that are given none
        self.none = set()   # paths of those that ask for gradients
        self.some = set()   # paths that are left out
        self.in_backward = _torch_progress.inside_backward(torch)

    def look(self, module, arguments, named, path):
        """Before a call. Raises nothing but what a signal's handler of the program does."""
        if path in self.some:
            return
        try:
            # A wrapper's path has its class in parentheses: what it wraps is told.
            if path and not path.endswith(")") and self.torch.is_grad_enabled() and not self.in_backward():
                self.looks_left -= 1
                unseen(self._look, module, arguments, named, path)
        except Exception as error:  # modules and arguments may do anything when they are asked
            self.some.add(path)
            if is_of_handler(error):
                raise

    def _look(self, module, arguments, named, path):
        self.items_left = MOST_IN_ALL
        if is_followed_by_others(self.torch) or self._may_lead_on((arguments, named), -1):
            self.some.add(path)
            return
        calls = self.calls[path] = self.calls.get(path, 0) + 1
        if calls in SEARCHED:
            if any(map(self._is_reached_otherwise, parts_of(module))):
                self.some.add(path)
            elif any(map(self.requires_grad, parameters_of(module))):
                self.none.add(path)

    def _is_reached_otherwise(self, part):
        own = own_of(part)
        for parameter in own["_parameters"].values():
            if parameter is not None and not (parameter.is_leaf and isinstance(parameter, self.torch.nn.Parameter)):
                return True
        if any(own.get(hooks) for hooks in _HOOKS) or "_attr_to_path" in own:  # functional_call before PyTorch 2.0
            return True
        for name, value in own.items():
            kind = type(value)
            if kind in _PLAIN_TYPES or kind in _CONTAINERS and not value or name in _OWN:
                continue
            if self._requires_gradient(value, 0):
                return True
        return False

    def _may_lead_on(self, given, depth):
        """Whether it is, or may hold, a tensor that requires a gradient."""
        torch, kind = self.torch, type(given)
        if issubclass(kind, torch.Tensor):
            return self.requires_grad(given)
        if issubclass(kind, (tuple, list, dict)):
            held = self._items(given, MOST_ITEMS + 1)
            return depth > MOST_DEPTH or len(held) > MOST_ITEMS or any(
                self._may_lead_on(item, depth + 1) for item in held)
        return not issubclass(kind, (*_PLAIN, torch.dtype, torch.device)) and kind.__module__ != "numpy"

    def _requires_gradient(self, value, depth):
        kind = type(value)
        if issubclass(kind, self.torch.Tensor):
            return self.requires_grad(value)
        return depth < MOST_DEPTH and issubclass(kind, (tuple, list, dict)) and any(
            self._requires_gradient(item, depth + 1) for item in self._items(value, MOST_ITEMS))

    def _items(self, held, most):
        items = list(items_of(held, most))
        self.items_left -= len(items)
        if self.items_left < 0:
            raise Unbounded
        return items

    def say(self):
        told = sorted(self.none - self.some, key=lambda path: (path.count("."), path))[:MOST_PATHS]
        if told:
            _native.property("model.given_no_gradient", "\n".join(sorted(told)))
