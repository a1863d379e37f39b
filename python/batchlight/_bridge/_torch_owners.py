"""Which module holds a module: noted when it is registered, so that nothing is searched later.

PyTorch 2 has a hook for that, which costs nothing where no module is registered. PyTorch 1 has
none: there Module.__setattr__ and add_module are followed.
"""
import functools
import weakref

from ._imports import is_of_handler
from ._torch_unseen import contents

_MOST_LEVELS = 100  # of a path; more is a cycle


class Owners:
    """Module -> the first living module that it was registered with. Holds no module alive."""

    def __init__(self):
        self.of = {}  # id(module) -> (weak reference to the owner, name, weak reference to it)
        self._other = None  # weak reference to the model that has_others() found last

    def follow(self, torch_module):
        """`torch_module`: torch.nn.modules.module."""
        register = getattr(torch_module, "register_module_module_registration_hook", None)
        if register is not None:
            register(self.note)
            return
        module_class = torch_module.Module
        set_attribute, add_module, note = module_class.__setattr__, module_class.add_module, self.note

        @functools.wraps(set_attribute)
        def __setattr__(self, name, value):
            set_attribute(self, name, value)
            if isinstance(value, module_class):
                note(self, name, value)

        @functools.wraps(add_module)
        def followed_add_module(self, name, module):
            add_module(self, name, module)
            if module is not None:
                note(self, name, module)

        module_class.__setattr__ = __setattr__
        module_class.add_module = followed_add_module

    def note(self, owner, name, module):
        """As PyTorch calls a hook: what it returns would stand in for the module."""
        try:
            key, of = id(module), self.of
            known = of.get(key)
            if known is not None and known[0]() is not None:
                return
            own = known[2] if known is not None else weakref.ref(module, functools.partial(of.pop, key))
            of[key] = (weakref.ref(owner), name, own)
        except Exception as error:  # a module may be anything: it is named as if nobody owned it
            if is_of_handler(error):
                raise
            pass

    def root_of(self, module):
        """The outermost owner that still holds it; the module itself if nobody does."""
        root = module
        try:
            for _ in range(_MOST_LEVELS):
                reference, name, own = self.of.get(id(root), (None, None, None))
                owner = reference() if reference is not None and own() is root else None
                if owner is None or contents(owner, "_modules").get(name) is not root:
                    return root
                root = owner
        except Exception as error:  # an owner that is not what it seems
            if is_of_handler(error):
                raise
            pass
        return module

    def has_others(self, root):
        """Whether another model with weights lives, of which nothing is part of `root`. A block that
        was copied into `root` (nn.TransformerEncoder's) is none: its class occurs there."""
        mine = _tree(root)
        classes = {type(module) for module in mine.values() if module is not root}

        def is_other(top):
            tree = _tree(top)
            return type(top) not in classes and mine.keys().isdisjoint(tree) and any(
                weight is not None for module in tree.values() for weight in contents(module, "_parameters").values())

        known = self._other() if self._other is not None else None
        if known is not None and self.root_of(known) is known and is_other(known):
            return True
        seen = set(mine)
        for reference, _, _ in list(self.of.values()):
            owner = reference()
            top = self.root_of(owner) if owner is not None else None
            if top is None or id(top) in seen:
                continue
            seen.add(id(top))
            if is_other(top):
                self._other = weakref.ref(top)
                return True
        return False


def _tree(module):
    """id -> module, of a module and all that it holds."""
    tree, left = {}, [module]
    while left:
        module = left.pop()
        if module is not None and id(module) not in tree:
            tree[id(module)] = module
            left.extend(contents(module, "_modules").values())
    return tree
