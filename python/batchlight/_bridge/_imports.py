"""Runs our code right after the program has imported a module, whenever that is."""
import _thread
import sys

import _batchlight_native as _native

_actions = {}  # module name -> [(feature, action)]
foreign = False  # another Python than the one that the package is installed into
_running = []  # of the attempts that are under way: sys.dont_write_bytecode as it was
_lock = _thread.allocate_lock()


def attempt(feature, action, *arguments):
    """Calls the action; if that fails, the recording says that the feature is off, and why."""
    if not foreign:
        _attempt(feature, action, *arguments)
        return
    with _lock:
        _running.append(_running[-1] if _running else sys.dont_write_bytecode)
        sys.dont_write_bytecode = True
    try:
        _attempt(feature, action, *arguments)  # imports more of us
    finally:
        with _lock:
            before = _running.pop()
            if not _running:
                sys.dont_write_bytecode = before


def _attempt(feature, action, *arguments):
    try:
        action(*arguments)
    except Exception as error:
        _native.reason(feature, "off: %s: %s" % (type(error).__name__, error))


def when_imported(name, feature, action):
    """action(module) now if the program has imported the module, else once it has."""
    module = sys.modules.get(name)
    # A module that is being imported is already there, but half empty.
    spec = getattr(module, "__spec__", None)
    if module is not None and not getattr(spec, "_initializing", False):
        attempt(feature, action, module)
        return
    _actions.setdefault(name, []).append((feature, action))
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


class _Finder:
    """First of the finders. Finds nothing itself: it lets the others find the modules that we wait
    for, and has their loader call us when it has run the module."""

    def find_spec(self, name, path=None, target=None):
        if name not in _actions:
            return None
        spec = found_after(self, name, path, target)
        if spec is not None and spec.loader is not None:
            _watch(spec.loader, name)
        return spec


def found_after(finder, name, path, target):
    """What the finders behind this one find; those before it were asked and know nothing."""
    finders = list(sys.meta_path)
    if finder in finders:
        del finders[:finders.index(finder) + 1]
    for other in finders:
        find = getattr(other, "find_spec", None)
        spec = find(name, path, target) if find is not None else None
        if spec is not None:
            return spec
    return None


_finder = _Finder()


def _watch(loader, name):
    run = getattr(loader, "exec_module", None)
    if run is None:
        return

    # On the instance, so that the module keeps a loader of the type it expects.
    def exec_module(module):
        if module.__spec__.name == name:
            try:
                del loader.exec_module
            except AttributeError:
                pass
        run(module)
        if module.__spec__.name == name:
            for feature, action in _actions.pop(name, ()):
                attempt(feature, action, sys.modules.get(name, module))

    try:
        loader.exec_module = exec_module
    except AttributeError:
        _native.reason("python", "module %s is loaded in a way that cannot be watched" % name)
