"""Mixtures of experts that compute all experts for all tokens: modules of one class and size in one list,
which a call of their parent gives the same tensor each. Property model.experts, a line for each such list:
how many, how many of them the router chooses (0: not known), path of the list.

Heads of a model with several outputs look the same: only a router has a top-k (asked by the analysis).
"""
import itertools
import weakref

import _batchlight_native as _native

from ._torch_unseen import contents, own_of

FEWEST = 4
MOST_LISTS = 128
_CHOSEN = ("top_k", "topk", "k", "num_experts_per_tok", "num_experts_per_token", "moe_top_k", "num_selected",
           "num_selected_experts", "moe_topk", "router_topk", "experts_per_token")


class Siblings:
    """Modules of one list that are called in one call of their parent."""

    def __init__(self, module, size, tensor):
        self.kind, self.size, self.tensor = type(module), size, weakref.ref(tensor)
        self.numbers = set()
        self.alike = True

    def add(self, module, size, tensor, number):
        # Once each, or it is a layer that is used again.
        self.alike = (self.alike and type(module) is self.kind and size == self.size
                      and self.tensor() is tensor and number not in self.numbers)
        self.numbers.add(number)


class Experts:
    def __init__(self):
        self.found = {}  # path of the list -> how many, how many are chosen

    def called(self, lists, owner, number, module, size, tensor):
        """A module of a list: `owner` is the list's path, `size` its parameters' numbers. `lists`: of the parent's
        call, by path."""
        siblings = lists.get(owner)
        if siblings is None:
            siblings = lists[owner] = Siblings(module, size, tensor)
        siblings.add(module, size, tensor, number)

    def parent_ends(self, lists, parent):
        for path, siblings in lists.items():
            count = len(siblings.numbers)
            if siblings.alike and count >= FEWEST and len(self.found) < MOST_LISTS:
                self.found[path] = count, _chosen(parent, count)
            else:  # in this call not all were given the same
                self.found.pop(path, None)

    def say(self):
        if self.found:
            _native.property("model.experts", "\n".join(
                "%d %d %s" % (count, chosen, path) for path, (count, chosen) in self.found.items()))


def _chosen(parent, count):
    """By what the parent, a part of it (the router) or their configuration say."""
    parts = [parent, *itertools.islice(contents(parent, "_modules").values(), FEWEST)]
    for owner in parts + [own_of(part).get("config") for part in parts if part is not None]:
        for name in _CHOSEN:
            value = getattr(owner, "__dict__", {}).get(name)
            if type(value) is int and 0 < value < count:
                return value
    return 0
