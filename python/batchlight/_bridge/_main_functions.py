"""--python-functions-trace for functions of the script itself, module "__main__".

No import hook sees the script: when it runs, it is loaded already, and its functions come into being
one by one. So the lines of its outermost level are followed (sys.settrace) until those that are
wanted are defined, and no further; that is before the script's work begins. Until then each call of
a Python function costs some 0.1 us more.
"""
import sys

import _batchlight_native as _native

from ._code_lines import last_line


def watch(wanted, wrap, missing):
    """wrap(module, path) for each "function" or "Class.method" of `wanted` once it is there,
    missing(path, why) for one that will not be."""
    if sys.gettrace() is not None:
        _native.reason("functions-trace", "functions of the script cannot be traced by name while "
                       "another tool traces its lines")
        return
    script = _Script(wanted, wrap, missing)
    sys.settrace(script.find)


class _Script:
    def __init__(self, wanted, wrap, missing):
        self.wanted = list(wanted)
        self.wrap = wrap
        self.missing = missing
        self.defined_at = {}  # path -> last line of its definition

    def find(self, frame, event, argument):
        """The trace function of all frames: finds that of the script."""
        if frame.f_code.co_name != "<module>" or frame.f_globals.get("__name__") != "__main__":
            return None
        for path in self.wanted:
            line = _last_line(frame.f_code, path.split(".")[0])
            if line is None:
                self.missing(path, "the script defines no such function")
            else:
                self.defined_at[path] = line
        if not self.defined_at:
            sys.settrace(None)
            return None
        return self.follow

    def follow(self, frame, event, argument):
        """The trace function of the script's own frame."""
        line = frame.f_lineno
        for path, defined_at in list(self.defined_at.items()):
            if event != "return" and (event != "line" or line <= defined_at):
                continue
            del self.defined_at[path]
            if path.split(".")[0] in frame.f_globals:
                self.wrap(_Globals(frame.f_globals), path)
            else:
                self.missing(path, "the script went past its definition")
        if not self.defined_at:
            sys.settrace(None)
            frame.f_trace = None
            return None
        return self.follow


class _Globals:
    """The script's names as attributes."""

    def __init__(self, names):
        self.__dict__ = names


def _last_line(code, name):
    """Last line of what the code defines (also in branches) under a name; None: nothing."""
    lines = [last_line(constant) for constant in code.co_consts
             if isinstance(constant, type(code)) and constant.co_name == name]
    return max(lines) if lines else None
