"""Profile under the profiler: makes every call of a thread a range, like the nvtx package's Profile."""
import os
import sys

import _batchlight_native as _native

from ._colors import argb

_BLUE = argb("blue")


class Profile:
    """Between enable() and disable() every Python function that this thread calls is a range of the
    domain "nvtx.py", with its file and line if `linenos`; functions of C too if `annotate_cfuncs`."""

    def __init__(self, linenos=True, annotate_cfuncs=True):
        self._linenos = linenos
        self._ends = {"return", "c_return", "c_exception"} if annotate_cfuncs else {"return"}
        self._domain = _native.domain("nvtx.py")
        self._open = 0  # ranges; functions that were running at enable() return without one

    def enable(self):
        sys.setprofile(self._on_event)

    def disable(self):
        sys.setprofile(None)
        while self._open:  # what runs on, this function included
            self._pop()

    def _on_event(self, frame, event, argument):
        if event == "call":
            code = frame.f_code
            name = code.co_name
            if self._linenos:
                name = "%s:%d(%s)" % (
                    os.path.basename(code.co_filename), code.co_firstlineno, name)
            self._push(name)
        elif event == "c_call":
            if "c_return" in self._ends:
                self._push(argument.__name__)
        elif event in self._ends and self._open:
            self._pop()

    def _push(self, name):
        self._open += 1
        _native.push(name, _BLUE, self._domain, 0, None)

    def _pop(self):
        self._open -= 1
        _native.pop(self._domain)
