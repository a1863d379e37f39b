"""Modules of Python's own, whatever files of the same names lie in the program's folder.

The program must not notice that they are used: its own `import json` may mean its own file, now or
later. So a module that it has not imported is taken out of sys.modules again, with all that came
with it, and is ours alone.
"""
import _thread
import sys

_ours = {}


def standard(name):
    """The module of Python's own of that name."""
    module = _ours.get(name)
    if module is None:
        module = _ours[name] = _find(name)
    return module


def _find(name):
    if name in sys.builtin_module_names:
        return __import__(name)
    finder = _Finder()
    module = sys.modules.get(name)
    return module if module is not None and not finder.shadows(name) else finder.load(name)


class _Finder:
    """Finds modules in Python's own folders alone, for this thread while it loads one."""

    def __init__(self):
        self._folders = [_home()] + [path for path in sys.path if path.endswith("/lib-dynload")]
        self._path_finder = sys.modules["_frozen_importlib_external"].PathFinder
        self._thread = _thread.get_ident()
        self._found = set()

    def find_spec(self, name, path=None, target=None):
        if path is not None or _thread.get_ident() != self._thread:
            return None
        if name in sys.builtin_module_names:
            return None
        spec = self._path_finder.find_spec(name, self._folders)
        if spec is not None:
            self._found.add(name)
        return spec

    def shadows(self, name):
        """Whether the module that the program has under the name is not Python's."""
        spec = getattr(sys.modules[name], "__spec__", None)
        origin = getattr(spec, "origin", None)
        if name in sys.builtin_module_names or origin == "frozen":
            return False
        ours = self._path_finder.find_spec(name, self._folders)
        return ours is not None and ours.origin != origin

    def load(self, name):
        hidden = {}
        for known in [known for known in list(sys.modules) if "." not in known]:
            if known != "__main__" and self.shadows(known):
                hidden.update(_take(known))
        sys.meta_path.insert(0, self)
        try:
            return __import__(name)
        finally:
            sys.meta_path.remove(self)
            for found in self._found:
                _take(found)
            sys.modules.update(hidden)


def _home():
    if getattr(sys, "_stdlib_dir", None):
        return sys._stdlib_dir
    return sys.modules["encodings"].__file__.rsplit("/", 2)[0]  # before Python 3.11


def _take(name):
    """Takes a module and those inside of it out of sys.modules."""
    inside = name + "."
    return {known: sys.modules.pop(known) for known in list(sys.modules)
            if known == name or known.startswith(inside)}
