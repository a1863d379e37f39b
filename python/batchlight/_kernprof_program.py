"""Runs a script under `batchlight kernprof`: python _kernprof_program.py KIND SETUP (-m | "") SCRIPT
ARGUMENT... . KIND: what the builtin `profile` does: lines (memory: with their memory), regions or calls."""
import sys

del sys.path[0]  # our folder, whose modules are not the program's

import builtins  # noqa: E402
import functools  # noqa: E402
import os  # noqa: E402
import types  # noqa: E402

import _batchlight as batchlight  # noqa: E402  the recorder, whatever the program has under our name


class _Profile:
    """The builtin `profile`: a decorator, a context, enable() and disable()."""

    def __init__(self, kind):
        self._kind = kind
        self._depth = 0

    def __call__(self, function):
        if self._kind in ("lines", "memory"):
            return batchlight.profile(function)
        if self._kind == "calls":  # all are counted
            return function

        @functools.wraps(function)
        def counted(*arguments, **named):
            with self:
                return function(*arguments, **named)
        return counted

    def enable(self):
        self._depth += 1
        if self._kind == "regions" and self._depth == 1:
            from _batchlight._bridge import _exact
            _exact.count(_exact.Wanted(calls=True, builtins=True))

    def disable(self):
        if self._kind == "regions" and self._depth == 1:
            from _batchlight._bridge import _exact
            _exact.count(_exact.Wanted())
        self._depth = max(0, self._depth - 1)

    def __enter__(self):
        self.enable()
        return self

    def __exit__(self, *_):
        self.disable()


def _leave_to_us(profile):
    """`from line_profiler import profile` gets ours, as under kernprof."""
    try:
        import line_profiler
    except ImportError:
        return
    line_profiler.profile = profile


def _leave_memory_to_us():
    """So does `from memory_profiler import profile`, which may have arguments, where memory is recorded."""
    try:
        import memory_profiler
    except ImportError:
        return

    def profile(func=None, **_):
        return batchlight.profile if func is None else batchlight.profile(func)
    memory_profiler.profile = profile


def _main(kind, setup, is_module, script, *arguments):
    # As Python does: the present folder is for modules alone. What lies in it is not the script's.
    sys.path.insert(0, "" if is_module else os.path.dirname(os.path.abspath(script)))
    profile = _Profile(kind)
    builtins.profile = profile
    if kind in ("lines", "memory"):
        _leave_to_us(profile)
    if kind == "memory":
        _leave_memory_to_us()
    sys.argv = [script] + list(arguments)
    if setup:
        _run_file(setup, "__setup__")
    if is_module:
        import runpy
        runpy.run_module(script, run_name="__main__", alter_sys=True)
        return
    _run_file(script, "__main__")


def _run_file(path, name):
    module = types.ModuleType(name)
    module.__file__ = path
    module.__builtins__ = builtins
    sys.modules[name] = module
    with open(path, "rb") as file:
        code = compile(file.read(), path if name != "__main__" else os.path.abspath(path), "exec")
    exec(code, vars(module))


if __name__ == "__main__":
    _main(*sys.argv[1:])
