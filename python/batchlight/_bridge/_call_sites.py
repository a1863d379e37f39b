"""Where the program makes its optimizer and its DataLoader, and saves, and where it sets what costs time: file
and line for the advice. And the loops that the steps of its optimizers are in, by which a critic that steps twice
in an iteration is told from one of which every second iteration has an actor's step besides.

The first of each only, once a process: a walk up the stack of a few microseconds, or a look through the text
of the modules that the program itself is made of, when a setting is read that costs time. Neither calls nor
functions of PyTorch are touched for it.
"""
import functools
import os
import stat
import sys
import types

import _batchlight_native as _native

from ._imports import attempt
from ._standard import standard

_LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep,
              os.sep + "lib" + os.sep + "python", os.sep + "batchlight" + os.sep + "_bridge" + os.sep)
# Of a class: neither its own __getattribute__ nor its metaclass's runs.
_bases_of = type.__dict__["__mro__"].__get__
_members_of = type.__dict__["__dict__"].__get__
_MOST_FILES = 200
_MOST_BYTES = 1 << 20   # of a file
_MOST_STEPPING = 16     # optimizers
_LOOKED_AT = (1, 2, 3, 8, 64)  # steps of each: training may begin with a loop of its own
_MOST_READ = 1 << 16     # bytes of a function
_MOST_ENTRIES = 10_000   # of a folder that Python looks for modules in
_PYTORCH = (os.sep + "torch" + os.sep, _LIBRARIES[-1])
_STEPPERS = (*_PYTORCH, os.sep + "accelerate" + os.sep + "optimizer.py")
_Loader = sys.modules["_frozen_importlib_external"].SourceFileLoader
_COMPREHENSIONS = ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")
_said = set()
_steps = {}  # name of an optimizer's step -> how many there were
_loops_said = {}  # name of an optimizer's step -> the loops, and the line that it is called at
_folders = ()  # that packages lie in, each with a separator behind it (say_libraries)
_loops = {}  # (code, line) -> the lines at which the loops around it begin


def say(what):
    """Property site.<what>: the line of the program from which the caller was called."""
    if what not in _said:
        _said.add(what)
        attempt("call sites", _say, what)


def say_libraries():
    """Property python.library_folders: where packages were installed into a folder that is named otherwise than
    site-packages (pip install --target), which PYTHONPATH or the program has Python look in: no code of its own."""
    global _folders
    own = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv else ""
    paths = [path.rstrip(os.sep) for path in sys.path if type(path) is str]
    found = [path for path in dict.fromkeys(paths) if path != own and os.path.isabs(path) and
             not _is_library(path + os.sep) and _holds_packages(path)]
    _folders = tuple(path + os.sep for path in found)
    if found:
        _native.property("python.library_folders", os.pathsep.join(found))


def _holds_packages(folder):
    """By pip's lists of files: a project of the user's may have the rest of such a folder, too."""
    try:
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(_MOST_ENTRIES)):
                if entry.name.endswith(".dist-info") and os.path.exists(os.path.join(entry.path, "RECORD")):
                    return True
    except OSError:
        pass
    return False


def say_function(what, holder, name):
    """The same of a function of the program's own, or of what calls one, that lies in `holder`: where it begins."""
    if what not in _said:
        attempt("call sites", _say_function, what, holder, name)


def say_set(what, *texts):
    """The same of a line that sets what costs time. Where a package calls PyTorch for the program, as a trainer does,
    the first line that holds one of the texts (say_text) comes before the one that called the package."""
    if what not in _said:
        _said.add(what)
        attempt("call sites", _say_set, what, texts)


def place():
    """The line of the program from which the caller was called: "train.py:40"; "" where there is none."""
    return _place_of(sys._getframe(1))[0]


def say_text(what, *texts):
    """The same of the first line of the program that holds one of the texts, and is more than a comment."""
    if what not in _said:
        _said.add(what)
        attempt("call sites", _say_text, what, texts)


def say_loops(step_name):
    """Property optimizer.loops.<name of its step>: the lines at which the loops begin that an optimizer steps in,
    outermost first: "train.py:40 train.py:52". Of the program's own files, and only where there are several
    optimizers. To be called in every step."""
    count = _steps.get(step_name, 0)
    if count == _LOOKED_AT[-1] or step_name not in _steps and len(_steps) >= _MOST_STEPPING:
        return
    _steps[step_name] = count
    if len(_steps) < 2:
        return
    _steps[step_name] = count = count + 1
    if count in _LOOKED_AT:
        attempt("call sites", _say_loops, step_name)


def _say_loops(step_name):
    places, line = _loops_of(sys._getframe(2))
    said, said_line = _loops_said.get(step_name, (None, line))
    if line != said_line:
        places = ""  # two steps in one pass of a loop may be in no loop of their own
    _loops_said[step_name] = places, None if line != said_line else line
    if places != (said or ""):
        _native.property("optimizer.loops." + step_name, places)


def _loops_of(frame):
    """And the line of the program; no loops where a package is in between, which may have loops too."""
    places, line, passed = [], None, False
    while frame is not None:
        code = frame.f_code
        if _is_library(code.co_filename):
            passed = passed or not any(part in code.co_filename for part in _STEPPERS)
        elif passed:
            return "", line
        else:
            line = line or (code, frame.f_lineno)
            begins = _loops_around(code, frame.f_lineno)
            places[:0] = [_at(code.co_filename, begin) for begin in begins]
        frame = frame.f_back
    return " ".join(places), line


def _loops_around(code, line):
    """Within a function, by its text: to compile that would warn a second time of what is odd in it."""
    if code.co_name in _COMPREHENSIONS:
        return (line,)
    if (code, line) not in _loops:
        first = max(code.co_firstlineno, 1) - 1
        lines = (_lines_of(code.co_filename) or [])[first:line + 1]
        _loops[code, line] = _loops_in(lines, first, line) if sum(map(len, lines)) <= _MOST_READ else ()
    return _loops[code, line]


def _loops_in(lines, before, line):
    """`lines` of the file, from the one on that the function begins at to the one behind `line`; so many are before."""
    tokenize = standard("tokenize")
    around, statement, begins = [], (0, ""), True  # statements that the present one is in; the present one
    texts = iter([text.decode("utf-8", "replace") for text in lines])
    for kind, word, (number, _), (end, _), _ in tokenize.generate_tokens(texts.__next__):
        if kind == tokenize.INDENT:
            around.append(statement)
        elif kind == tokenize.DEDENT:
            del around[-1:]
        elif kind == tokenize.NEWLINE:
            begins = True
        elif kind not in (tokenize.NL, tokenize.COMMENT):
            if begins or statement[1] == "async":
                statement = before + number, word
            begins = False
            if before + end >= line:
                break
    return [begin for begin, word in [*around, statement] if word in ("for", "while")]


def _say(what):
    _tell(what, _place_of(sys._getframe(2))[0])


def _say_set(what, texts):
    found, passed = _place_of(sys._getframe(2))
    _tell(what, passed and _place_with(texts) or found)


def _tell(what, found):
    if found:
        _native.property("site." + what, found)


def _place_of(frame):
    """And whether a package beside PyTorch is in between."""
    passed = False
    while frame is not None and _is_library(frame.f_code.co_filename):
        passed = passed or not any(part in frame.f_code.co_filename for part in _PYTORCH)
        frame = frame.f_back
    return _at(frame.f_code.co_filename, frame.f_lineno) if frame is not None else "", passed


def _at(path, line):
    return "%s:%d" % (_short(path), line)


def _say_function(what, holder, name):
    code = _code_of(object.__getattribute__(holder, "__dict__").get(name))
    if code is not None and not _is_library(code.co_filename):
        _said.add(what)
        _tell(what, _at(code.co_filename, code.co_firstlineno))


def _code_of(function):
    """Nothing of the program's own runs when it is asked."""
    if type(function) is functools.partial:
        function = function.func
    if type(function) is types.MethodType:
        function = function.__func__
    if type(function) is not types.FunctionType:
        bases = map(_members_of, _bases_of(type(function)))
        calls = [members["__call__"] for members in bases if "__call__" in members]
        function = calls[0] if calls else None
    return function.__code__ if type(function) is types.FunctionType else None


def _is_library(path):
    return path.startswith("<") or any(part in path for part in _LIBRARIES) or path.startswith(_folders)


def _short(path):
    """Relative to the working folder where it lies in there."""
    folder = os.getcwd().rstrip(os.sep) + os.sep
    return path[len(folder):] if path.startswith(folder) else path


def _say_text(what, texts):
    _tell(what, _place_with(texts))


def _place_with(texts):
    for path in _own_files():
        line = _line_with(path, texts)
        if line:
            return _at(path, line)
    return ""


def _own_files():
    """The program first."""
    modules = [sys.modules.get("__main__"), *list(sys.modules.values())]
    paths = [_file_of(vars(module)) for module in modules if type(module) is types.ModuleType]
    own = [path for path in paths if type(path) is str and path.endswith(".py") and not _is_library(path)]
    return list(dict.fromkeys(own))[:_MOST_FILES]


def _file_of(names):
    """Python takes __file__ out of a script's names when its last line has run, before functions that run at exit."""
    loader = names.get("__loader__")
    return names.get("__file__") or type(loader) is _Loader and vars(loader).get("path")


def _lines_of(path):
    """None where it is no file, or a large one."""
    try:
        info = os.stat(path)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MOST_BYTES:
            return None
        with open(path, "rb") as file:
            return file.read().splitlines(keepends=True)
    except OSError:
        return None


def _line_with(path, texts):
    for number, line in enumerate(_lines_of(path) or (), 1):
        if any(text in line.partition(b"#")[0] for text in texts):
            return number
    return 0
