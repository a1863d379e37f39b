"""Runs our code right after the program has imported a module, whenever that is."""
import _thread
import sys

import _batchlight_native as _native

_actions = {}  # module name -> [(feature, action)]
_VARARGS = 4  # CO_VARARGS
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


_OUR_CODE = attempt.__code__.co_filename.rpartition("_imports")[0]


def is_of_handler(error):
    """Whether a signal's handler of the program raised it while our code ran: a time limit, a machine that is taken
    away. What catches the errors of our code must pass that on. It is a function that is a handler now, or one that
    was given the frame that it interrupts: a handler may take itself away, or the frame out of its variable."""
    handlers = _codes_of_handlers()
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        frame, inner = step.tb_frame, step.tb_next.tb_frame
        code = inner.f_code
        if code in handlers:
            return True
        if not code.co_filename.startswith(_OUR_CODE):  # ours give each other frames too
            count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & _VARARGS)
            variables = inner.f_locals
            for name in code.co_varnames[:count]:
                value = variables.get(name)
                if value is frame or type(value) is tuple and any(item is frame for item in value):
                    return True
        step = step.tb_next
    return False


def _codes_of_handlers():
    """Of those that are functions, methods or objects that are called."""
    signal, codes = sys.modules.get("_signal"), set()
    for number in range(1, getattr(signal, "NSIG", 1)):
        handler = signal.getsignal(number)
        if type(handler) is type(_finder.find_spec):
            handler = handler.__func__
        elif type(handler) is not type(attempt):
            handler = getattr(type(handler), "__call__", None)
        if type(handler) is type(attempt):
            codes.add(handler.__code__)
    return codes


def _attempt(feature, action, *arguments):
    try:
        action(*arguments)
    except Exception as error:
        if is_of_handler(error):
            raise
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


# From here on, for the globals of our frames: debuggers leave importing out by this name (bdb's skip).
__name__ = "importlib._bootstrap"
