"""Compilations of torch.compile: what is compiled, and which guard of an earlier one failed.

Properties compile.guard.0, compile.guard.1, ..., one for each compilation that is not the first of its
function: the function as the phase names it, a tab, and PyTorch's reason.
"""
import functools
import os
import sys
import threading
import types

import _batchlight_native as _native

MOST_GUARDS = 64
LONGEST_REASON = 200
_FRAMES_TO_COMPILER = 16  # from a callback of PyTorch's compiler to the function that has the code

_guards = 0  # that were told


def follow(module, phase):
    """torch._dynamo.callback; `phase` is the number of a compilation."""
    handler = getattr(module, "CompilationCallbackHandler", None)
    if handler is None or not hasattr(handler, "run_start_callbacks"):
        return
    start, end = handler.run_start_callbacks, handler.run_end_callbacks
    compiling = []  # the thread that is compiling; the callbacks are called once at a time

    @functools.wraps(start)
    def run_start_callbacks(*args, **kwargs):
        if not compiling:
            compiling.append(threading.get_ident())
            frames = _frames_of_compiler(sys._getframe(1))
            function = _compiled_function(frames)
            _native.phase_begin(phase, "torch.compile#" + function if function else "torch.compile")
            _say_guard(frames, function)
        return start(*args, **kwargs)

    @functools.wraps(end)
    def run_end_callbacks(*args, **kwargs):
        # Only the thread that began may end: phases nest by thread.
        if compiling and compiling[0] == threading.get_ident():
            del compiling[:]
            _native.phase_end()
        return end(*args, **kwargs)

    handler.run_start_callbacks = run_start_callbacks
    handler.run_end_callbacks = run_end_callbacks


def _frames_of_compiler(frame):
    """Local variables of PyTorch's functions that compile a frame; none for a backward that is compiled
    later."""
    found = []
    for _ in range(_FRAMES_TO_COMPILER):
        if frame is None:
            break
        if frame.f_code.co_name in ("compile_inner", "_compile"):
            found.append(frame.f_locals)
        frame = frame.f_back
    return found


def _compiled_function(frames):
    """"`Net.forward` (net.py:30)"; "" where no frame says."""
    for variables in frames:
        code = variables.get("code")
        if isinstance(code, types.CodeType):
            name = getattr(code, "co_qualname", code.co_name).replace(".<locals>", "")
            return "`%s` (%s:%d)" % (name, os.path.basename(code.co_filename), code.co_firstlineno)
    return ""


def _say_guard(frames, function):
    global _guards
    reason = next(filter(None, map(_reason, frames)), "")
    if function and reason and _guards < MOST_GUARDS:
        _native.property("compile.guard.%d" % _guards, "%s\t%s" % (function, reason))
        _guards += 1


def _reason(variables):
    """"tensor 'x' size mismatch at index 1. expected 37, actual 41": without the number of the compilation
    in front of it, and without the line of the program and the stack behind it. PyTorch puts what it
    compiled last in front of what it compiled before: the first reason is why that does not fit."""
    reason = variables.get("recompile_reason", variables.get("recompile_reasons"))
    if isinstance(reason, (list, tuple)):
        reason = reason[0] if reason else ""
    if not isinstance(reason, str):
        return ""
    compilation, colon, failed = reason.partition(": ")
    if colon and compilation.replace("/", "").replace("_", "").isdigit():
        reason = failed
    lines = reason.strip().splitlines()
    text = lines[0].partition("  #")[0].strip() if lines else ""
    # PyTorch says so where it has none.
    return "" if text.startswith("Unable to find") else text[:LONGEST_REASON]
