"""Starts the recording of Python stacks, by this process or by the tool from outside, once this
interpreter's frames prove to be where they are looked for: a stack that holds what frames can hold is
described here and walked there."""
import atexit
import sys

import _batchlight_native as _native


def install(record, publish):
    # Lines apart, a call over several of them, a generator, exec'ed code and a file name that is not ASCII.
    # (An identifier would make the parser import unicodedata, which may be a file of the program's.)
    names = {}
    source = "def examine(walk):\n\n    return [\n        1,\n        walk(),\n    ]\n"
    exec(compile(source, "<h\u00f6hle \u6d1e>", "exec"), names)
    described = names["examine"]
    if record and next(_generate(described, _native.record_stacks)):
        # Before the interpreter frees the frames of threads that outlive it.
        atexit.register(_native.stop_stacks)
    if publish:
        next(_generate(described, _native.publish_stacks))


def _generate(call, action):
    yield (lambda: call(
        lambda: _walk(action)))()[1]


def _walk(action):
    frames = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        frames += [id(code), frame.f_lineno or 0, code.co_filename,
                   getattr(code, "co_qualname", code.co_name)]
        frame = frame.f_back
    return action(*frames)
