"""Exact counts of the program's functions (--python-trace) and lines (--lines): asks the interpreter
to call the injected library at each call and line. From Python 3.12 on through sys.monitoring, with a
tool id of our own, so that profilers, debuggers and coverage tools of the program work beside it;
before, through the thread's profile and trace functions, of which there is one each: whoever sets one
takes ours away, and the recording says so."""
import sys

import _batchlight_native as _native

from . import _imports

_TOOL_IDS = (3, 4, 5)  # 0 debugger, 1 coverage, 2 profiler: not ours to take


def install(settings):
    """`settings`: the lines of the control page that begin with "python."."""
    calls = settings.get("python.trace") == "functions"
    lines = settings.get("python.lines", "")
    thin = int(settings.get("python.thin", "0"))
    lines_of = None
    if lines:
        from . import _exact_lines
        lines_of = _exact_lines.Chosen(lines.split(",")).lines_of
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        _native.calls_options(calls, 0, lines_of, None)
        _imports.when_imported(
            "threading", "python-trace", lambda threading: _watch_new_threads(threading, calls))
        _native.watch_thread()
    else:
        _native.calls_options(calls, thin, lines_of, monitoring.DISABLE)
        _monitor(monitoring, bool(lines))


def _watch_new_threads(threading, calls):
    set_hook = threading.setprofile if calls else threading.settrace
    set_hook(_native.watch_new_thread)


def _monitor(monitoring, lines):
    tool = _take_tool_id(monitoring)
    if tool is None:
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
    wanted = 0
    for event, callback in callbacks.items():
        monitoring.register_callback(tool, event, callback)
        wanted |= event
    if lines:
        from . import _exact_lines
        monitoring.register_callback(tool, events.LINE, _native.call_line)
        _exact_lines.watch = lambda code: monitoring.set_local_events(tool, code, events.LINE)
    monitoring.set_events(tool, wanted)


def _take_tool_id(monitoring):
    for tool in _TOOL_IDS:
        try:
            monitoring.use_tool_id(tool, "batchlight")
            return tool
        except ValueError:
            pass
    return None
