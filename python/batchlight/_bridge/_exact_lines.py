"""Which functions' lines are timed (--lines), and what their source says."""
import sys

import _batchlight_native as _native

from ._code_lines import last_line

DECORATED = "@profile"  # a pattern: the functions under @batchlight.profile
decorated = set()  # their code
watch = None  # asks for the LINE events of a code object, where that can be asked for
watched = set()  # code for which it did
_modules = {}  # of code that was met: the frame that tells it may be gone when it is asked for again


def offer_profile():
    """The builtin `profile`, as kernprof and memory_profiler have it, unless the program has one."""
    import builtins

    def profile(function):
        from .._recorded import profile as ours
        return ours(function)
    if not hasattr(builtins, "profile"):
        builtins.profile = profile


class Chosen:
    """The functions that patterns MODULE:FUNCTION name. The module is that of the running frame, or
    the path of its file; the function its qualified name. Either may hold * and ?, and nothing else
    is special; MODULE alone is all functions of the module."""

    def __init__(self, patterns):
        self._patterns = []
        for pattern in patterns:
            module, colon, function = pattern.strip().rpartition(":")
            self._patterns.append((module, function) if colon else (pattern.strip(), "*"))
        self._known = {}

    def lines_of(self, code):
        """How many lines of `code` to time, from its first line on. The code runs right now."""
        lines = self._known.get(code)
        if lines is None:
            lines = self._known[code] = self._look_at(code)
        return lines

    def _look_at(self, code):
        if not self._matches(code):
            return 0
        last = last_line(code)
        _native.source(
            code.co_filename, getattr(code, "co_qualname", code.co_name), code.co_firstlineno,
            _source(code.co_filename, code.co_firstlineno, last))
        if watch is not None:
            watch(code)
            watched.add(code)
        return last - code.co_firstlineno + 1

    def _matches(self, code):
        if code in decorated and any(module == DECORATED for module, _ in self._patterns):
            return True
        names = {code.co_name, getattr(code, "co_qualname", code.co_name)}
        module = None
        for wanted_module, wanted_function in self._patterns:
            if not any(_is_like(name, wanted_function) for name in names):
                continue
            if module is None:
                module = _module_of(code)
            if _is_like(module, wanted_module) or _is_file(code.co_filename, wanted_module):
                return True
        return False


def _module_of(code):
    frame = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    if frame is None:
        return _modules.get(code, "")
    module = _modules[code] = frame.f_globals.get("__name__", "")
    return module


def _is_file(path, wanted):
    if not wanted.endswith(".py"):
        return False
    return _is_like(path, wanted) or _is_like(path, "*/" + wanted)


def _is_like(text, pattern):
    """Whether * (any letters) and ? (any letter) can be replaced so that the two are the same."""
    at = seen = 0
    star = None  # the last * of the pattern that was met, and where in the text the rest was tried
    while at < len(text):
        if seen < len(pattern) and pattern[seen] == "*":
            star, tried = seen, at
            seen += 1
        elif seen < len(pattern) and pattern[seen] in ("?", text[at]):
            at, seen = at + 1, seen + 1
        elif star is not None:
            tried += 1
            at, seen = tried, star + 1
        else:
            return False
    return not pattern[seen:].strip("*")


def _source(path, first, last):
    try:
        if path.startswith("<"):
            linecache = sys.modules.get("linecache")  # IPython's, which knows the cells of notebooks
            return "".join(linecache.getlines(path)[first - 1:last]) if linecache else ""
        with open(path, "rb") as file:
            lines = file.read().decode("utf-8", "replace").splitlines(True)
        return "".join(lines[first - 1:last])
    except Exception:
        return ""
