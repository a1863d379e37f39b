"""nn.Module.forward under its path in the model: encoder.layers.0.linear1.

Module.__call__ is wrapped rather than hooked: global hooks make torch.compile warn and guard on
them, are not called when forward raises, and take Module's slow path. torch.compile reads
Module.__call__ when it is first imported, which is later, and so takes the wrapped one for
PyTorch's own.

Names. A module that is called from outside of any forward is named from the outermost module that
owns it (_torch_owners), called or not: `G.net.2` where a training step calls self.G(z). The first
such tree whose root has children owns the plain paths, its root named by its class. A later root
that holds the owner takes over; any other has its class before its paths. Where other models with
weights are there already (a generator and a critic, a teacher), no tree is the plain one: each has
the variable that holds it before its paths (`netD.main.2`), or its class. Where an object that is
no module (a class GAN, a trainer) holds several models as attributes, each has its attribute before
its paths (_torch_holders), and a module without children is that attribute. Wrappers
(DistributedDataParallel, FullyShardedDataParallel, torch.compile) leave no trace in the paths.
"""
import collections
import functools
import sys
import weakref

import _batchlight_native as _native

from . import _calibration, _torch_padding, _torch_repeats, _torch_updates, _torch_zeros
from ._importlib_bootstrap import module_call
from ._imports import attempt, is_of_handler
from ._torch_holders import attribute_of, variable_of
from ._torch_owners import Owners
from ._torch_unseen import contents, is_training, own_of

EVALUATION_CALL = 15  # of src/format/phases.def
_CALLER = 4  # frames from ModuleNames._give() up to who calls the module: see _rare_begin()

# Class of a wrapper -> the attribute that holds what it wraps.
_WRAPPERS = {
    "DistributedDataParallel": "module", "DataParallel": "module", "DeepSpeedEngine": "module",
    "FullyShardedDataParallel": "_fsdp_wrapped_module", "OptimizedModule": "_orig_mod",
    "CheckpointWrapper": "_checkpoint_wrapped_module",
    "OffloadWrapper": "_checkpoint_wrapped_module", "FP16_Module": "module",
}


def install(torch):
    module_class = torch.nn.Module
    owners = Owners()
    attempt("modules", owners.follow, torch.nn.modules.module)
    names = ModuleNames(owners)
    attempt("calibration", _calibration.say_module_cost, module_call)
    function, looking = module_class.__call__, [True]
    module_class.__call__ = module_call(
        function, names, evaluation_begins(torch, looking), _torch_repeats.watching, looking, torch.is_grad_enabled)
    # Under the name by which it is pickled. From PyTorch 2.0 on torch.compile looks into _call_impl.
    name = function.__name__
    if vars(module_class).get(name) is function and (name != "_call_impl" or not hasattr(torch, "compile")):
        setattr(module_class, name, module_class.__call__)
    _torch_updates.follow(names)


def evaluation_begins(torch, looking):
    """A function that begins the phase of a module's call that trains nothing: in eval mode, or
    with gradients off. True if it did. Some of the other calls are looked at for padding,
    for zeros and for repeats, until `looking` is empty."""
    begin, end, is_grad_enabled = _native.phase_begin, _native.phase_end, torch.is_grad_enabled
    passes, for_repeats = _native.modules_pass(), _torch_repeats.looking

    def look(module, args, kwargs):
        padding, zeros = _torch_padding.look_at_call(args, kwargs), _torch_zeros.look_at_call(module, args, kwargs)
        if for_repeats:
            _torch_repeats.look_at_call(module, passes[0])
        elif not padding and not zeros:
            del looking[:]

    def begins(module, args, kwargs):
        try:
            training, grad = is_training(module), is_grad_enabled()
        except Exception as error:
            if is_of_handler(error):
                raise
            return False
        if training and grad:
            if looking:
                look(module, args, kwargs)
            return False
        try:  # a signal's handler may raise as soon as begin() returns
            begin(EVALUATION_CALL, "no_grad" if training else "eval" if grad else "eval, no_grad")
            return True
        except BaseException:
            end()
            raise

    return begins


class _Given(weakref.ref):
    """To a root that has a label."""
    __slots__ = ("key", "label", "number")


class RootLabels:
    """Names of the roots of models that live: Net, Net#2. A program may have one for each of thousands of series, or
    make a new one for each. Holds none alive."""

    _FEW = 8  # numbers that are free: the lowest is given again

    def __init__(self):
        self._given = {}  # (id of a root, name) -> _Given
        self._roots = {}  # id of a root -> how many labels it has
        self._free = {}   # name -> numbers of roots that are gone
        self._highest = {}
        # Of roots that are gone, and not forgotten yet. Python of ours that ran as one goes would take an error that a
        # signal's handler raises there: nobody sees that of such a call.
        self._gone = collections.deque()

    def of(self, name, module, keeps=True):
        """The label of a root that is to be called `name`; with `keeps` nobody else gets it while the root lives."""
        self._forget_gone()
        key = id(module), name
        known = self._given.get(key)
        if known is not None and known() is module:
            return known.label
        free = self._free.get(name)
        if free:
            number = min(free) if len(free) <= self._FEW else free[-1]
        else:
            number = self._highest.get(name, 0) + 1
        label = name if number == 1 else "%s#%d" % (name, number)
        if keeps:
            if free:
                free.remove(number) if number != free[-1] else free.pop()
            else:
                self._highest[name] = number
            given = _Given(module, self._gone.append)
            given.key, given.label, given.number = key, label, number
            self._given[key] = given
            self._roots[key[0]] = self._roots.get(key[0], 0) + 1
        return label

    def _forget_gone(self):
        while True:
            try:
                given = self._gone.popleft()
            except IndexError:
                return
            if self._given.get(given.key) is given:  # else the next root has the place in memory, and its own
                del self._given[given.key]
            left = self._roots.pop(given.key[0], 1) - 1
            if left:
                self._roots[given.key[0]] = left
            self._free.setdefault(given.key[1], []).append(given.number)

    def has(self, module):
        self._forget_gone()
        return id(module) in self._roots


class ModuleNames:
    """Module -> (path, class name). Holds no module alive, and forgets those that die."""

    def __init__(self, owners):
        self.owners = owners
        self.known = {}    # id(module) -> (path, class name, weak reference)
        self.labels = RootLabels()
        self.held = RootLabels()  # of roots that are named by an attribute
        self.owner = None  # weak reference to the root with plain paths
        self.call_codes = ()  # of functions around a forward: `self` is the module

    def give(self, module):
        """The entry of a module seen for the first time. A module may do anything when it is looked
        at: one that cannot be named has its class for a name."""
        try:
            return self._give(module)
        except Exception as error:
            if is_of_handler(error):
                raise
            _native.reason("modules", "some have no path: %s: %s" % (type(error).__name__, error))
            return type(module).__name__, type(module).__name__, None

    def _give(self, module):
        parent = self._caller()
        if parent is None:
            root = self.owners.root_of(module)
            self._name_tree(root, sys._getframe(_CALLER))
            if id(module) not in self.known:  # the tree has changed since
                self._name_tree(module)
        else:  # not part of the tree: made on the fly, or kept in a plain list
            path = parent[0] + "." if "." in parent[0] or not self._is_root(parent[2]) else ""
            self._remember(module, path + _class_name(module), _class_name(module))
        return self.known[id(module)]

    def _caller(self):
        """The entry of the innermost module whose forward is running on this thread."""
        frame = sys._getframe(_CALLER + 1)
        while frame is not None:
            if any(frame.f_code is code for code in self.call_codes):
                entry = self.known.get(id(frame.f_locals.get("self")))
                if entry is not None:
                    return entry
            frame = frame.f_back
        return None

    def _is_root(self, reference):
        module = reference() if reference is not None else None
        return module is not None and self.labels.has(module)

    def _name_tree(self, root, frame=None):
        """`frame`: of the program, where the root is called."""
        inner = _unwrapped(root)
        children = [child for child in contents(inner, "_modules").values() if child is not None]
        attribute = attribute_of(frame, root, _unwrapped)
        if attribute is not None:  # of an object that holds the root and others
            label = self.held.of(attribute, inner) if children else attribute
            self._walk(root, label, label, "", set())
            return
        label = _class_name(inner)
        prefix = ""
        if children and "_is_replica" not in own_of(root):  # a copy that DataParallel made
            owner = self.owner() if self.owner is not None else None
            beside = owner is not None and not _holds(root, owner, set())
            if not beside:
                self.owner = weakref.ref(inner)
            several = beside or self.owners.has_others(root)
            if several:
                label = variable_of(frame, root, _unwrapped) or label
            label = self.labels.of(label, inner, keeps=bool(children))
            prefix = label + "." if several else ""
        elif children:
            self.labels.of(label, inner)  # a root all the same
        self._walk(root, "", label, prefix, set())

    def _walk(self, module, path, label, prefix, seen):
        if id(module) in seen:
            return
        seen.add(id(module))
        inner = _WRAPPERS.get(type(module).__name__)
        inner = contents(module, "_modules").get(inner) if inner else None
        if inner is not None:
            name = _class_name(module)
            self._remember(module, "%s (%s)" % (path, name) if path else name, name)
            self._walk(inner, path, label, prefix, seen)
            return
        self._remember(module, path or label, _class_name(module))
        start = path + "." if path else prefix
        for name, child in list(contents(module, "_modules").items()):
            if child is not None:
                self._walk(child, start + name, label, prefix, seen)

    def _remember(self, module, path, class_name):
        key, known = id(module), self.known
        old = known.get(key)
        reference = old[2] if old else weakref.ref(module, functools.partial(known.pop, key))
        known[key] = (path, class_name, reference)


def _holds(module, wanted, seen):
    if module is wanted:
        return True
    if module is None or id(module) in seen:
        return False
    seen.add(id(module))
    return any(_holds(child, wanted, seen) for child in contents(module, "_modules").values())


def _unwrapped(module):
    while True:
        inner = _WRAPPERS.get(type(module).__name__)
        inner = contents(module, "_modules").get(inner) if inner else None
        if inner is None:
            return module
        module = inner


def _class_name(module):
    name = type(module).__name__
    return str(module.original_name) if name == "RecursiveScriptModule" else name
