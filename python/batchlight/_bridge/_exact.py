"""Exact counts of the program's functions (--python-trace) and lines (--lines): asks the interpreter
to call the injected library at each call and line. From Python 3.12 on through sys.monitoring, with a
tool id of our own, so that profilers, debuggers and coverage tools of the program work beside it;
before, through the thread's profile and trace functions, of which there is one each: whoever sets one
takes ours away, and the recording says so."""
import sys

import _batchlight_native as _native

from . import _imports

_TOOL_IDS = (3, 4, 5)  # 0 debugger, 1 coverage, 2 profiler: not ours to take
_OURS = {id(function) for function in vars(_native).values()}

counted = None  # Wanted
_tool = None  # our id


class Wanted:
    """What to count. `thin`: a short function is watched no further after so many calls; 0: never."""

    def __init__(self, calls=False, builtins=False, lines=(), thin=0):
        self.calls = calls
        self.builtins = builtins
        self.lines = tuple(lines)  # patterns
        self.thin = thin

    def __bool__(self):
        return bool(self.calls or self.lines)


def install(settings):
    """`settings`: the lines of the control page that begin with "python."."""
    trace = settings.get("python.trace")
    lines = settings.get("python.lines", "")
    count(Wanted(
        calls=trace in ("functions", "builtins"), builtins=trace == "builtins",
        lines=lines.split(",") if lines else (), thin=int(settings.get("python.thin", "0"))))
    if "@profile" in counted.lines:
        from . import _exact_lines
        _exact_lines.offer_profile()


def count(wanted):
    """From here on this is counted, on all threads, and nothing else."""
    global counted
    before, counted = counted, wanted
    monitoring = getattr(sys, "monitoring", None)
    if before and monitoring is None:
        _watch_threads(before, False)
    elif before:
        _stop_monitoring(monitoring)
    lines_of = None
    if wanted.lines:
        from . import _exact_lines
        lines_of = _exact_lines.Chosen(wanted.lines).lines_of
    _native.calls_options(
        wanted.calls, wanted.thin if monitoring else 0, lines_of, monitoring and monitoring.DISABLE,
        _builtin_name if wanted.builtins else None)
    if wanted and monitoring is None:
        _watch_threads(wanted, True)
    elif wanted:
        _monitor(monitoring, wanted, before is not None)


def _builtin_name(function):
    """Of a function of C, as cProfile names it."""
    if id(function) in _OURS:
        return None
    owner = getattr(function, "__self__", None)
    if owner is None:  # of a class: a descriptor
        return repr(function)
    name = function.__name__
    for parent in type(owner).__mro__:
        if name in vars(parent):
            return repr(vars(parent)[name])
    module = getattr(function, "__module__", None)
    return "<built-in method %s>" % ("%s.%s" % (module, name) if isinstance(module, str) else name)


def _watch_threads(wanted, on):
    if not on:
        _native.unwatch_thread()
    _imports.when_imported(
        "threading", "python-trace", lambda threading: _watch_new_threads(threading, wanted, on))
    if on:
        _native.watch_thread()


def _watch_new_threads(threading, wanted, on):
    set_hook = threading.setprofile if wanted.calls else threading.settrace
    if on:
        set_hook(_native.watch_new_thread)
    elif _native.watch_new_thread in (threading._profile_hook, threading._trace_hook):
        set_hook(None)


def _monitor(monitoring, wanted, again):
    global _tool
    if _tool is None:
        _tool = _take_tool_id(monitoring)
    if _tool is None:
        _native.reason("python-trace", "off: other tools have taken all ids of sys.monitoring")
        return
    events = monitoring.events
    callbacks = {
        events.PY_START: _native.call_start,
        events.PY_RESUME: _native.call_resume,
        events.PY_THROW: _native.call_throw,
        events.PY_RETURN: _native.call_return,
        events.PY_YIELD: _native.call_return,
        events.PY_UNWIND: _native.call_unwind,
    }
    if wanted.builtins:
        callbacks[events.CALL] = _native.call_builtin
        for ended in (events.C_RETURN, events.C_RAISE):  # come with CALL, and cannot be asked for
            monitoring.register_callback(_tool, ended, _native.return_builtin)
    mask = 0
    for event, callback in callbacks.items():
        monitoring.register_callback(_tool, event, callback)
        mask |= event
    if wanted.lines:
        from . import _exact_lines
        monitoring.register_callback(_tool, events.LINE, _native.call_line)
        _exact_lines.watch = lambda code: monitoring.set_local_events(_tool, code, events.LINE)
    if again:
        monitoring.restart_events()  # what was not worth watching then may be now
    monitoring.set_events(_tool, mask)


def _stop_monitoring(monitoring):
    if _tool is None:
        return
    monitoring.set_events(_tool, 0)
    from . import _exact_lines
    for code in _exact_lines.watched:
        monitoring.set_local_events(_tool, code, 0)
    _exact_lines.watched.clear()
    _native.unwatch_thread()


def _take_tool_id(monitoring):
    for tool in _TOOL_IDS:
        try:
            monitoring.use_tool_id(tool, "batchlight")
            return tool
        except ValueError:
            pass
    return None
