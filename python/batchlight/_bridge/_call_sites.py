"""Where the program makes its optimizer and its DataLoader, and saves: file and line for the advice.

The first of each only, once a process: a walk up the stack of a few microseconds.
"""
import os
import sys

import _batchlight_native as _native

from ._imports import attempt

_LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep,
              os.sep + "lib" + os.sep + "python", os.sep + "batchlight" + os.sep + "_bridge" + os.sep)
_said = set()


def say(what):
    """Property site.<what>: the line of the program from which the caller was called."""
    if what not in _said:
        _said.add(what)
        attempt("call sites", _say, what)


def _say(what):
    frame = sys._getframe(2)
    while frame is not None and _is_library(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None:
        _native.property("site." + what, "%s:%d" % (_short(frame.f_code.co_filename), frame.f_lineno))


def _is_library(path):
    return path.startswith("<") or any(part in path for part in _LIBRARIES)


def _short(path):
    """Relative to the working folder where it lies in there."""
    folder = os.getcwd().rstrip(os.sep) + os.sep
    return path[len(folder):] if path.startswith(folder) else path
